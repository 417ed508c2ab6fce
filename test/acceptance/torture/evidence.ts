import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { loadDriver } from '../../../src/sqlite/open.ts';
import { onPostgres } from '../../support/postgres.ts';
import { type Change, TABLE_NAMES, TABLES, type Table, type Verb } from './state.ts';

/** What a database and a folder hold, read past the server. */
export interface Evidence {
  /** Stored JSON by id. */
  readonly records: ReadonlyMap<Table, ReadonlyMap<number, string>>;
  readonly documents: readonly { readonly id: number; readonly guid: string; readonly variants: string }[];
  readonly messages: readonly Message[];
  /** Entries of the audit log that tell of changes. */
  readonly audit: readonly Entry[];
  readonly answers: ReadonlyMap<string, string>;
  /** Files that are still to be removed. */
  readonly removals: number;
}

export interface Message {
  readonly id: number;
  readonly key: string;
  readonly payload: string;
}

export interface Entry {
  readonly requestId: string | null;
  /** `patients.create`. */
  readonly operation: string;
  readonly ids: string;
}

type Query = <T>(sql: string) => Promise<T[]>;

export async function sqliteEvidence(folder: string): Promise<Evidence> {
  const database = new (loadDriver())(join(folder, 'molar.sqlite'), { readonly: true });
  try {
    database.exec('BEGIN');
    return await read(async <T>(sql: string) => database.prepare(sql).all() as T[]);
  } finally {
    database.close();
  }
}

export async function postgresEvidence(url: string): Promise<Evidence> {
  return onPostgres(async (client: pg.Client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    return read(async <T>(sql: string) => (await client.query(sql)).rows as T[]);
  }, url);
}

async function read(query: Query): Promise<Evidence> {
  const records = new Map<Table, Map<number, string>>();
  for (const table of TABLE_NAMES) {
    const rows = await query<{ id: unknown; json: string }>(`SELECT id, json FROM ${table}`);
    records.set(table, new Map(rows.map(({ id, json }) => [Number(id), json])));
  }
  const messages = await query<{ id: unknown; key: string; payload: string }>(
    'SELECT seq AS id, routing_key AS key, payload FROM stream_messages ORDER BY org, seq',
  );
  const audit = await query<{ request: string | null; operation: string; ids: string }>(
    `SELECT request_id AS request, operation, ids FROM audit_entries WHERE via IS NULL AND (operation LIKE '%.create'
      OR operation LIKE '%.update' OR operation LIKE '%.delete') ORDER BY id`,
  );
  const answers = await query<{ name: string; answer: string }>('SELECT name, answer FROM idempotency_keys');
  const documents = await query<{ id: unknown; guid: string; variants: string }>(
    'SELECT id, guid, variants FROM documents',
  );
  return {
    records,
    documents: documents.map(({ id, guid, variants }) => ({ id: Number(id), guid, variants })),
    messages: messages.map(({ id, key, payload }) => ({ id: Number(id), key, payload })),
    // A change is of one record: a list of one.
    audit: audit.map(({ request, operation, ids }) => ({
      requestId: request,
      operation,
      ids: String(JSON.parse(ids)),
    })),
    answers: new Map(answers.map(({ name, answer }) => [name, answer])),
    removals: (await query('SELECT name FROM file_removals')).length,
  };
}

/** What a message tells of one record. */
export function changeOf({ key, payload }: Message): Change {
  const [, , domain = '', operation = ''] = key.split('.');
  const record = JSON.parse(payload) as Change['payload'];
  const table = TABLES[domain as keyof typeof TABLES];
  return { verb: operation.toLowerCase() as Verb, table, id: record.id, payload: record };
}

/** Names of files below a folder: those that are kept, and those that are staged. */
export function filesIn(folder: string): { readonly kept: string[]; readonly staged: string[] } {
  if (!existsSync(folder)) return { kept: [], staged: [] };
  const folders = readdirSync(folder).filter((name) => name !== 'incoming');
  return {
    kept: folders.flatMap((name) => readdirSync(join(folder, name))),
    staged: readdirSync(join(folder, 'incoming')),
  };
}
