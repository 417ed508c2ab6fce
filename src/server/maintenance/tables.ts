import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../../filesystem/durable.ts';
import { STAGING_TABLES } from '../store/migrations/imports.ts';
import { type DatabaseSchema, MIGRATIONS_TABLE, readSchema, type Table } from '../store/schema/introspection.ts';
import { SCHEMA } from '../store/schema/schema.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';

/**
 * Tables that say something of this moment and this store only: what servers agree about, how the store was made, imports
 * that are under way, and the keys of its download links, so that no copy opens what the original has, nor the other way
 * round (D57).
 */
const OWN_TABLES = new Set([
  MIGRATIONS_TABLE,
  'schema_state',
  'schema_backfills',
  'schema_repairs',
  'servers',
  'leases',
  'rate_buckets',
  'link_keys',
  'imports',
  ...Object.keys(STAGING_TABLES),
]);

/** The columns of each resource's table. Others may have been left by an earlier molar, and hold nothing that is used. */
const KNOWN_COLUMNS = new Map(
  SCHEMA.layouts.map(({ table, columns }) => [
    table,
    new Set(['org', 'id', 'json', ...columns.map(({ name }) => name)]),
  ]),
);

const KNOWN_SIDES = new Set(SCHEMA.layouts.flatMap(({ sides }) => sides.map(({ table }) => table)));

/** Left behind by a molar whose catalog had a resource, or a key with several values, that this one does not have. */
function isLeftBehind({ name, columns, key }: Table): boolean {
  if (KNOWN_COLUMNS.has(name) || KNOWN_SIDES.has(name)) return false;
  const isSide = columns.join() === 'org,value,id' && key.join() === 'org,value,id';
  return isSide || (key.join() === 'org,id' && columns.includes('json'));
}

/** The tables whose rows are the content of a store, with the columns that a backup and a migration carry over. */
export function contentTables({ tables }: DatabaseSchema): readonly Table[] {
  return tables
    .filter((table) => !OWN_TABLES.has(table.name) && !isLeftBehind(table))
    .map((table) => {
      const known = KNOWN_COLUMNS.get(table.name);
      return known === undefined ? table : { ...table, columns: table.columns.filter((name) => known.has(name)) };
    });
}

/** The schema that this molar makes: read from a database that it has just made. */
export async function ownSchema(): Promise<DatabaseSchema> {
  const folder = await mkdtemp(join(tmpdir(), 'molar-schema-'));
  try {
    const store = await openSqliteStore(folder, { serving: false });
    try {
      return await readSchema(store.read, 'sqlite');
    } finally {
      await store.close();
    }
  } finally {
    await removeTree(folder);
  }
}
