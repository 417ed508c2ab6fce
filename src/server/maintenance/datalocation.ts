import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Connection, isBusy, openConnection } from '../../sqlite/open.ts';
import type { Files } from '../files/files.ts';
import { openFiles } from '../files/open.ts';
import { lockFolder } from '../store/sqlite/lock.ts';
import { Statements } from '../store/sqlite/statements.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Reader, Store } from '../store/store.ts';
import { isDatabaseServed, isWrittenTo, openPostgresSource } from './postgressnapshot.ts';
import { DATABASE, openSqliteSnapshot, type Snapshot } from './snapshot.ts';

/** Where a server stores its data, as given to `molar serve`. */
export interface DataLocation {
  /** Data folder; of its files where `files` says nothing, and of what is on the way to a bucket. */
  readonly data: string;
  /** `postgres://…` instead of the database of the folder. */
  readonly database?: string | undefined;
  /** A folder or `s3://bucket/prefix`. */
  readonly files?: string | undefined;
  /** File of the key of the audit log's checkpoints, which need not exist; in the data folder when not given. */
  readonly auditKey?: string | undefined;
}

/** A location opened for reading; nothing in it changes unless `store` is called. */
export interface OpenDataLocation {
  /** For people, without a password. */
  readonly name: string;
  readonly served: boolean;
  /** Files may stand there before their records are committed: in a bucket they do, and servers are always at it. */
  readonly keepsYoung: boolean;
  /** What is committed now. */
  readonly live: Reader;
  readonly files: Files;
  snapshot(): Promise<Snapshot>;
  /** Keeps everybody from writing until the function returned is called. Throws `StoreUnusable` when somebody is. */
  hold(): Promise<() => Promise<void>>;
  /** The store itself, for repairs: its schema is brought to this version. The caller closes it. */
  store(): Promise<Store>;
  close(): Promise<void>;
}

/** Opens a place with or without a server on it. Throws `StoreUnusable`. */
export async function openDataLocation(place: DataLocation): Promise<OpenDataLocation> {
  return place.database === undefined ? openSqlitePlace(place) : openPostgresPlace(place, place.database);
}

async function openSqlitePlace({ data, files: target }: DataLocation): Promise<OpenDataLocation> {
  const folder = resolve(data);
  // Refuses a folder without a database before anything is made in it.
  await (await openSqliteSnapshot(folder)).close();
  const served = isServed(folder);
  const connection = openConnection(join(folder, DATABASE), { readonly: true });
  try {
    const files = await openFiles(target, folder);
    const statements = new Statements(connection);
    return {
      name: folder,
      served,
      keepsYoung: served || isBucket(target),
      live: {
        all: async (statement) => statements.all(statement),
        get: async (statement) => statements.get(statement),
      },
      files,
      snapshot: () => openSqliteSnapshot(folder),
      hold: () => holdFolder(folder),
      store: () => openSqliteStore(folder, { serving: false }),
      async close() {
        connection.close();
        await files.close();
      },
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function openPostgresPlace({ data, files: target }: DataLocation, database: string): Promise<OpenDataLocation> {
  const source = await openPostgresSource(database);
  try {
    const served = await isDatabaseServed(source.live, database);
    const files = await openFiles(target, resolve(data));
    return {
      name: source.name,
      served,
      keepsYoung: served || isBucket(target),
      live: source.live,
      files,
      snapshot: source.snapshot,
      hold: source.hold,
      async store() {
        const { openPostgresStore } = await import('../store/postgres/store.ts');
        return openPostgresStore(database);
      },
      async close() {
        await source.close();
        await files.close();
      },
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** There an import brings files to their final names before it commits (`Files.secure`). */
function isBucket(target: string | undefined): boolean {
  return /^s3:/i.test(target ?? '');
}

/** Keeps servers and imports away from a folder. */
async function holdFolder(folder: string): Promise<() => Promise<void>> {
  const unlock = lockFolder(folder);
  const connection = openConnection(join(folder, DATABASE));
  try {
    connection.exec('BEGIN IMMEDIATE');
  } catch (cause) {
    connection.close();
    unlock();
    throw isBusy(cause) ? isWrittenTo(folder) : cause;
  }
  return async () => {
    connection.close();
    unlock();
  };
}

/** Whether a server runs on a data folder: it holds the lock then. Only looks, so that a server may start meanwhile. */
function isServed(folder: string): boolean {
  const file = join(folder, 'server.lock');
  if (!existsSync(file)) return false;
  let connection: Connection | undefined;
  try {
    connection = openConnection(file, { readonly: true });
    connection.prepare('SELECT COUNT(*) FROM sqlite_master').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    connection?.close();
  }
}
