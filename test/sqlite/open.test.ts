import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { isDriverFault, isSafeVersion, openConnection, sqlitePackage } from '../../src/sqlite/open.ts';
import { OWNER_ONLY } from '../support/capabilities.ts';
import { leftOpenBelow } from '../support/descriptors.ts';

let folder: string;
const at = (name: string) => join(folder, name);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-sqlite-'));
  onTestFinished(() => rm(folder, { recursive: true }));
});

test.each([
  ['v20.19.0', 'better-sqlite3'],
  ['v20.20.2', 'better-sqlite3'],
  ['v21.7.3', 'better-sqlite3'],
  ['v22.13.1', 'better-sqlite3'],
  ['v22.14.0', 'better-sqlite3-node-api'],
  ['v23.0.0', 'better-sqlite3-node-api'],
  ['v24.21.0', 'better-sqlite3-node-api'],
  ['v26.10.0', 'better-sqlite3-node-api'],
  ['v100.0.0-nightly', 'better-sqlite3-node-api'],
])('Node %s takes SQLite from %s', (version, name) => {
  expect(sqlitePackage(version)).toBe(name);
});

test.each<[string, unknown, boolean]>([
  ['the native part was never built', new Error('Could not locate the bindings file. Tried:\n → build/x.node'), true],
  [
    'it was built for another Node',
    Object.assign(new Error('NODE_MODULE_VERSION 108'), { code: 'ERR_DLOPEN_FAILED' }),
    true,
  ],
  ['no package is there', Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' }), true],
  ['the file is no database', Object.assign(new Error('file is not a database'), { code: 'SQLITE_NOTADB' }), false],
  ['the folder may not be read', Object.assign(new Error('EACCES'), { code: 'EACCES' }), false],
  ['something that is no error', 'text', false],
])('a driver that cannot be loaded is told from a database that cannot be opened: %s', (_name, cause, expected) => {
  expect(isDriverFault(cause)).toBe(expected);
});

test.each([
  ['3.51.2', false],
  ['3.51.3', true],
  ['3.53.2', true],
  ['4.0.0', true],
  ['3.44.5', false],
  ['3.44.6', true],
  ['3.50.7', true],
  ['3.50.6', false],
])('SQLite %s keeps committed writes: %s', (version, expected) => {
  expect(isSafeVersion(version)).toBe(expected);
});

/** A connection to a database with a journal, until the test is finished. */
function ownConnection() {
  const connection = openConnection(at('own.sqlite'));
  onTestFinished(() => void connection.close());
  connection.pragma('journal_mode = WAL');
  connection.exec('CREATE TABLE t (id INTEGER PRIMARY KEY)');
  return connection;
}

test('a commit waits for the disk, foreign keys are not checked, and temporary tables are in files', () => {
  const connection = ownConnection();
  const settings = ['synchronous', 'foreign_keys', 'temp_store'].map((name) =>
    connection.pragma(name, { simple: true }),
  );
  // FULL; off; in files, not in memory.
  expect(settings).toEqual([2, 0, 1]);
});

test('nobody else can read a database and its journals', async () => {
  ownConnection();
  const names = await readdir(folder);
  expect(names.sort()).toEqual(['own.sqlite', 'own.sqlite-shm', 'own.sqlite-wal']);
  for (const name of names) expect([name, (await stat(at(name))).mode & 0o777]).toEqual([name, OWNER_ONLY.file]);
});

test('what cannot be opened is told with its file, not made and not left open', async () => {
  await writeFile(at('text'), 'no database, and long enough to be one'.repeat(200));
  for (const name of ['none', 'none/below']) {
    expect(() => openConnection(at(name), { readonly: true })).toThrow(`The database ${at(name)} cannot be opened: `);
  }
  expect(() => openConnection(at('text'))).toThrow('file is not a database');
  expect([await readdir(folder), leftOpenBelow(folder)]).toEqual([['text'], []]);
});
