import pg from 'pg';
import { openPostgresStore } from '../../src/server/store/postgres/store.ts';
import { postgresTest, type TestDatabase, testDatabase } from './postgres.ts';

/** A schema with molar's tables, and what it was when they were made. */
interface Prepared extends TestDatabase {
  /** Stays open and keeps its plans: to connect and to plan takes several times as long as to empty. */
  readonly client: pg.Client;
  readonly shape: string;
  /** Rows that it has held: what was deleted slows down later tests, since nothing vacuums. */
  held: number;
}

const MOST_HELD = 20_000;

/** Schemas that services are done with. To make one takes longer than most tests; to empty it, a hundredth of that. */
const free: Prepared[] = [];

/** Fewer than a server has by itself, since each takes PostgreSQL longer than most requests: two transactions still meet. */
const CONNECTIONS = 'readers=4&writers=2';

/** For a service: as `preparedSchema`, and with few connections. */
export async function preparedDatabase(): Promise<TestDatabase> {
  const lent = await preparedSchema();
  return { ...lent, url: `${lent.url}&${CONNECTIONS}` };
}

/** As `postgresTest`, with a `preparedSchema`. */
export function preparedTest(name: string, run: (database: TestDatabase) => Promise<void>): void {
  postgresTest(name, run, preparedSchema);
}

/** A schema as a server's first start leaves it. When dropped it is emptied for another, unless its tables were altered. */
export async function preparedSchema(): Promise<TestDatabase> {
  const prepared = free.pop() ?? (await prepare());
  let isLent = true;
  const drop = async () => {
    // Emptied twice, it would be lent to two at once.
    if (!isLent) throw new Error('This database was dropped before.');
    isLent = false;
    await giveBack(prepared);
  };
  return { url: prepared.url, schema: prepared.schema, drop };
}

async function prepare(): Promise<Prepared> {
  const database = await testDatabase();
  await (await openPostgresStore(database.url)).close();
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query(await emptyingOf(client));
  return { ...database, client, shape: await shapeOf(client), held: 0 };
}

async function giveBack(prepared: Prepared): Promise<void> {
  const { client } = prepared;
  if ((await shapeOf(client)) === prepared.shape) {
    const { rows } = await client.query<{ held: number }>('SELECT pg_temp.emptied() AS held');
    prepared.held += rows[0]?.held ?? 0;
    if (prepared.held < MOST_HELD) {
      free.push(prepared);
      return;
    }
  }
  await client.end();
  await prepared.drop();
}

/**
 * A function of the connection, which gives tables the rows and sequences the place that they have now, and returns how
 * many rows were deleted.
 */
async function emptyingOf(client: pg.Client): Promise<string> {
  const steps: string[] = [];
  for (const table of await tablesOf(client)) {
    const { rows } = await client.query(`SELECT json_agg(t)::text AS all FROM ${table} t`);
    const first = rows[0].all;
    steps.push(`DELETE FROM ${table}; GET DIAGNOSTICS deleted = ROW_COUNT; held := held + deleted`);
    if (first === null) continue;
    steps.push(
      `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, ${client.escapeLiteral(first)})`,
    );
  }
  return `CREATE FUNCTION pg_temp.emptied() RETURNS int LANGUAGE plpgsql AS $emptied$
    DECLARE held int := 0; deleted int;
    BEGIN
      ${steps.join(';\n')};
      PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence JOIN pg_class ON oid = seqrelid
        WHERE relnamespace = current_schema()::regnamespace;
      RETURN held;
    END $emptied$`;
}

async function tablesOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
  );
  return rows.map(({ name }) => name);
}

/** Tables, indexes, columns and functions by the transactions that made them: another one where any was altered since. */
async function shapeOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ shape: string }>({
    name: 'shape',
    text: `
    WITH own AS (SELECT oid, xmin FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
    SELECT md5(string_agg(line, ' ' ORDER BY line)) AS shape FROM (
      SELECT oid || '/' || xmin AS line FROM own
      UNION ALL SELECT attrelid || '.' || attnum || '/' || a.xmin FROM pg_attribute a JOIN own ON own.oid = attrelid
      UNION ALL SELECT tgrelid || '!' || t.oid || '/' || t.xmin FROM pg_trigger t JOIN own ON own.oid = tgrelid
      UNION ALL SELECT oid || '/' || xmin FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
    ) lines`,
  });
  return rows[0]?.shape as string;
}
