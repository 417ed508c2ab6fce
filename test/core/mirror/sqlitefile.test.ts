import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { lockOwner } from '../../../src/cli/process/lockowner.ts';
import MirrorStatus from '../../../src/commands/mirror/status.ts';
import { lockStatus, readFrom, readMirror } from '../../../src/core/mirror/access.ts';
import { readDescription } from '../../../src/core/mirror/sql/reading.ts';
import { SqliteDatabase } from '../../../src/core/mirror/sqlite/database.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import { jsonFailure, runCommand } from '../../cli/runcommand.ts';
import { mirrorFolder } from './mirroring.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  ({ folder, file } = await mirrorFolder());
});

const env = { MOLAR_CONFIG_DIR: '/nonexistent' };
const status = () => runCommand('mirror:status', MirrorStatus, ['--to', file, '--json'], { env });

/** Makes the file a database, by statements of its own. */
function made(sql: string): void {
  const connection = openConnection(file);
  connection.exec(sql);
  connection.close();
}

describe('the file of a mirror', () => {
  it.each([
    ['empty', () => writeFile(file, '')],
    ['without tables', () => made('PRAGMA user_version = 0; VACUUM')],
    ['without facts', async () => (await markedFile()).close()],
  ])('of which a sync was killed at once is none, and no failure: %s', async (_, make) => {
    await make();
    const mirror = { kind: 'file', name: file } as const;
    expect([await readMirror(mirror), await readFrom(mirror, readDescription)]).toEqual([undefined, undefined]);
    expect(jsonFailure(await status())).toMatchObject({ exitCode: 4, code: 'mirror.missing' });
  });

  it('is one of a newer molar where its form is newer', async () => {
    const database = await markedFile();
    await database.script('PRAGMA user_version = 2');
    await database.close();
    expect(jsonFailure(await status())).toMatchObject({
      exitCode: 9,
      message: `${file} is a mirror of a newer version of molar.`,
    });
  });
});

/** A mirror with its state, of which nothing is known yet. */
async function markedFile(): Promise<SqliteDatabase> {
  const database = await SqliteDatabase.open(file);
  await database.mark();
  await database.script('CREATE TABLE _facts (name TEXT PRIMARY KEY, value TEXT)');
  return database;
}

describe('a transaction of the file', () => {
  it('that the database has ended itself tells what went wrong', async () => {
    const database = await SqliteDatabase.open(file);
    try {
      const failing = database.transaction(async () => {
        // As SQLite does where the disk is full.
        await database.script('ROLLBACK');
        throw new Error('the disk is full');
      });
      await expect(failing).rejects.toThrow('the disk is full');
      expect(await database.transaction(async () => 'works again')).toBe('works again');
    } finally {
      await database.close();
    }
  });

  it('that the database refuses is told with the file', async () => {
    const database = await SqliteDatabase.open(file);
    try {
      await database.script('CREATE TABLE ids (id INTEGER PRIMARY KEY); INSERT INTO ids VALUES (1)');
      await expect(database.script('INSERT INTO ids VALUES (1)')).rejects.toMatchObject({
        exitCode: 9,
        message: expect.stringContaining(`Cannot use ${file}: UNIQUE`),
      });
    } finally {
      await database.close();
    }
  });
});

it('a folder that cannot hold a database is told with what to do', async () => {
  await expect(SqliteDatabase.open(join(folder, 'missing', 'practice.db'))).rejects.toMatchObject({
    exitCode: 9,
    hint: 'Check the folder and its permissions.',
  });
});

it('a lock of a molar that says less of itself is one', async () => {
  await writeFile(join(folder, '.practice.db.lock'), JSON.stringify({ id: 'a', pid: process.pid, host: hostname() }));
  const clock = { now: Date.now, sleep: async () => {} };
  expect(await lockStatus({ kind: 'file', name: file }, lockOwner(clock))).toEqual({
    pid: process.pid,
    command: null,
    since: null,
  });
});
