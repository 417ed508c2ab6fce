import type { Client } from 'pg';
import { openPostgresStore } from '../../src/server/store/postgres/store.ts';
import { onPostgres, type TestDatabase, testDatabase } from './postgres.ts';

/** A schema with molar's tables, and what it was when they were made. */
interface Prepared extends TestDatabase {
  readonly shape: string;
  /** Rows of each table as JSON. */
  readonly rows: ReadonlyMap<string, string>;
  /** Rows that it has held: what was deleted slows down later tests, since nothing vacuums. */
  held: number;
}

const MOST_HELD = 20_000;

const RESTART_SEQUENCES = `
  SELECT setval(seqrelid, seqstart, false) FROM pg_sequence JOIN pg_class ON oid = seqrelid
    WHERE relnamespace = current_schema()::regnamespace`;

/** Schemas that services are done with. To make one takes longer than most tests; to empty it, a tenth of that. */
const free: Prepared[] = [];

/** A schema as a server's first start leaves it. When dropped it is emptied for another, unless its tables were altered. */
export async function preparedDatabase(): Promise<Pick<TestDatabase, 'url' | 'drop'>> {
  const prepared = free.pop() ?? (await prepare());
  let isLent = true;
  const drop = async () => {
    // Emptied twice, it would be lent to two at once.
    if (!isLent) throw new Error('This database was dropped before.');
    isLent = false;
    await giveBack(prepared);
  };
  return { url: prepared.url, drop };
}

async function prepare(): Promise<Prepared> {
  const database = await testDatabase();
  await (await openPostgresStore(database.url)).close();
  return onPostgres(async (client) => {
    const rows = new Map<string, string>();
    for (const table of await tablesOf(client)) {
      const { rows: found } = await client.query(`SELECT json_agg(t)::text AS all FROM ${table} t`);
      rows.set(table, found[0].all ?? '[]');
    }
    return { ...database, shape: await shapeOf(client), rows, held: 0 };
  }, database.url);
}

async function giveBack(prepared: Prepared): Promise<void> {
  const isClean = await onPostgres(async (client) => {
    if ((await shapeOf(client)) !== prepared.shape) return false;
    const emptying = [...prepared.rows].map(([table, rows]) => {
      const again = `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, ${client.escapeLiteral(rows)})`;
      return `DELETE FROM ${table}; ${rows === '[]' ? '' : again}`;
    });
    const done = await client.query(`${emptying.join(';')}; ${RESTART_SEQUENCES}`);
    prepared.held += [done].flat().reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
    return prepared.held < MOST_HELD;
  }, prepared.url);
  if (isClean) free.push(prepared);
  else await prepared.drop();
}

async function tablesOf(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
  );
  return rows.map(({ name }) => name);
}

/** Tables, indexes, columns and functions by the transactions that made them: another one where any was altered since. */
async function shapeOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ shape: string }>(`
    WITH own AS (SELECT oid, xmin FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
    SELECT md5(string_agg(line, ' ' ORDER BY line)) AS shape FROM (
      SELECT oid || '/' || xmin AS line FROM own
      UNION ALL SELECT attrelid || '.' || attnum || '/' || a.xmin FROM pg_attribute a JOIN own ON own.oid = attrelid
      UNION ALL SELECT tgrelid || '!' || t.oid || '/' || t.xmin FROM pg_trigger t JOIN own ON own.oid = tgrelid
      UNION ALL SELECT oid || '/' || xmin FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
    ) lines`);
  return rows[0]?.shape as string;
}
