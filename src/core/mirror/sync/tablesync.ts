import { Failure } from '../../failure.ts';
import type { Finding, PublishedTable, ResourceState } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import type { Stream } from './listening.ts';
import { checkLoss } from './lossguard.ts';
import { type ReadContext, ResourceReader } from './reading.ts';

/** What all tables of a sync have in common, besides how to read. */
export interface SyncContext extends Omit<ReadContext, 'stream'> {
  /** Only what the stream has told since the last sync, and what follows from it. */
  readonly isIncrement?: boolean;
}

/** Records changed in these last milliseconds before a sync began are requested again by the next one (D52). */
const OVERLAP = 5 * 60_000;

/** Ids that are fetched at a time. */
const ID_BATCH = 500;

/** How one table is brought up to date: what it takes is staged, and published with the other tables. */
export class TableSync {
  /** Why it stays as it was. */
  failure: Failure | null = null;
  /** Why the service does not give it. */
  unavailable: string | null = null;
  /** Where the stream was before anything was read; undefined without one. */
  head: string | undefined;
  /** Its changes are replayed up to `head`, as it was at an earlier position. */
  isReplayed = false;
  /** Ids of all locations that were asked for their records, where that is how they are listed. */
  locations: readonly string[] | undefined;
  private readonly reader: ResourceReader;
  private found: Finding | null = null;
  /** Rows that it did not find. */
  private missing = 0;
  /** Received changes before this one are older than what was staged. */
  private border = 1;
  /** Changes of it that had been received when its list was last read. */
  private told = 0;

  private constructor(
    private readonly context: SyncContext,
    readonly table: MirrorTable,
    /** What was known of it before. */
    readonly before: ResourceState,
    stream: Stream,
    private readonly began: () => string,
  ) {
    this.reader = new ResourceReader(
      { ...context, stream: () => (this.head === undefined ? undefined : stream) },
      table,
    );
  }

  /** `began`: when the sync began, by the server's clock: UTC. */
  static async open(context: SyncContext, table: MirrorTable, stream: Stream, began: () => string): Promise<TableSync> {
    return new TableSync(context, table, await context.store.resource(table), stream, began);
  }

  /** Whether its records are listed for one location at a time. */
  get isByLocation(): boolean {
    return this.reader.isByLocation;
  }

  /** Whether what is here was true at a position; a first load that came to nothing begins again. */
  get isPlaced(): boolean {
    const { position, complete, progress } = this.before;
    return position !== null && (complete || progress !== null);
  }

  /** Whether this sync has read its list, and not only what the stream told. */
  get isListed(): boolean {
    return !this.before.complete || this.found !== null;
  }

  /** What is received from now on is newer than what is staged. */
  async divide(): Promise<void> {
    const { store } = this.context;
    this.border = (await store.receivedCount()) + 1;
    this.told = await store.receivedCount(this.table);
  }

  async read(): Promise<void> {
    const { before, reader } = this;
    if (!before.complete) return this.load();
    if (this.isReplayed) return this.readUntold();
    const hadStream = before.position !== null;
    const isUnknown = before.since === null || (hadStream && this.head !== undefined);
    if (isUnknown || !reader.tellsChanges) return this.compare();
    await this.readChanges(before.since);
    await this.readGone();
    await this.readAffected();
  }

  /** Fetches records of which only the ids are known; true when there were any. */
  async fetchUnknown(): Promise<boolean> {
    for (let before = ''; ; ) {
      const ids = await this.context.store.unknownIds(this.table, ID_BATCH);
      // Those that are gone by now stay unknown.
      if (ids.length === 0 || ids.join() === before) return before !== '';
      before = ids.join();
      await this.reader.fetch(ids);
    }
  }

  /** Reads what the stream does not tell again, where it has told of changes meanwhile; true when it has. */
  async readAgain(): Promise<boolean> {
    if (this.reader.isTold || (await this.context.store.receivedCount(this.table)) === this.told) return false;
    await this.divide();
    await this.readChanges(this.began());
    await this.readAffected();
    return true;
  }

  /** What is to be published; `end`: the position at which all of it is true, undefined without a stream. */
  published(asOf: string, end: string | undefined): PublishedTable {
    const { found, missing, border } = this;
    const dated = this.reader.tellsChanges;
    return {
      found,
      missing,
      border,
      state: {
        asOf,
        position: end ?? null,
        changes: end !== undefined ? 'stream' : dated ? 'lastModified' : 'whole',
        deletes: end !== undefined ? 'stream' : dated ? 'ids' : 'whole',
        since: this.began(),
      },
    };
  }

  /** The first load, and what changed while it ran. */
  private async load(): Promise<void> {
    const { table, reader, before, isReplayed } = this;
    const { store } = this.context;
    // What comes from here on is replayed once the load is complete, however many runs it takes.
    if (!isReplayed) await store.saveResource(table, { position: this.head ?? null });
    if (reader.isByLocation) this.locations = await store.locations();
    // What earlier runs have loaded may be gone or changed by now, and more may have come.
    const isOld = before.progress !== null;
    await reader.load(before.progress, this.began).catch((cause: unknown) => {
      if (!isOld || !(cause instanceof Failure) || cause.code !== 'pages.incomplete') throw cause;
    });
    const since = before.progress?.since ?? this.began();
    if (isReplayed || (this.head !== undefined && !isOld)) {
      if (!reader.isTold) await this.readChanges(since);
      if (isOld || !reader.isTold) await this.readMiscounted();
      if (!reader.isTold) await this.readAffected();
    } else if (reader.tellsChanges) {
      await this.readChanges(since);
      if (isOld) await this.readGone();
      await this.readAffected();
    } else if (isOld) await this.compare();
  }

  /** What the stream does not tell (specification, Events: transaction sub-types), and what counts tell. */
  private async readUntold(): Promise<void> {
    const { reader, before } = this;
    const { isIncrement } = this.context;
    if (isIncrement && this.told === 0) return;
    // A table that is complete has it: it is written together with the position.
    if (!reader.isTold) await this.readChanges(before.since as string);
    if (!isIncrement) {
      if (reader.isByLocation && (await this.hasNewLocations())) return this.compare();
      await this.readMiscounted();
    }
    if (!reader.isTold) await this.readAffected();
  }

  /** Finds what neither the stream nor a change tells of, such as a deleted payment, where a count does. */
  private async readMiscounted(): Promise<void> {
    if (this.reader.isCounted && !(await this.isCountRight())) await this.sweep();
  }

  /** Whether records name other locations than were asked for their records. */
  private async hasNewLocations(): Promise<boolean> {
    const { store } = this.context;
    return (await store.locations()).join() !== (await store.askedLocations()).join();
  }

  private async readChanges(since: string): Promise<void> {
    const from = Date.parse(since) - OVERLAP;
    await this.reader.stageChanges(new Date(from).toISOString().replace(/\.\d+Z$/, 'Z'));
  }

  /** Finds what no change tells of: rows that are gone, and ids of which nothing is here. */
  private async readGone(): Promise<void> {
    if (this.reader.isFinal && (await this.isCountRight())) return;
    await this.sweep();
  }

  /** Fetches what may have changed with other records: its own `lastModified` need not tell. */
  private async readAffected(): Promise<void> {
    // Records of which only the ids are known so far affect others, too.
    await this.fetchUnknown();
    await this.reader.fetch(await this.context.store.affectedIds(this.table, this.found));
  }

  /** Whether the service has as many records as there will be rows; not without an answer: then only the ids can tell. */
  private async isCountRight(): Promise<boolean> {
    return (await this.reader.count()) === (await this.context.store.expectedRows(this.table));
  }

  private async sweep(): Promise<void> {
    const { table, reader } = this;
    const { store } = this.context;
    this.missing = await checkLoss(reader, store, 'ids', await reader.sweep());
    this.found = 'ids';
    // No filter by lastModified finds the rows that have none.
    for (let after: string | undefined = '0'; ; ) {
      const ids = await store.undatedIds(table, after, ID_BATCH);
      after = ids.at(-1);
      if (after === undefined) return;
      await reader.fetch(ids);
    }
  }

  private async compare(): Promise<void> {
    const { reader } = this;
    const { store } = this.context;
    if (reader.isByLocation) this.locations = await store.locations();
    this.missing = await checkLoss(reader, store, 'compare', await reader.stageAll());
    this.found = 'compare';
  }
}
