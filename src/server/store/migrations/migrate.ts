import sql, { raw } from 'sql-template-tag';
import { StoreUnusable, type Transaction } from '../store.ts';
import { FIRST } from './0001-first.ts';
import { STREAM } from './0002-stream.ts';

/** One step of the schema: statements that never change once released. */
export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

const MIGRATIONS: readonly Migration[] = [FIRST, STREAM];

/** Brings the schema to this version, forward only. Throws `StoreUnusable` on a schema that a newer molar made. */
export async function migrate(tx: Transaction): Promise<void> {
  await tx.run(
    sql`CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)`,
  );
  const row = await tx.get<{ version: number }>(
    sql`SELECT COALESCE(MAX(version), 0) AS version FROM schema_migrations`,
  );
  const version = row?.version ?? 0;
  if (version > MIGRATIONS.length) {
    throw new StoreUnusable(
      `The data was written by a newer molar (schema ${version}; this one knows ${MIGRATIONS.length}).`,
      'Update molar, or use another data folder.',
    );
  }
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (index < version) continue;
    for (const statement of migration.statements) await tx.run(sql`${raw(statement)}`);
    await tx.run(
      sql`INSERT INTO schema_migrations (version, name, applied_at) VALUES (${index + 1}, ${migration.name}, ${new Date().toISOString()})`,
    );
  }
}
