import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeFile, syncFolder, syncPath } from '../../../filesystem/durable.ts';
import { openConnection } from '../../../sqlite/open.ts';
import { STAGING_INDEXES, STAGING_TABLES } from '../migrations/imports.ts';
import type { ImportClaim, StagingArea } from '../store.ts';
import { takeFileLock } from './lock.ts';
import { Statements } from './statements.ts';

const AREA = /^import-([0-9a-f-]+)\.sqlite$/;

/** The right to import into a database, whose lock ends with the process; areas are files beside the database. */
export function claimFolder(database: string): ImportClaim | undefined {
  const folder = dirname(database);
  const unlock = takeFileLock(join(folder, 'import.lock'));
  if (unlock === undefined) return undefined;
  const fileOf = (name: string) => join(folder, `import-${name}.sqlite`);
  return {
    open: async (name) => openArea(fileOf(name), database),
    async names() {
      return (await readdir(folder)).flatMap((file) => AREA.exec(file)?.[1] ?? []);
    },
    remove: (name) => removeFile(fileOf(name)),
    async confirm() {},
    async release() {
      unlock();
    },
  };
}

/**
 * Opens an area, from which the tables of the database are read. A file that a killed process left half written is never
 * used, so it needs neither journal nor sync until it is complete.
 */
function openArea(file: string, database: string): StagingArea {
  const isNew = !existsSync(file);
  const connection = openConnection(file);
  for (const setting of ['journal_mode = OFF', 'synchronous = OFF']) connection.pragma(setting);
  if (isNew) {
    for (const [name, columns] of Object.entries(STAGING_TABLES)) connection.exec(`CREATE TABLE ${name} ${columns}`);
    for (const index of STAGING_INDEXES) connection.exec(index);
  }
  connection.prepare('ATTACH DATABASE ? AS store').run(database);
  const statements = new Statements(connection);
  return {
    read: {
      all: async (statement) => statements.all(statement),
      get: async (statement) => statements.get(statement),
    },
    async write(batch) {
      connection.exec('BEGIN');
      try {
        for (const statement of batch) statements.run(statement);
        connection.exec('COMMIT');
      } catch (error) {
        if (connection.inTransaction) connection.exec('ROLLBACK');
        throw error;
      }
    },
    async sync() {
      await syncPath(file);
      await syncFolder(dirname(file));
    },
    async close() {
      connection.close();
    },
  };
}
