import sql, { raw } from 'sql-template-tag';
import { type Reader, StoreUnusable, type Transaction } from '../store.ts';
import { type Dialect, type SchemaStatement, textFor } from './dialects.ts';
import { MIGRATIONS } from './steps.ts';

const VERSIONS =
  'CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)';

const IS_MIGRATED = {
  sqlite: sql`SELECT 1 AS found FROM sqlite_master WHERE name = 'schema_migrations'`,
  postgres: sql`SELECT 1 AS found WHERE to_regclass('schema_migrations') IS NOT NULL`,
};

/** How many migrations a database has; 0 for an empty one. Throws `StoreUnusable` on a schema that a newer molar made. */
export async function migrationsOf(read: Reader, dialect: Dialect): Promise<number> {
  if ((await read.get(IS_MIGRATED[dialect])) === undefined) return 0;
  const row = await read.get<{ version: number }>(
    sql`SELECT COALESCE(MAX(version), 0) AS version FROM schema_migrations`,
  );
  const version = row?.version ?? 0;
  if (version > MIGRATIONS.length) {
    throw new StoreUnusable(
      `The data was written by a newer molar (schema ${version}; this one knows ${MIGRATIONS.length}).`,
      'Update molar, or use another data folder.',
    );
  }
  return version;
}

/** Brings a schema that has some migrations to this version, forward only. */
export async function migrate(tx: Transaction, version: number, dialect: Dialect): Promise<void> {
  await runText(tx, VERSIONS, dialect);
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (index < version) continue;
    for (const statement of migration.statements) await runText(tx, statement, dialect);
    await tx.run(
      sql`INSERT INTO schema_migrations (version, name, applied_at) VALUES (${index + 1}, ${migration.name}, ${new Date().toISOString()})`,
    );
  }
}

/** Runs a statement of the schema, if the store has one. */
export async function runText(tx: Transaction, statement: SchemaStatement, dialect: Dialect): Promise<void> {
  const text = textFor(statement, dialect);
  if (text !== undefined) await tx.run(sql`${raw(text)}`);
}
