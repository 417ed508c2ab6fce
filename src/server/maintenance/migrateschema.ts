import { resolve } from 'node:path';
import { readAddress } from '../../postgres/address.ts';
import { MIGRATIONS } from '../store/migrations/steps.ts';
import { openPostgresStore } from '../store/postgres/store.ts';
import { type DatabaseSchema, readSchema } from '../store/schema/introspection.ts';
import { readUnfinished } from '../store/schema/state.ts';
import type { UpgradeOptions } from '../store/schema/upgradework.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';
import { molarVersion } from '../version.ts';
import type { DataLocation } from './datalocation.ts';
import { openPostgresSource } from './postgressnapshot.ts';
import { openSqliteSnapshot } from './snapshot.ts';
import type { Work } from './work.ts';

/** What was done to bring a database to this version; lists are empty when it was there already. */
export interface SchemaReport {
  /** The folder, or host and name of the database. */
  readonly place: string;
  /** Of this molar. */
  readonly version: string;
  readonly changed: boolean;
  /** Names of migrations. */
  readonly migrations: readonly string[];
  /** What is there that was not: `patients`, `patients.last_name`, `patients_by_last_name`. */
  readonly tables: readonly string[];
  readonly columns: readonly string[];
  readonly indexes: readonly string[];
  /** False while servers of an earlier version may go on: what only they need is still there. */
  readonly finished: boolean;
}

/**
 * Does what a start does with the schema: makes and upgrades tables, fills what is new, and resumes. With `finish` older
 * servers are said to be gone. Throws `StoreUnusable`.
 */
export async function migrateSchema(
  location: DataLocation,
  { progress, signal }: Work,
  finish = false,
): Promise<SchemaReport> {
  const place = location.database === undefined ? resolve(location.data) : readAddress(location.database).name;
  const dialect = location.database === undefined ? 'sqlite' : 'postgres';
  const before = await schemaBefore(location);
  const store = await openStore(location, {
    finish,
    progress: ({ table, done, rows }) => {
      signal.throwIfAborted();
      progress(`${table}: ${done} rows`, rows - done);
    },
  });
  try {
    const after = await readSchema(store.read, dialect);
    const columns = (schema: DatabaseSchema) =>
      schema.tables.flatMap((t) => t.columns.map((name) => `${t.name}.${name}`));
    const tables = added(before.tables.map(namesOf), after.tables.map(namesOf));
    return {
      place,
      version: molarVersion(),
      changed: before.version !== after.version || before.fingerprint !== after.fingerprint,
      migrations: MIGRATIONS.slice(before.version).map(({ name }) => name),
      tables,
      // Those of a new table go without saying.
      columns: added(columns(before), columns(after)).filter((name) => !tables.includes(name.split('.')[0] ?? '')),
      indexes: added(before.indexes, after.indexes),
      finished: (await readUnfinished(store.read)) === undefined,
    };
  } finally {
    await store.close();
  }
}

const namesOf = ({ name }: { readonly name: string }) => name;

function added(before: readonly string[], after: readonly string[]): string[] {
  const known = new Set(before);
  return after.filter((name) => !known.has(name));
}

async function schemaBefore({ data, database }: DataLocation): Promise<DatabaseSchema> {
  if (database === undefined) {
    const { read, close } = await openSqliteSnapshot(resolve(data));
    return readSchema(read, 'sqlite').finally(close);
  }
  const { live, close } = await openPostgresSource(database);
  return readSchema(live, 'postgres').finally(close);
}

function openStore({ data, database }: DataLocation, options: UpgradeOptions): Promise<Store> {
  if (database !== undefined) return openPostgresStore(database, options);
  return openSqliteStore(resolve(data), { ...options, serving: true });
}
