import sql, { raw } from 'sql-template-tag';
import type { Service } from '../../src/server/service.ts';
import type { Reader } from '../../src/server/store/store.ts';

/** Tables whose rows say when, or how, the store was made rather than what it holds. */
const OWN = new Set([
  'settings',
  'schema_migrations',
  'organizations',
  'api_clients',
  'ledger_versions',
  'stream_messages',
  'stream_heads',
  'log_heads',
  'audit_entries',
  'audit_checkpoints',
  'audit_patients',
  'leases',
  'servers',
  'rate_buckets',
  'link_keys',
]);
/** Values that are made anew each time, or say when something was done. */
const RANDOM = new Set(['guid', 'guidName', 'thumbNailId', 'last_used_at']);

/**
 * Everything a store holds, as sorted text rows by table: organizations by their names instead of their keys, without
 * what is random. Two stores with equal dumps answer every request alike.
 */
export async function dump(service: Service): Promise<Record<string, string[]>> {
  const { read } = service.store;
  const organizations = await read.all<{ org: number; id: string }>(
    sql`SELECT org, id, timezone, created_date FROM organizations`,
  );
  const named = new Map(organizations.map((row) => [row.org, row.id]));
  const tables = await tablesOf(read);
  const found: Record<string, string[]> = {
    organizations: organizations.map(({ org: _, ...row }) => JSON.stringify(row)).sort(),
  };
  for (const { name } of tables.filter((table) => !OWN.has(table.name))) {
    const rows = await read.all<Record<string, unknown>>(sql`SELECT * FROM ${raw(name)}`);
    found[name] = rows
      .map((row) => JSON.stringify({ ...steady(row), ...('org' in row && { org: named.get(Number(row.org)) }) }))
      .sort();
  }
  return found;
}

/** The tables of either store: SQLite lists them in one place, PostgreSQL in another. */
function tablesOf(read: Reader): Promise<{ name: string }[]> {
  return read
    .all<{ name: string }>(sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'`)
    .catch(() =>
      read.all<{ name: string }>(sql`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`),
    );
}

function steady(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(row).filter(([name]) => !RANDOM.has(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === 'json' ? steady(JSON.parse(String(value))) : value]),
  );
}
