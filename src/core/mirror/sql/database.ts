import { quoted } from '../names.ts';
import type { MirrorRecord } from '../records.ts';
import type { TableRows } from '../rows.ts';
import type { ColumnType, MirrorColumn } from '../tables.ts';
import type { StoredValue } from '../values.ts';
import type { View, ViewDialect } from '../views.ts';

/** Values of the parameters of a statement, by name; truth values are what the database has for them. */
export type Bound = Readonly<Record<string, StoredValue | boolean>>;

/** A column of a table that is written to. */
export type Target = Pick<MirrorColumn, 'name' | 'type'>;

/** How the SQL of a database differs from that of another (D52). */
export interface Dialect extends ViewDialect {
  readonly types: Readonly<Record<ColumnType, string>>;
  /** What follows the columns of a table that is read by its primary key alone. */
  readonly keyed: string;
  /** What makes a table that nothing is lost with when the computer stops: `CREATE …`. */
  readonly scratch: string;
  /** A join that goes through its first table. */
  readonly orderedJoin: string;
  /** The condition that a whole number is in a list, which is a parameter. */
  readonly isAmong: (number: string, parameter: string) => string;
  /** The value of such a parameter. */
  readonly list: (ids: readonly string[]) => string;
  /** The whole number at a path (`location.id`) of a JSON text; anything else is null or zero. */
  readonly numberAt: (json: string, path: string) => string;
  /** The condition that a record (`_record`) has no such member. */
  readonly lacksMember: (record: string, name: string) => string;
  /** The condition that a record has a member, named by a parameter, that is not null. */
  readonly hasMember: (record: string, parameter: string) => string;
  /** The rows of `_columns` that a condition selects, in the order in which they were made. */
  readonly columns: (where: string) => string;
  /** The columns of a table or view, with their types, as `name` and `type`; the parameter is `:name`. */
  readonly tableColumns: string;
  /** Statements that make a view, or make it anew with more columns at its end. */
  readonly replaceView: (view: View) => readonly string[];
  /** A JSON array of columns as one line of text, which is the same for equal rows. */
  readonly line: (columns: readonly Target[]) => string;
}

/** What happens to rows that are there already, by the columns of their key. */
export interface Conflict {
  readonly key: readonly string[];
  /** They are left as they are; else replaced. */
  readonly keeps?: boolean;
}

/** The end of an INSERT of these columns that meets rows which are there already. */
export function onConflict(columns: readonly Target[], { key, keeps = false }: Conflict): string {
  const others = columns.filter(({ name }) => !key.includes(name)).map(({ name }) => quoted(name));
  const action = keeps ? 'NOTHING' : `UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`;
  return ` ON CONFLICT (${key.map(quoted).join(', ')}) DO ${action}`;
}

/** Rows that were written. */
export interface ChangeCounts {
  added: number;
  changed: number;
  deleted: number;
}

/** A record, and from when it is what it says. */
export interface Version {
  readonly record: MirrorRecord;
  /** UTC. */
  readonly since: string;
}

/** A row that is gone. */
export interface Deletion {
  readonly id: string;
  /** UTC. */
  readonly at: string;
}

/** What makes a writer of rows. */
export interface WriterParts {
  /** Makes the rows; its columns must be those of the tables. */
  readonly rows: TableRows;
  readonly hasHistory: boolean;
  /** Counts what `put` and `remove` do. */
  readonly changes: ChangeCounts;
  /** Of a de-identified copy, which has no records as they came. */
  readonly rebuilder: Rebuilder | undefined;
}

/** Makes the records of rows again, by their ids, JSON. */
export interface Rebuilder {
  recordsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Writes rows of one table, its child tables, its tombstones and its history; to be used within a transaction. */
export interface TableWriter {
  readonly hasHistory: boolean;
  /** Writes records of a first load; one that is there already is replaced. */
  load(records: readonly MirrorRecord[], at: string): Promise<void>;
  /** Records as they are here, by their ids: JSON without blanks. */
  textsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Makes the rows of records what these say, each id once. Nothing is written that is so already. */
  put(versions: readonly Version[], at: string): Promise<void>;
  /** As `put`, whatever the rows are. */
  rewrite(records: readonly MirrorRecord[], at: string): Promise<void>;
  /** Makes rows tombstones, those that are there; each id once. */
  remove(deletions: readonly Deletion[]): Promise<void>;
}

/**
 * The database of a mirror, on one connection. Parameters of statements are `:name`; whole numbers of results are exact
 * up to 2^53, so that ids are to be asked for as text. Everything throws Failures.
 */
export interface MirrorDatabase {
  /** What it is called where users see it: a path, or an address without a password. */
  readonly name: string;
  /** The schema that its tables are in. */
  readonly schema: string;
  readonly dialect: Dialect;
  /** Whether it has no mirror yet. Throws a Failure with exit code 9 for what must not be touched. */
  isNew(): Promise<boolean>;
  /** Makes a database without tables a mirror. */
  mark(): Promise<void>;
  rows<T = Readonly<Record<string, unknown>>>(text: string, bound?: Bound): Promise<T[]>;
  /** Rows as lists of their values, whole numbers as bigints. */
  exactRows(text: string, bound?: Bound): Promise<readonly (readonly StoredValue[])[]>;
  /** Texts of the first column of a query, some at a time. */
  lines(text: string): AsyncIterable<readonly string[]>;
  /** Runs a statement; how many rows it has changed. */
  run(text: string, bound?: Bound): Promise<number>;
  /** Runs statements without parameters, separated by semicolons. */
  script(text: string): Promise<void>;
  /**
   * Changes tables that others read in a way that they do not notice. False when these are so busy that they would have to
   * wait; nothing is changed then.
   */
  alter(statements: readonly string[]): Promise<boolean>;
  /** Adds rows, each made when it is due; of several with the same key the last one counts. */
  insert(
    table: string,
    columns: readonly Target[],
    rows: Iterable<readonly StoredValue[]>,
    conflict?: Conflict,
  ): Promise<void>;
  /** Runs what has to happen as a whole; not to be nested. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /** A record as this database can hold it. */
  storable(record: MirrorRecord): MirrorRecord;
  /** JSON as this database can hold it. */
  storableText(json: string): string;
  writer(rows: TableRows, hasHistory: boolean, changes: ChangeCounts): TableWriter;
  close(): Promise<void>;
}
