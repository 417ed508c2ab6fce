import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { openConnection } from '../../src/sqlite/open.ts';
import { onPostgres } from './postgres.ts';
import type { TestService } from './service.ts';

type Place = Pick<TestService, 'path' | 'database'>;

/** What somebody does who may write to the database, past molar: statements one after another. */
export async function tamper({ path, database }: Place, ...statements: readonly string[]): Promise<void> {
  if (database !== undefined) {
    await onPostgres(async (client) => {
      await sequenced(client);
      for (const statement of statements) await client.query(statement);
    }, database);
    return;
  }
  const connection = openConnection(join(path, 'molar.sqlite'));
  for (const statement of statements) connection.exec(statement);
  connection.close();
}

/** Rows as the database itself tells them; whole numbers of PostgreSQL as numbers. */
export async function rawRows<T extends object>({ path, database }: Place, query: string): Promise<T[]> {
  if (database === undefined) {
    const connection = openConnection(join(path, 'molar.sqlite'));
    const rows = connection.prepare(query).all() as T[];
    connection.close();
    return rows;
  }
  const { rows, fields } = await onPostgres(async (client) => {
    await sequenced(client);
    return client.query<Record<string, unknown>>(query);
  }, database);
  const whole = new Set(fields.filter(({ dataTypeID }) => dataTypeID === BIGINT).map(({ name }) => name));
  const plain = ([name, value]: [string, unknown]) => [name, value !== null && whole.has(name) ? Number(value) : value];
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(plain)) as T);
}

/** Resolves when every entry of the audit log has its place; where that cannot be known, as after a change of the table, at once. */
async function sequenced(client: Client): Promise<void> {
  const waiting = () =>
    client.query("SELECT 1 FROM audit_entries WHERE id < 0 AND hash = '' LIMIT 1").then(
      ({ rowCount }) => rowCount === 1,
      () => false,
    );
  for (let tries = 0; tries < 1000 && (await waiting()); tries++) await sleep(5);
}

/** The number of the type in PostgreSQL. */
const BIGINT = 20;

/** What the audit log is made of: the rows of these tables, a condition each. */
const PARTS = [
  ['audit_entries', 'true'],
  ['audit_patients', 'true'],
  ['log_heads', "name = 'audit'"],
  ['audit_checkpoints', 'true'],
  ['audit_strays', 'true'],
  ['settings', 'true'],
];

/** Keeps a copy of the audit log, to be put back in its place by `putBack`. */
export function setAside(place: Place): Promise<void> {
  return tamper(
    place,
    ...PARTS.flatMap(([table, own]) => [
      `DROP TABLE IF EXISTS kept_${table}`,
      `CREATE TABLE kept_${table} AS SELECT * FROM ${table} WHERE ${own}`,
    ]),
  );
}

/** The audit log as it was when it was set aside: what a copy of the database from then has. */
export function putBack(place: Place): Promise<void> {
  return tamper(
    place,
    ...PARTS.flatMap(([table, own]) => [
      `DELETE FROM ${table} WHERE ${own}`,
      `INSERT INTO ${table} SELECT * FROM kept_${table}`,
    ]),
  );
}
