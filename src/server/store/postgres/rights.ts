import sql, { join } from 'sql-template-tag';
import { textFor } from '../migrations/dialects.ts';
import { MIGRATIONS } from '../migrations/steps.ts';
import { SCHEMA } from '../schema/schema.ts';
import { type Reader, StoreUnusable } from '../store.ts';

/** What serving needs of every table; of those that only upgrades write, the first. */
const RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

const READ_ONLY = ['schema_migrations', 'schema_state', 'schema_backfills'];

/** Every table that a molar of this version uses: a schema may hold those of others, too. */
const TABLES = [
  'schema_migrations',
  ...MIGRATIONS.flatMap(({ statements }) =>
    statements.flatMap(
      (statement) => /^CREATE (?:UNLOGGED )?TABLE (\w+)/.exec(textFor(statement, 'postgres') ?? '')?.[1] ?? [],
    ),
  ),
  ...SCHEMA.layouts.flatMap(({ table, sides }) => [table, ...sides.map((side) => side.table)]),
];

interface Missing {
  readonly name: string;
  readonly right_name: string;
  readonly owner: string;
  readonly role: string;
  readonly schema: string;
}

/** Refuses a user who may not read and write the tables that there are. Throws `StoreUnusable` with the GRANT that helps. */
export async function requireRights(read: Reader, database: string): Promise<void> {
  const missing = await read.all<Missing>(
    sql`SELECT t.relname AS name, r.name AS right_name, pg_get_userbyid(t.relowner) AS owner,
        quote_ident(current_user) AS role, quote_ident(n.nspname) AS schema
      FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
      CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS r (name)
      WHERE n.nspname = current_schema() AND t.relkind IN ('r', 'p') AND t.relname IN (${join(TABLES)})
        AND (r.name = 'SELECT' OR t.relname NOT IN (${join(READ_ONLY)})) AND NOT has_table_privilege(t.oid, r.name)
      ORDER BY t.relname, r.name`,
  );
  const [first] = missing;
  if (first === undefined) return;
  const lacking = RIGHTS.filter((right) => missing.some(({ right_name }) => right_name === right));
  const tables = [...new Set(missing.map(({ name }) => name))];
  const more = tables.length > 3 ? ` and ${tables.length - 3} more` : '';
  throw new StoreUnusable(
    `The user ${first.role} lacks ${lacking.join(', ')} on tables of the database ${database}: ${tables.slice(0, 3).join(', ')}${more}.`,
    `As ${first.owner}, who owns them: GRANT ${RIGHTS.join(', ')} ON ALL TABLES IN SCHEMA ${first.schema} TO ${first.role};`,
  );
}
