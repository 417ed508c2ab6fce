import { existsSync } from 'node:fs';
import type { Statement } from 'better-sqlite3';
import type { Connection } from '../../../sqlite/open.ts';
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
import type { StoredValue } from '../values.ts';
import { guarded, markAsMirror, openToRead, openToWrite } from './connection.ts';
import { SQLITE } from './dialect.ts';
import { SqliteWriter } from './tablewriter.ts';

/** Lines of a query that are given on together. */
const LINES = 500;

/** The file of a mirror (D52). Nothing in it waits for anything: a transaction is not interrupted by other work of the process. */
export class SqliteDatabase implements MirrorDatabase {
  readonly schema = 'main';
  readonly dialect = SQLITE;
  /** Prepared once: the garbage collector does not know how much memory SQLite keeps for each. */
  private readonly statements = new Map<string, Statement>();

  private constructor(
    readonly name: string,
    private readonly connection: Connection,
  ) {}

  /** The database of a connection, which the caller closes. */
  static over(connection: Connection): SqliteDatabase {
    return new SqliteDatabase(connection.name, connection);
  }

  /** Opens a file to write, and makes it where there is none. Throws a Failure with exit code 9. */
  static async open(file: string): Promise<SqliteDatabase> {
    return new SqliteDatabase(file, await openToWrite(file));
  }

  /** What `work` reads of the mirror in a file; undefined where there is none. Throws a Failure with exit code 9. */
  static async read<T>(file: string, work: (database: SqliteDatabase) => Promise<T>): Promise<T | undefined> {
    if (!existsSync(file)) return undefined;
    const connection = openToRead(file);
    if (connection === undefined) return undefined;
    const database = new SqliteDatabase(file, connection);
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  async isNew(): Promise<boolean> {
    return (await this.rows("SELECT 1 FROM sqlite_master WHERE name = '_mirror'")).length === 0;
  }

  async mark(): Promise<void> {
    this.guarded(() => markAsMirror(this.connection));
  }

  async rows<T>(text: string, bound: Bound = {}): Promise<T[]> {
    return this.guarded(() => this.prepare(text).all(valuesOf(bound)) as T[]);
  }

  async exactRows(text: string, bound: Bound = {}): Promise<readonly (readonly StoredValue[])[]> {
    return this.guarded(() => {
      const statement = this.connection.prepare<[object], StoredValue[]>(text).raw().safeIntegers();
      return statement.all(valuesOf(bound));
    });
  }

  async *lines(text: string): AsyncGenerator<readonly string[]> {
    const rows = this.guarded(() => this.connection.prepare(text).pluck().safeIntegers().iterate());
    let lines: string[] = [];
    for (;;) {
      const { done, value } = this.guarded(() => rows.next());
      if (done !== true) lines.push(String(value));
      if (lines.length >= LINES || (done === true && lines.length > 0)) {
        yield lines;
        lines = [];
      }
      if (done === true) return;
    }
  }

  async run(text: string, bound: Bound = {}): Promise<number> {
    return this.guarded(() => this.prepare(text).run(valuesOf(bound)).changes);
  }

  async script(text: string): Promise<void> {
    this.guarded(() => this.connection.exec(text));
  }

  async alter(statements: readonly string[]): Promise<boolean> {
    await this.script(statements.join(';'));
    return true;
  }

  async insert(
    table: string,
    columns: readonly Target[],
    rows: Iterable<readonly StoredValue[]>,
    conflict?: Conflict,
  ): Promise<void> {
    const names = columns.map(({ name }) => quoted(name)).join(', ');
    const places = columns.map(() => '?').join(', ');
    const text = `INSERT INTO ${table} (${names}) VALUES (${places})${conflict ? onConflict(columns, conflict) : ''}`;
    this.guarded(() => {
      const statement = this.prepare(text);
      for (const row of rows) statement.run(...row);
    });
  }

  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.script('BEGIN IMMEDIATE');
    try {
      const result = await work();
      await this.script('COMMIT');
      return result;
    } catch (cause) {
      if (this.connection.inTransaction) await this.script('ROLLBACK');
      return this.guarded(() => {
        throw cause;
      });
    }
  }

  storable(record: MirrorRecord): MirrorRecord {
    return record;
  }

  storableText(json: string): string {
    return json;
  }

  writer(rows: TableRows, hasHistory: boolean, changes: ChangeCounts): SqliteWriter {
    const { table } = rows;
    const rebuilder = table.isDeidentified ? new RecordRebuilder(this, table) : undefined;
    return this.guarded(() => new SqliteWriter(this.connection, { rows, hasHistory, changes, rebuilder }));
  }

  async close(): Promise<void> {
    this.connection.close();
  }

  private prepare(text: string): Statement {
    const statement = this.statements.get(text) ?? this.connection.prepare(text);
    this.statements.set(text, statement);
    return statement;
  }

  private guarded<T>(work: () => T): T {
    return guarded(this.name, work);
  }
}

function valuesOf(bound: Bound): Record<string, StoredValue> {
  const values = Object.entries(bound).map(([name, value]) => [
    name,
    typeof value === 'boolean' ? Number(value) : value,
  ]);
  return Object.fromEntries(values);
}
