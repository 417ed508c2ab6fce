import type { Sql } from 'sql-template-tag';

/** A statement with its values: `sql` has `?` places (SQLite), `text` has `$1` places (PostgreSQL). */
export interface Statement {
  readonly sql: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

export type Row = Readonly<Record<string, unknown>>;

/** Reading: each statement sees one consistent state of what has been committed. */
export interface Reader {
  all<T extends object = Row>(statement: Statement): Promise<T[]>;
  get<T extends object = Row>(statement: Statement): Promise<T | undefined>;
  /**
   * The same for statements that may take long, where they run in this thread: in another one, in which owners, such as an
   * organization's key, take turns.
   */
  aside?(owner: unknown): Reader;
}

/** The reader for an owner's statements that may take long. */
export function asideOf(read: Reader, owner: unknown): Reader {
  return read.aside?.(owner) ?? read;
}

/** Tables whose rows are numbered in the order of commits: the stream's messages, and who did what. */
export type LogName = 'stream' | 'audit';

/** The values of a row, in the order of its log's columns; the store adds the number and, where chained, the hash. */
export type LogValues = readonly (string | number | null)[];

export interface LogRow {
  readonly log: LogName;
  readonly values: LogValues;
}

/** By how much the number of records of a table at a place changes. */
export interface CountChange {
  readonly org: number;
  readonly table: string;
  /** Id of the location that `Layout.place` has of the records; 0 for those without. */
  readonly place: number;
  readonly by: number;
}

/** Reading and writing inside one transaction. Only an import may await anything but statements while it is open. */
export interface Transaction extends Reader {
  /** Number of rows changed; after `beginBulkLoad` a store may return 0 without waiting, and throw faults later. */
  run(statement: Statement): Promise<number>;
  /** Changes rows without waiting for it, where the store can: it may throw its fault later, at the latest with the commit. */
  queue(statement: Statement): Promise<void>;
  /** The next id of a type: above every id the type ever had in the organization (D15). */
  nextId(org: number, type: string): Promise<number>;
  /** Notes that there are more records, or fewer. It is written when this write ends; nothing reads it before. */
  count(change: CountChange): void;
  /** Appends a row to a log. It is numbered, in the order of commits, when this write ends; nothing reads it before. */
  append(row: LogRow): Promise<void>;
  /**
   * Appends the rows of one organization that `select` yields to the log of the stream: their columns, after a `position`
   * that counts from 1.
   * Only after `beginBulkLoad`, for very many rows: they need not leave the database.
   */
  appendSelected(org: number, select: Sql, rows: number): Promise<void>;
  /**
   * Prepares a bulk load into tables; `restore` must run before the transaction ends. Call it first: a store may run the
   * work again from its start. There is no time limit from here on, and no retry after a conflict.
   */
  beginBulkLoad(tables: readonly string[]): Promise<{ restore(): Promise<void> }>;
}

/** One import's rows, apart from what requests read and write (`STAGING_TABLES`). */
export interface StagingArea {
  /** Sees what is staged, and the tables of the store. */
  readonly read: Reader;
  /** Runs statements on what is staged; they are committed together. */
  write(statements: readonly Statement[]): Promise<void>;
  /** Resolves when all of it is on disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The right to import, which one process has at a time. */
export interface ImportClaim {
  /** Opens the area of an import, made when there is none. */
  open(name: string): Promise<StagingArea>;
  /** Names of the imports that have one. */
  names(): Promise<readonly string[]>;
  remove(name: string): Promise<void>;
  /** Throws when it has passed to another process, which took this one for dead; it passes to none before `tx` ends. */
  confirm(tx: Transaction): Promise<void>;
  release(): Promise<void>;
}

/** Statements of a transaction, for what writes its logs. */
export type Writing = Pick<Transaction, 'all' | 'get' | 'run' | 'queue'>;

/**
 * The store: committed state to read, and writes that are all or nothing. A resolved `write` is on disk. Writes that
 * come in together may share one commit; one that throws leaves no trace and harms none of the others. A work may be
 * run again when another one was in its way, so it changes nothing but what is stored. Writes of one organization
 * (`org`) run one after another, whichever server they come to: each sees what the one before it left.
 */
export interface Store {
  readonly read: Reader;
  /**
   * Reads for an owner, such as an organization's key: where statements wait for a connection, owners get one in turn.
   * `read` itself is another owner.
   */
  readFor(owner: unknown): Reader;
  /** As `readFor`, for a row by its key, which takes next to nothing: where the database is another process, they are sent together. */
  lookupsFor(owner: unknown): Reader;
  write<T>(work: (tx: Transaction) => Promise<T>, org?: number): Promise<T>;
  /**
   * Appends rows to logs, on disk when it resolves. It changes no record, so `countCache` stays and no listener is called.
   */
  appendLogs(rows: readonly LogRow[]): Promise<void>;
  /**
   * Resolves when every entry of the audit log that is committed has its number and hash: where several servers write,
   * it gets them a moment after its commit. Await it before the log is read.
   */
  sequenceEntries(): Promise<void>;
  /**
   * A cache for counts of what is committed now: the same map until anybody commits, then a new, empty one. A store that
   * cannot tell returns an empty one each time; one that several servers use may learn of the others' commits a moment
   * later. `table`: counts of that table alone, valid until it is written, where the store can tell; what another process
   * writes they may miss for some seconds.
   */
  countCache(table?: string): Map<string, number>;
  /**
   * Statements that are committed by themselves, for what several servers on the store agree about. Undefined when only
   * one server can have the store open.
   */
  readonly shared?: Pick<Reader, 'get'>;
  /** Becomes the only process that imports; undefined while another one is, and is alive. */
  claimImports(): Promise<ImportClaim | undefined>;
  /** Calls `listener` after each commit of this process, until the function that is returned is called. */
  onCommit(listener: () => void): () => void;
  /** Gives memory and journal space back after a bulk write. */
  tidy(): Promise<void>;
  /** Rejects when the store does not respond, and with `SchemaMismatch` when its tables are not those of this process. */
  ping(): Promise<void>;
  /** How much has been written since the store was opened. */
  readonly counts: Readonly<StoreCounts>;
  /** Connections to the database, where that is another process. */
  connections?(): StoreConnections;
  close(): Promise<void>;
}

/** Connections of all pools: open ones, idle ones among them, and works that wait for one. */
export interface StoreConnections {
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Writes that ran, refused ones included, and the commits that they shared. */
export interface StoreCounts {
  writes: number;
  commits: number;
}

/** The store cannot be used as it is: locked by another server, of a newer version, or damaged. */
export class StoreUnusable extends Error {
  constructor(
    message: string,
    readonly next: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'StoreUnusable';
  }
}
