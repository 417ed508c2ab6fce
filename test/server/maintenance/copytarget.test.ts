import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { completeCopy, copyDatabase } from '../../../src/server/maintenance/copy/database.ts';
import { openTarget } from '../../../src/server/maintenance/copy/target.ts';
import { openDataLocation } from '../../../src/server/maintenance/datalocation.ts';
import { openSqliteSnapshot, removeDatabase } from '../../../src/server/maintenance/snapshot.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/store.ts';
import { need } from '../../support/capabilities.ts';
import { openBelow } from '../../support/descriptors.ts';
import { copied, filesIn, inDatabase, sharedPractice, stoppingAt, WORK } from './practices.ts';

const practice = sharedPractice();

describe('a copy is refused, and nothing is copied, of a source', () => {
  it.each([
    [
      'of another version',
      'DELETE FROM schema_migrations WHERE version > 5',
      /^The source has schema 5, the target has \d+\.$/,
    ],
    [
      'of another molar',
      "UPDATE schema_state SET value = 'other' WHERE name = 'fingerprint'",
      'The source is of another version of molar than the target.',
    ],
    [
      'with a table more',
      'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)',
      'The tables of the source are not those of the target.',
    ],
    [
      'with a column more',
      'ALTER TABLE document_tags ADD COLUMN note TEXT',
      'The tables of the source are not those of the target.',
    ],
  ])('%s', async (_name, change, message) => {
    const data = await copied(practice.base, practice.fresh());
    inDatabase(data, (connection) => connection.exec(change));
    const folder = practice.fresh();
    await mkdir(folder);
    const store = await openSqliteStore(folder, { serving: false });
    const source = await openSqliteSnapshot(data);
    const told: string[] = [];
    const work = { ...WORK, progress: (what: string) => void told.push(what) };
    await expect(copyDatabase(source, { store, dialect: 'sqlite', name: 'the target' }, work)).rejects.toThrow(message);
    expect(told).toEqual([]);
    await source.close();
    await store.close();
  });
});

describe('a folder that a copy is made in', () => {
  /** Copies into a folder; tells what was copied, and ends as the work says. */
  async function copyInto(data: string, work = WORK): Promise<string[]> {
    const told: string[] = [];
    const progress = (what: string, count: number) => {
      if (what.startsWith('Copying')) told.push(what);
      work.progress(what, count);
    };
    const source = await openSqliteSnapshot(practice.base);
    const opened = await openTarget({ data });
    const target = await opened.store();
    try {
      await copyDatabase(source, target, { ...work, progress });
      await completeCopy(target);
      return told;
    } finally {
      await target.store.close();
      await opened.close();
      await source.close();
    }
  }

  it('has what an interrupted one has copied, which is not copied again; one that was complete is begun again', async () => {
    const data = practice.fresh();
    await expect(copyInto(data, stoppingAt('Comparing'))).rejects.toThrow('Stopped here.');
    expect(await copyInto(data)).toEqual([]);
    expect(await copyInto(data)).toContain('Copying patients');
  });

  it('is let go of where its files cannot be opened', async () => {
    const data = practice.fresh();
    await expect(openTarget({ data, files: 'ftp://files' })).rejects.toThrow('cannot be used for files');
    await (await openTarget({ data })).close();
  });

  it('has neither the database of before in it, nor any of its journals', async () => {
    const data = await copied(practice.base, practice.fresh());
    for (const end of ['-wal', '-shm', '-journal'])
      await copied(join(data, 'molar.sqlite'), join(data, `molar.sqlite${end}`));
    const before = await filesIn(data);
    await removeDatabase(data);
    expect(await filesIn(data)).toEqual(before.filter((name) => !name.includes('molar.sqlite')));
  });
});

it('a place whose files cannot be opened is not kept open', async (context) => {
  need(context, 'proc');
  const data = await copied(practice.base, practice.fresh());
  await expect(openDataLocation({ data, files: 'ftp://files' })).rejects.toThrow('cannot be used for files');
  expect(openBelow(data)).toEqual([]);
});
