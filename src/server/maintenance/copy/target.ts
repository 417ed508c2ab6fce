import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Files } from '../../files/files.ts';
import { openFiles } from '../../files/open.ts';
import { openPostgresStore } from '../../store/postgres/store.ts';
import { readSchema } from '../../store/schema/introspection.ts';
import { openSqliteStore } from '../../store/sqlite/store.ts';
import { StoreUnusable } from '../../store/store.ts';
import type { DataLocation } from '../datalocation.ts';
import { openPartFolder, type PartFolder } from '../partfolder.ts';
import { isDatabaseServed, openPostgresSource } from '../postgressnapshot.ts';
import { DATABASE, openSqliteSnapshot, removeDatabase } from '../snapshot.ts';
import type { Target } from './database.ts';
import { STATE_TABLE } from './state.ts';

/** The target of a copy: a database, or a folder that takes its name at the end. */
export interface OpenTarget {
  /** For people, without a password. */
  readonly name: string;
  /** Where it is until it is complete. */
  readonly place: DataLocation;
  readonly part: PartFolder | undefined;
  /** Where files are to go; undefined when they are to stay where they are. */
  readonly files: Files | undefined;
  /** The store to fill; the caller closes it. */
  store(): Promise<Target>;
  close(): Promise<void>;
}

/** Opens the target of a copy. Throws `StoreUnusable`, for instance when a server runs on it. */
export async function openTarget(place: DataLocation): Promise<OpenTarget> {
  return place.database === undefined ? openFolderTarget(place) : openDatabaseTarget(place, place.database);
}

async function openFolderTarget({ data, files: target, auditKey }: DataLocation): Promise<OpenTarget> {
  const name = resolve(data);
  const part = await openPartFolder(name);
  try {
    const files = await openFiles(target, part.path);
    return {
      name,
      place: { data: part.path, files: target, auditKey },
      part,
      files,
      async store() {
        await forgetComplete(part.path);
        return { store: await openSqliteStore(part.path, { serving: false }), dialect: 'sqlite', name };
      },
      async close() {
        await files.close();
        await part.close();
      },
    };
  } catch (error) {
    await part.close();
    throw error;
  }
}

/** A copy that was complete but for its name is made again: it is not known how much of it was verified. */
async function forgetComplete(folder: string): Promise<void> {
  if (!existsSync(join(folder, DATABASE))) return;
  const snapshot = await openSqliteSnapshot(folder);
  const { tables } = await readSchema(snapshot.read, 'sqlite').finally(() => snapshot.close());
  if (tables.some(({ name }) => name === STATE_TABLE)) return;
  await removeDatabase(folder);
}

async function openDatabaseTarget(place: DataLocation, database: string): Promise<OpenTarget> {
  const source = await openPostgresSource(database);
  const { name } = source;
  const served = await isDatabaseServed(source.live, database).finally(() => source.close());
  if (served) throw isServedBy(name);
  const files = place.files === undefined ? undefined : await openFiles(place.files, resolve(place.data));
  return {
    name,
    place,
    part: undefined,
    files,
    store: async () => ({ store: await openPostgresStore(database), dialect: 'postgres', name }),
    async close() {
      await files?.close();
    },
  };
}

/** A place that a server works on cannot be copied from or into. */
export function isServedBy(name: string): StoreUnusable {
  return new StoreUnusable(`A server is running on ${name}.`, 'Stop it first; it can start again on the copy.');
}
