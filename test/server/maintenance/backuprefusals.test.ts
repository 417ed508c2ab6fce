import { chmod, chown, mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backUp } from '../../../src/server/maintenance/backup/backup.ts';
import { writeDatabaseCopy } from '../../../src/server/maintenance/backup/databasecopy.ts';
import { openSqliteSnapshot } from '../../../src/server/maintenance/snapshot.ts';
import { need } from '../../support/capabilities.ts';
import { openBelow } from '../../support/descriptors.ts';
import { otherUser } from '../../support/services.ts';
import { check, copied, inDatabase, linesOf, sharedPractice, spoil, WORK } from './practices.ts';

const practice = sharedPractice();
const OPTIONS = { ...WORK, version: '1.2.3' };

describe('a backup is refused', () => {
  it('where the copy has not as many rows as the state', async () => {
    const snapshot = await openSqliteSnapshot(practice.base);
    const read = {
      ...snapshot.read,
      // What the source says of one of its tables.
      get: async <T extends object>(statement: Parameters<typeof snapshot.read.get>[0]) =>
        statement.sql === 'SELECT COUNT(*) AS rows FROM document_tags'
          ? ({ rows: 99 } as T)
          : snapshot.read.get<T>(statement),
    };
    const target = practice.fresh();
    await mkdir(target);
    await expect(writeDatabaseCopy({ ...snapshot, read }, target, WORK)).rejects.toThrow(
      /^The copy of the database is not what was copied: document_tags has \d+ rows, not 99\.$/,
    );
    await writeDatabaseCopy(snapshot, target, WORK);
    await snapshot.close();
  });

  it('of a damaged database', async () => {
    const source = await copied(practice.base, practice.fresh());
    await spoil(source, 'patients');
    const target = practice.fresh();
    await expect(backUp({ data: source }, target, OPTIONS)).rejects.toMatchObject({
      name: 'StoreUnusable',
      message: expect.stringContaining('damaged'),
    });
    await expect(stat(target)).rejects.toThrow('ENOENT');
  });

  it('of a database of an earlier molar whose pages do not agree, though all rows can be counted', async () => {
    const source = await copied(practice.base, practice.fresh());
    inDatabase(source, (connection) => connection.exec('DELETE FROM schema_migrations WHERE version > 3'));
    await spoil(source, 'events_by_start');
    const target = practice.fresh();
    await expect(backUp({ data: source }, target, OPTIONS)).rejects.toThrow(
      'The copy of the database is damaged: its pages do not agree with each other.',
    );
    await expect(stat(target)).rejects.toThrow('ENOENT');
  });

  it('while an import is published in part', async () => {
    const source = await copied(practice.base, practice.fresh());
    inDatabase(source, (connection) =>
      connection.exec("INSERT INTO imports (name, plan, progress, position) VALUES ('x', '{}', '{}', '')"),
    );
    const target = practice.fresh();
    const refused = `${source} has an import that is published in part.`;
    await expect(backUp({ data: source }, target, OPTIONS)).rejects.toThrow(refused);
    await expect(stat(target)).rejects.toThrow('ENOENT');
    inDatabase(source, (connection) => connection.exec('DELETE FROM imports'));
    expect(await backUp({ data: source }, target, OPTIONS)).toMatchObject({ problems: [] });
  });

  it('when documents are deleted in each state before their files are copied', async (context) => {
    need(context, 'proc');
    const source = await copied(practice.base, practice.fresh());
    const target = practice.fresh();
    let times = 0;
    // Each look finds a document without a file, and when it is done there is another one instead.
    const renamed = `UPDATE documents SET guid = ? WHERE id = (SELECT MAX(id) FROM documents WHERE org = 1) AND org = 1`;
    const progress = (what: string) => {
      if (what === 'Copying files')
        inDatabase(source, (connection) => connection.prepare(renamed).run(`00-${++times}`));
    };
    await expect(backUp({ data: source }, target, { ...OPTIONS, progress })).rejects.toThrow(
      'Documents were deleted faster than their files could be copied.',
    );
    await expect(stat(target)).rejects.toThrow('ENOENT');
    expect(openBelow(source)).toEqual([]);
    const { problems } = await backUp({ data: source }, target, OPTIONS);
    expect(problems).toContain(`00-${times}-original is missing`);
  });

  it('where something is already', async () => {
    const target = practice.fresh();
    await mkdir(target);
    await writeFile(join(target, 'mine'), 'x');
    await expect(backUp({ data: practice.base }, target, OPTIONS)).rejects.toThrow(
      `${target} is there already, and not empty.`,
    );
    await expect(backUp({ data: practice.base }, join(target, 'mine'), OPTIONS)).rejects.toThrow('is there already.');
    expect(await readdir(target)).toEqual(['mine']);
  });

  it('where a folder of somebody else has the name that it needs', async () => {
    const target = practice.fresh();
    await mkdir(`${target}.part`);
    await writeFile(join(`${target}.part`, 'mine'), 'x');
    await expect(backUp({ data: practice.base }, target, OPTIONS)).rejects.toThrow(
      'is in the way: molar did not make it.',
    );
    expect(await readdir(`${target}.part`)).toEqual(['mine']);
  });

  it('where a link leads elsewhere, or the folder of an interrupted one belongs to another user', async () => {
    const target = practice.fresh();
    await mkdir(`${target}.elsewhere`);
    await symlink(`${target}.elsewhere`, `${target}.part`);
    await expect(backUp({ data: practice.base }, target, OPTIONS)).rejects.toThrow(
      'is in the way: molar did not make it.',
    );
    expect(await readdir(`${target}.elsewhere`)).toEqual([]);
    const other = otherUser();
    if (other === undefined) return;
    await rm(`${target}.part`);
    await mkdir(`${target}.part`);
    await writeFile(join(`${target}.part`, 'unfinished.lock'), '');
    await chown(`${target}.part`, other, other);
    await expect(backUp({ data: practice.base }, target, OPTIONS)).rejects.toThrow(
      'is in the way: molar did not make it.',
    );
    expect(await readdir(`${target}.part`)).toEqual(['unfinished.lock']);
  });

  it('while another one is written to the same place', async () => {
    const target = practice.fresh();
    const both = await Promise.allSettled([
      backUp({ data: practice.base }, target, OPTIONS),
      backUp({ data: practice.base }, target, OPTIONS),
    ]);
    const refused = both.filter((each) => each.status === 'rejected').map((each) => String(each.reason));
    expect(refused).toEqual([expect.stringContaining('Another molar is writing to')]);
    expect(linesOf(await check({ data: target }))).toEqual([]);
  });

  it('of a folder without a database', async () => {
    const empty = practice.fresh();
    await mkdir(empty);
    await chmod(empty, 0o700);
    await expect(backUp({ data: empty }, practice.fresh(), OPTIONS)).rejects.toThrow('There is no database');
    expect(await readdir(empty)).toEqual([]);
  });
});
