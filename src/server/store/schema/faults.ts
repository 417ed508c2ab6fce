import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { Index } from '../layout.ts';
import type { Dialect } from '../migrations/dialects.ts';
import { type Reader, StoreUnusable } from '../store.ts';
import type { Schema } from './schema.ts';

/** Why a schema cannot be changed, and what to do. */
type Reason = readonly [reason: string, next: string];

/** What a step needs that a user may lack: to own tables, or to make new ones. */
type Right = 'owner' | 'create';

const RIGHTS: Readonly<Record<Right, Reason>> = {
  owner: [
    'the database does not let this user change its tables',
    'Run molar server migrate-schema as the user that owns the tables; then start again.',
  ],
  create: [
    'the database does not let this user make tables',
    'Run molar server migrate-schema as the owner of the schema; then start again.',
  ],
};

const FULL: Reason = ['the disk of the database is full', 'Free some space and start again; the upgrade resumes.'];

/** By codes of SQLite, of `StoreFault` and of PostgreSQL. */
function reasonFor(code: string, right: Right): Reason | undefined {
  if (/^(SQLITE_FULL|STORE_FULL|53100)/.test(code)) return FULL;
  return /^(SQLITE_READONLY|SQLITE_PERM|42501)/.test(code) ? RIGHTS[right] : undefined;
}

/** Runs a step of an upgrade; a fault that whoever starts the server can mend says which step it was. */
export async function within<T>(step: string, work: () => Promise<T>, right: Right = 'owner'): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, state } = (error ?? {}) as { code?: unknown; state?: { code?: unknown } };
    const known = reasonFor(String(state?.code ?? code), right);
    if (error instanceof StoreUnusable || known === undefined) throw error;
    throw new StoreUnusable(`Cannot ${step}: ${known[0]}.`, known[1], error);
  }
}

/** Refuses, before anything is changed, a user who serves only. Throws `StoreUnusable`. */
export async function requireOwner(read: Reader, dialect: Dialect): Promise<void> {
  if (dialect !== 'postgres') return;
  const may = await read.get<{ create: number }>(
    sql`SELECT has_schema_privilege(current_schema(), 'CREATE') AS "create"`,
  );
  if (may?.create !== 0) return;
  const [reason, next] = RIGHTS.create;
  throw new StoreUnusable(`The tables are not those of this version, and ${reason}.`, next);
}

/** A record that shares with another one what an index says that no two may share. */
export interface Duplicate {
  readonly org: number;
  /** The highest id of those with the same values. */
  readonly id: number;
}

/** Records that share their values of some columns, one for each set of values, `limit` at most. */
export function duplicates(
  read: Reader,
  { table, columns }: Pick<Index, 'table' | 'columns'>,
  limit: number,
): Promise<Duplicate[]> {
  const given: Sql[] = columns.map((column) => sql`${raw(column)} IS NOT NULL`);
  return read.all<Duplicate>(
    sql`SELECT MAX(org) AS org, MAX(id) AS id FROM ${raw(table)} WHERE ${join(given, ' AND ')}
      GROUP BY ${raw(columns.join(', '))} HAVING COUNT(*) > 1 ORDER BY MAX(org), MAX(id) LIMIT ${limit}`,
  );
}

/** Refuses to build a unique index over records that it does not allow. Throws `StoreUnusable`. */
export async function refuseDuplicates(read: Reader, index: Index): Promise<void> {
  const [found] = index.unique === undefined ? [] : await duplicates(read, index, 1);
  if (found === undefined) return;
  const organization = await read.get<{ id: string }>(sql`SELECT id FROM organizations WHERE org = ${found.org}`);
  throw new StoreUnusable(
    `The index ${index.name} cannot be built: ${index.table} ${found.id} of organization ${organization?.id ?? found.org} ${index.unique}.`,
    'Change or delete one of the two with the molar that wrote them; then start again.',
  );
}

/** The tables in the database are not those of this process, which must get no requests. */
export class SchemaMismatch extends Error {
  constructor(found: string | undefined) {
    const what = found === undefined ? 'are being brought to another version' : 'were brought to another version';
    super(`The tables of the database ${what} of molar: restart this server with that version.`);
    this.name = 'SchemaMismatch';
  }
}

/** Throws `SchemaMismatch` unless the fingerprint in the database is that of a schema. */
export function requireFingerprint(schema: Pick<Schema, 'fingerprint'>, found: string | undefined): void {
  if (found !== schema.fingerprint) throw new SchemaMismatch(found);
}
