import type { Client, CustomTypesConfig } from 'pg';
import type { Parsers } from '../../../postgres/driver.ts';
import { Portal } from '../../../postgres/portal.ts';
import { sqlState } from '../../../postgres/unusable.ts';
import { localFailure } from '../../failure.ts';
import { quoted } from '../names.ts';
import type { MirrorRecord } from '../records.ts';
import type { TableRows } from '../rows.ts';
import {
  type Bound,
  type ChangeCounts,
  type Conflict,
  type MirrorDatabase,
  onConflict,
  type Target,
} from '../sql/database.ts';
import { RecordRebuilder } from '../sql/recordrebuilder.ts';
import { mirrorTables, mirrorViews } from '../sql/schema.ts';
import type { StoredValue } from '../values.ts';
import { postgresFailure } from './connection.ts';
import { copyIn, copyLines } from './copy.ts';
import { POSTGRES } from './dialect.ts';
import { PostgresWriter } from './tablewriter.ts';
import { postgresText, storableJson, storableRecord } from './values.ts';

/** Values of results: whole numbers and sums as numbers, instants as SQLite has them, JSON as text. */
export const MIRROR_PARSERS: Parsers = {
  16: (text) => text === 't',
  20: Number,
  1700: Number,
  1184: (text) => new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')).toISOString(),
  ...Object.fromEntries([114, 3802, 1082, 1114].map((type) => [type, (text: string) => text])),
};

/** The same, but whole numbers exact, and truth values as SQLite has them. */
const EXACT: Parsers = { 16: (text) => Number(text === 't'), 20: BigInt, 1700: String };

/** Parameters of one statement; the protocol has no more than 65,535. */
const MAX_PARAMETERS = 10_000;

/** Lines of a query that are asked for together. */
const LINES = 500;

/** Milliseconds that others may be kept from a table by a new column. */
const PATIENCE_MS = 50;

/** lock_not_available */
const BUSY = '55P03';

/** The form of the tables. */
const FORM = 1;

/** The schema of a mirror in PostgreSQL (D52), on one connection. */
export class PostgresDatabase implements MirrorDatabase {
  readonly dialect = POSTGRES;

  constructor(
    readonly name: string,
    readonly client: Client,
    readonly schema: string,
  ) {}

  async isNew(): Promise<boolean> {
    const form = await this.form();
    if (form !== undefined) return false;
    const names = [...mirrorViews(POSTGRES), ...mirrorTables()];
    const [taken] = await this.rows<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = CAST(quote_ident(:schema) AS regnamespace)
      AND relname = ANY (CAST(:names AS text[])) ORDER BY relname LIMIT 1`,
      { schema: this.schema, names: `{${names.join(',')}}` },
    );
    if (taken === undefined) return true;
    throw localFailure(
      'mirror.unusable',
      `The schema ${this.schema} of ${this.name} has a table ${taken.name} that is of no mirror.`,
      { hint: 'It was left as it is. Name another schema: add ?schema=NAME to the address.' },
    );
  }

  /** The form of the mirror; undefined where there is none. Throws a Failure with exit code 9 for that of a newer molar. */
  async form(): Promise<number | undefined> {
    const [there] = await this.rows<{ is: boolean }>(
      "SELECT to_regclass('_mirror') IS NOT NULL AND to_regclass('_facts') IS NOT NULL AS is",
    );
    if (there?.is !== true) return undefined;
    const [row] = await this.rows<{ value: string }>(
      "SELECT CAST(value AS text) AS value FROM _facts WHERE name = 'form'",
    );
    if (row === undefined) return undefined;
    const form = Number(row.value);
    if (form <= FORM) return form;
    throw localFailure('mirror.unusable', `${this.name} is a mirror of a newer version of molar.`, {
      hint: 'It was left as it is. Name another place with --to.',
    });
  }

  async mark(): Promise<void> {
    await this.run("INSERT INTO _facts (name, value) VALUES ('form', :form)", { form: String(FORM) });
  }

  async rows<T>(text: string, bound: Bound = {}): Promise<T[]> {
    return this.guarded(async () => (await this.client.query(statementOf(text, bound))).rows as T[]);
  }

  async exactRows(text: string, bound: Bound = {}): Promise<readonly (readonly StoredValue[])[]> {
    const types = { getTypeParser: (type: number) => EXACT[type] ?? MIRROR_PARSERS[type] ?? String };
    return this.guarded(async () => {
      const statement = { ...statementOf(text, bound), rowMode: 'array' as const, types: types as CustomTypesConfig };
      return (await this.client.query<StoredValue[]>(statement)).rows;
    });
  }

  async *lines(text: string): AsyncGenerator<readonly string[]> {
    const portal = await this.guarded(() => Portal.open(this.client, text, []));
    try {
      for (;;) {
        const rows = await this.guarded(() => portal.next(LINES));
        if (rows.length === 0) return;
        yield rows.map(([line]) => line ?? '');
      }
    } finally {
      await portal.close();
    }
  }

  async run(text: string, bound: Bound = {}): Promise<number> {
    return this.guarded(async () => (await this.client.query(statementOf(text, bound))).rowCount ?? 0);
  }

  async script(text: string): Promise<void> {
    await this.guarded(() => this.client.query(text));
  }

  async alter(statements: readonly string[]): Promise<boolean> {
    return this.guarded(async () => {
      await this.client.query(`SAVEPOINT altering; SET LOCAL lock_timeout = ${PATIENCE_MS}`);
      try {
        await this.client.query(statements.join(';'));
        await this.client.query('SET LOCAL lock_timeout = 0; RELEASE SAVEPOINT altering');
        return true;
      } catch (cause) {
        if (sqlState(cause) !== BUSY) throw cause;
        await this.client.query('ROLLBACK TO SAVEPOINT altering');
        return false;
      }
    });
  }

  async insert(
    table: string,
    columns: readonly Target[],
    rows: Iterable<readonly StoredValue[]>,
    conflict?: Conflict,
  ): Promise<void> {
    if (Array.isArray(rows) && rows.length === 0) return;
    const names = columns.map(({ name }) => quoted(name)).join(', ');
    if (conflict === undefined) {
      return this.guarded(() => copyIn(this.client, `COPY ${table} (${names}) FROM STDIN`, copyLines(columns, rows)));
    }
    const keys = conflict.key.map((key) => columns.findIndex(({ name }) => name === key));
    // The last one of a key counts.
    const distinct = [...new Map([...rows].map((row) => [keys.map((at) => row[at]).join(' '), row])).values()];
    const most = Math.floor(MAX_PARAMETERS / columns.length);
    for (let from = 0; from < distinct.length; from += most) {
      const some = distinct.slice(from, from + most);
      const places = some.map(
        (_, row) => `(${columns.map((_, at) => `$${row * columns.length + at + 1}`).join(', ')})`,
      );
      const values = some.flatMap((row) => columns.map(({ type }, at) => postgresText(type, row[at] ?? null)));
      const text = `INSERT INTO ${table} (${names}) VALUES ${places.join(', ')}${onConflict(columns, conflict)}`;
      await this.guarded(() => this.client.query({ text, values }));
    }
  }

  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.script('BEGIN');
    try {
      const result = await work();
      await this.script('COMMIT');
      return result;
    } catch (cause) {
      await this.client.query('ROLLBACK').catch(() => undefined);
      throw postgresFailure(cause, this.name);
    }
  }

  storable(record: MirrorRecord): MirrorRecord {
    return storableRecord(record);
  }

  storableText(json: string): string {
    return storableJson(json);
  }

  writer(rows: TableRows, hasHistory: boolean, changes: ChangeCounts): PostgresWriter {
    const { table } = rows;
    const rebuilder = table.isDeidentified ? new RecordRebuilder(this, table) : undefined;
    return new PostgresWriter(this, { rows, hasHistory, changes, rebuilder });
  }

  /** Removes everything that a mirror made; the schema stays. */
  async remove(): Promise<void> {
    await this.transaction(async () => {
      await this.script(`DROP VIEW IF EXISTS ${mirrorViews(POSTGRES).map(quoted).join(', ')}`);
      await this.script(`DROP TABLE IF EXISTS ${mirrorTables().map(quoted).join(', ')}`);
    });
  }

  /** The connection is that of the lock, and ends with it. */
  async close(): Promise<void> {}

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw postgresFailure(cause, this.name);
    }
  }
}

/** Strings and quoted names, in which nothing is a parameter; parameters, but not casts (`::type`). */
const PARAMETERS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|(?<!:):([a-z_]+)\b/g;

/** A statement with the parameters that the protocol has: by number. */
function statementOf(text: string, bound: Bound) {
  const names: string[] = [];
  const numbered = text.replace(PARAMETERS, (found, name?: string) => {
    if (name === undefined) return found;
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text: numbered, values: names.map((name) => bound[name]) };
}
