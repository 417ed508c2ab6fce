import type { Index } from '../layout.ts';
import type { Dialect } from '../migrations/dialects.ts';
import type { Transaction } from '../store.ts';
import type { Schema } from './schema.ts';

/** How far a backfill has come: rows done of all rows of a table. */
export interface BackfillProgress {
  readonly table: string;
  readonly done: number;
  readonly rows: number;
}

/** How a store is brought to a schema when it is opened. */
export interface UpgradeOptions {
  /** Called every few seconds of a backfill. */
  readonly progress?: ((progress: BackfillProgress) => void) | undefined;
  /** `SCHEMA` when not given. */
  readonly schema?: Schema;
  /** Rows of one transaction of a backfill; 1000 when not given. */
  readonly pageRows?: number;
  /** Milliseconds without a sign of an older server after which it is taken to be gone for good; 10 minutes when not given. */
  readonly quietMs?: number;
  /** Whoever opens the store says that older servers are gone: the upgrade is finished, or the store not opened. */
  readonly finish?: boolean;
}

/** How indexes are dropped and built while others write. */
export interface Indexing {
  drop(name: string): Promise<void>;
  /** One that is there is left alone; one that another server builds is waited for. */
  build(index: Index): Promise<void>;
}

/** What brings a store to a schema. */
export interface Upgrade extends UpgradeOptions {
  readonly dialect: Dialect;
  readonly schema: Schema;
  /** Runs a work in a transaction of its own, with no time limit; again after a conflict with another server. */
  transact<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Where there is no such way, indexes are built in the transaction that completes the schema. */
  readonly indexing?: Indexing;
  /** Called in the transaction in which the schema is found, or made, complete, or fit to be served by this process. */
  readonly completed?: (tx: Transaction) => Promise<void> | void;
}
