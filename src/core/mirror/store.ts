import type { ChangeOperation } from '../../catalog/stream/domains.ts';
import type { WalkPosition } from '../pages/walkoptions.ts';
import type { MirrorRecord } from './records.ts';
import type { MirrorTable } from './tables.ts';

/** What a mirror was made with and keeps (D52). */
export interface MirrorChoices {
  /** Every version is kept. */
  readonly history: boolean;
  /** Fields that were chosen, by resource; all of the others. */
  readonly columns: Readonly<Record<string, readonly string[]>>;
  /** IANA name of the zone of local times, where one was named. */
  readonly timezone: string | null;
  /** The key of the pseudonyms, where it holds no originals; absent in older files. */
  readonly deidentified?: DeidentifiedChoice | null;
  /** Absolute path of the folder for the contents of documents, where they are kept; absent in older files. */
  readonly files?: string | null;
}

/** The key that a de-identified mirror was made with. */
export interface DeidentifiedChoice {
  /** Tells it from other keys. */
  readonly key: string;
  /** Absolute path of its file. */
  readonly file: string;
}

/** What a mirror is of. */
export interface MirrorFacts extends MirrorChoices {
  readonly organization: string;
  /** What stands before `/api/v1`. */
  readonly url: string;
}

/** How far a first load has come. */
export interface LoadProgress extends WalkPosition {
  /** Records that changed from then on may have been read before they did: UTC by the server's clock. */
  readonly since: string;
}

/** What is known of one resource; instants are UTC. */
export interface ResourceState {
  readonly rows: number;
  readonly deletedRows: number;
  /** The first load is finished. */
  readonly complete: boolean;
  readonly asOf: string | null;
  /** Where the stream was when this was so; before the first load is finished: when it began. */
  readonly position: string | null;
  readonly changes: 'stream' | 'lastModified' | 'whole' | null;
  readonly deletes: 'stream' | 'ids' | 'whole' | null;
  readonly verifiedAt: string | null;
  /** Why the service does not give it. */
  readonly unavailable: string | null;
  /** Changes from then on have not been requested yet, by the server's clock; null: everything has to be compared. */
  readonly since: string | null;
  readonly progress: LoadProgress | null;
}

/** A change as the stream tells it. */
export interface ReceivedChange {
  readonly table: MirrorTable;
  readonly id: string;
  readonly operation: ChangeOperation;
  /** When it was sent. */
  readonly at: string;
  /** Its payload, JSON. */
  readonly payload: string;
}

/** A document whose content can be kept. */
export interface MirroredDocument {
  /** Digits. */
  readonly id: string;
  /** Null where the mirror does not have the field, or the document no name; so is `guid`. */
  readonly name: string | null;
  readonly guid: string | null;
}

/** How many rows of a table changed. */
export interface RowChanges {
  readonly added: number;
  readonly changed: number;
  readonly deleted: number;
}

/** What says which rows the server has: a sweep of ids, or a comparison of all records. */
export type Finding = 'ids' | 'compare';

/** A table that is whole. */
export interface PublishedTable {
  /** What is known of it from now on. */
  readonly state: Partial<ResourceState>;
  /** Rows that it did not find are deleted; null: none was made to the end. */
  readonly found: Finding | null;
  /** Rows that it did not find, at most; with more of them, what it found has been lost. */
  readonly missing: number;
  /**
   * The received changes before this one, counted from 1, are older than what was staged; but a record whose deletion is the
   * last of them stays deleted.
   */
  readonly border: number;
}

/** What is to become visible at once. */
export interface Publication {
  readonly tables: ReadonlyMap<MirrorTable, PublishedTable>;
  /** Ids of all locations that were asked for their records, where they were. */
  readonly locations: readonly string[] | undefined;
  /** UTC. */
  readonly at: string;
}

/**
 * Where a mirror is kept. What arrives is loaded (first load: straight into tables that nobody reads yet) or staged, and
 * becomes visible by `publish`. Every method that writes is a transaction of its own.
 */
export interface MirrorStore {
  readonly facts: MirrorFacts;
  resource(table: MirrorTable): Promise<ResourceState>;
  saveResource(table: MirrorTable, state: Partial<ResourceState>): Promise<void>;
  /** Writes records of a first load into their table, together with how far it has come. */
  load(table: MirrorTable, records: readonly MirrorRecord[], progress: LoadProgress): Promise<void>;
  /** Keeps records until they are published; the last one of an id counts. */
  stage(table: MirrorTable, records: readonly MirrorRecord[]): Promise<void>;
  /** Keeps ids that the server has; those of a comparison are kept by `stage`. */
  stageIds(table: MirrorTable, ids: readonly string[]): Promise<void>;
  /** Forgets everything staged and received, as a sync does that begins. */
  discard(): Promise<void>;
  /** Keeps changes of the stream until they are published. */
  receive(changes: readonly ReceivedChange[]): Promise<void>;
  /** Changes received and not published, of one table or in all. */
  receivedCount(table?: MirrorTable): Promise<number>;
  /** Ids that the server has, or that an update names, of which nothing is here: at most `limit`. */
  unknownIds(table: MirrorTable, limit: number): Promise<readonly string[]>;
  /** Some ids of rows that were not found. */
  missingIds(table: MirrorTable, found: Finding, limit: number): Promise<readonly string[]>;
  /** Ids of all locations that any record names. */
  locations(): Promise<readonly string[]>;
  /** Ids of all locations that had been asked for their records at the last publication of them. */
  askedLocations(): Promise<readonly string[]>;
  /** Ids of rows without `lastModified`, which no filter by it finds: at most `limit` above `after`. */
  undatedIds(table: MirrorTable, after: string, limit: number): Promise<readonly string[]>;
  /** Some documents above an id, by id. */
  documents(after: string, limit: number): Promise<readonly MirroredDocument[]>;
  /**
   * Ids of records that may have changed with those that were staged or not found, by what is staged and what is here:
   * patients who referred others, and transactions that others correct.
   */
  affectedIds(table: MirrorTable, found: Finding | null): Promise<readonly string[]>;
  /** Rows that the table will have once everything is published. */
  expectedRows(table: MirrorTable): Promise<number>;
  /** Rows, and how many of them were not found. */
  missingRows(table: MirrorTable, found: Finding): Promise<{ readonly rows: number; readonly missing: number }>;
  /** Makes everything staged and received visible, and forgets it. Throws a Failure (exit 8) for more missing rows than told. */
  publish(publication: Publication): Promise<ReadonlyMap<MirrorTable, RowChanges>>;
  close(): Promise<void>;
}
