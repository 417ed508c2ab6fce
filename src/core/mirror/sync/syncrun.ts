import { EXIT } from '../../../catalog/failures.ts';
import { readingBegan } from '../../exports/bookmark.ts';
import { Failure, isInterruption } from '../../failure.ts';
import type { Finding, PublishedTable, ResourceState, RowChanges } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import { placeOf, Stream } from './listening.ts';
import { checkLoss } from './lossguard.ts';
import { type ReadContext, ResourceReader } from './reading.ts';
import { refusalOf } from './refusal.ts';

/** What a sync did with one resource. */
export interface ResourceOutcome extends RowChanges {
  readonly table: MirrorTable;
  readonly rows: number;
  readonly complete: boolean;
  readonly unavailable: string | null;
  /** Why it stayed as it was. */
  readonly failure: Failure | null;
}

/** What a sync did. */
export interface SyncOutcome {
  readonly resources: readonly ResourceOutcome[];
  readonly position: string | null;
  readonly asOf: string;
}

/** What a sync is to do, besides how to read. */
export interface SyncOrder extends Omit<ReadContext, 'stream'> {
  readonly tables: readonly MirrorTable[];
  /** Milliseconds that the clock of the server is ahead of ours, by its last response; undefined where it does not say. */
  readonly clockAhead: () => number | undefined;
  /** Only what the stream has told since the last sync, and what follows from it. */
  readonly isIncrement?: boolean;
  /** Called before each resource is read. */
  readonly onTable: (table: MirrorTable) => void;
}

/** Records changed in these last milliseconds before a sync began are requested again by the next one (D52). */
const OVERLAP = 5 * 60_000;

/** Rounds in which changes that arrive meanwhile are followed before a sync ends. */
const MAX_ROUNDS = 5;

/** Ids that are fetched at a time. */
const ID_BATCH = 500;

/** Brings the tables up to date, all that are whole at once (D52). Throws what no resource survives. */
export function syncOnce(order: SyncOrder): Promise<SyncOutcome> {
  return new SyncRun(order).run();
}

/** How a table is brought up to date in this run. */
interface Plan {
  readonly table: MirrorTable;
  readonly reader: ResourceReader;
  readonly before: ResourceState;
  found: Finding | null;
  /** Rows that it did not find. */
  missing: number;
  /** Received changes before this one are older than what was staged. */
  border: number;
  /** Changes of it that had been received when its list was last read. */
  told: number;
}

class SyncRun {
  private readonly startedAt: number;
  private readonly stream: Stream;
  private readonly failures = new Map<MirrorTable, Failure>();
  private readonly unavailable = new Map<MirrorTable, string>();
  private readonly plans: Plan[];
  /** Where the stream was before anything was read; undefined without one. */
  private head: string | undefined;
  private locations: readonly string[] | undefined;
  /** Tables whose changes are replayed up to `head`, as they were at an earlier position. */
  private readonly replayed = new Set<MirrorTable>();

  constructor(private readonly order: SyncOrder) {
    const { client, now, signal, store, deidentifier } = order;
    this.startedAt = now();
    this.stream = new Stream(client, now, signal, deidentifier);
    const stream = () => (this.head === undefined ? undefined : this.stream);
    this.plans = order.tables.map((table) => ({
      table,
      reader: new ResourceReader({ ...order, stream }, table),
      before: store.resource(table),
      found: null,
      missing: 0,
      border: 1,
      told: 0,
    }));
  }

  async run(): Promise<SyncOutcome> {
    const { store } = this.order;
    await store.discard();
    this.head = await this.stream.head(this.plans.some(({ before }) => before.position !== null));
    await this.replay();
    for (const plan of this.plans) {
      plan.border = store.receivedCount() + 1;
      plan.told = store.receivedCount(plan.table);
    }
    for (const plan of this.plans) await this.attempt(plan, () => this.read(plan));
    const end = await this.settle();
    return this.publish(end);
  }

  /** Runs a step for one resource; its failure leaves the others alone. */
  private async attempt({ table }: Plan, work: () => Promise<void>): Promise<void> {
    if (this.failures.has(table) || this.unavailable.has(table)) return;
    try {
      await work();
    } catch (cause) {
      this.order.signal.throwIfAborted();
      if (!(cause instanceof Failure) || isInterruption(cause) || cause.exitCode === EXIT.file) throw cause;
      const unavailable = refusalOf(cause, this.order.deidentifier !== undefined);
      if (unavailable !== undefined) {
        this.unavailable.set(table, unavailable);
        return this.order.store.saveResource(table, { unavailable });
      }
      // What concerns every resource ends the run where none is whole yet.
      if (cause.exitCode === EXIT.auth) throw cause;
      this.failures.set(table, cause);
    }
  }

  /** Keeps what the stream told since the tables were true, where it still can. */
  private async replay(): Promise<void> {
    const { head } = this;
    const { store } = this.order;
    if (head === undefined) return;
    const tables = this.plans.filter(({ before }) => before.position !== null);
    const [oldest] = tables
      .map(({ before }) => before.position as string)
      .sort((a, b) => placeOf(a).number - placeOf(b).number);
    if (oldest === undefined) return;
    if (!tables.every(({ before }) => placeOf(before.position ?? '').epoch === placeOf(head).epoch)) return;
    const known = new Map(tables.map(({ table, before }) => [table, placeOf(before.position ?? '').number]));
    if (await this.stream.replay(oldest, head, store, known)) for (const { table } of tables) this.replayed.add(table);
    else await store.discard();
  }

  private async read(plan: Plan): Promise<void> {
    const { table, before } = plan;
    this.order.onTable(table);
    if (!before.complete) return this.load(plan);
    if (this.replayed.has(table)) return this.readUntold(plan);
    const hadStream = before.position !== null;
    const isUnknown = before.since === null || (hadStream && this.head !== undefined);
    if (isUnknown || !plan.reader.tellsChanges) return this.compare(plan);
    await this.readChanges(plan, before.since);
    await this.sweep(plan);
  }

  /** The first load, and what changed while it ran. */
  private async load(plan: Plan): Promise<void> {
    const { table, reader, before } = plan;
    const { store } = this.order;
    const isReplayed = this.replayed.has(table);
    // What comes from here on is replayed once the load is complete, however many runs it takes.
    if (!isReplayed) await store.saveResource(table, { position: this.head ?? null });
    if (reader.isByLocation) this.locations = store.locations();
    await reader.load(before.progress, () => this.began());
    if (isReplayed && reader.isTold) return;
    if (this.head !== undefined && before.progress === null) return;
    if (reader.tellsChanges) await this.readChanges(plan, before.progress?.since ?? this.began());
    if (before.progress === null || isReplayed) return;
    // What earlier runs have loaded may be gone or changed by now.
    if (reader.tellsChanges) await this.sweep(plan);
    else await this.compare(plan);
  }

  /** What the stream does not tell (specification, Events: transaction sub-types), and what counts tell. */
  private async readUntold(plan: Plan): Promise<void> {
    const { table, reader, before } = plan;
    const { store } = this.order;
    if (this.order.isIncrement && plan.told === 0) return;
    if (!reader.isTold) await this.readChanges(plan, before.since);
    if (this.order.isIncrement) return;
    if (reader.isByLocation && store.locations().join() !== store.askedLocations().join()) return this.compare(plan);
    if (!reader.isCounted) return;
    // Without an answer only the ids can tell.
    if ((await reader.count()) !== store.expectedRows(table)) await this.sweep(plan);
  }

  private async readChanges({ reader }: Plan, since: string | null): Promise<void> {
    const from = Date.parse(since ?? this.began()) - OVERLAP;
    await reader.stageChanges(new Date(from).toISOString().replace(/\.\d+Z$/, 'Z'));
  }

  /** Finds rows that are gone, and ids of which nothing is here. */
  private async sweep(plan: Plan): Promise<void> {
    const { table, reader } = plan;
    const { store } = this.order;
    plan.missing = await checkLoss(reader, store, 'ids', await reader.sweep());
    plan.found = 'ids';
    // No filter by lastModified finds the rows that have none.
    for (let after = '0'; ; ) {
      const ids = store.undatedIds(table, after, ID_BATCH);
      if (ids.length === 0) return;
      await reader.fetch(ids);
      after = ids.at(-1) ?? after;
    }
  }

  private async compare(plan: Plan): Promise<void> {
    if (plan.reader.isByLocation) this.locations = this.order.store.locations();
    plan.missing = await checkLoss(plan.reader, this.order.store, 'compare', await plan.reader.stageAll());
    plan.found = 'compare';
  }

  /** Fetches what is known by its id alone, and follows the stream meanwhile; the position at which all is true. */
  private async settle(): Promise<string | undefined> {
    const { store } = this.order;
    let { head } = this;
    const all = new Map(this.plans.map(({ table }) => [table, 0]));
    let isRead = this.plans.some(({ before, found }) => !before.complete || found !== null);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      for (const plan of this.plans)
        await this.attempt(plan, async () => {
          isRead = (await this.fetchUnknown(plan)) || isRead;
        });
      if (head === undefined || !isRead) return head;
      const next = await this.stream.head();
      if (next === undefined || next === head || !(await this.stream.replay(head, next, store, all))) return head;
      head = next;
      isRead = false;
      for (const plan of this.plans)
        await this.attempt(plan, async () => {
          isRead = (await this.readAgain(plan)) || isRead;
        });
    }
    return head;
  }

  /** Fetches records whose ids alone are known; true when there were any. */
  private async fetchUnknown({ table, reader }: Plan): Promise<boolean> {
    for (let before = ''; ; ) {
      const ids = this.order.store.unknownIds(table, ID_BATCH);
      // Those that are gone by now stay unknown.
      if (ids.length === 0 || ids.join() === before) return before !== '';
      before = ids.join();
      await reader.fetch(ids);
    }
  }

  /** Reads what the stream does not tell again, where it has told of changes meanwhile; true when it has. */
  private async readAgain(plan: Plan): Promise<boolean> {
    const { store } = this.order;
    if (plan.reader.isTold || store.receivedCount(plan.table) === plan.told) return false;
    plan.told = store.receivedCount(plan.table);
    plan.border = store.receivedCount() + 1;
    await this.readChanges(plan, this.began());
    return true;
  }

  private async publish(end: string | undefined): Promise<SyncOutcome> {
    const { store, now } = this.order;
    const whole = this.plans.filter(({ table }) => !this.failures.has(table) && !this.unavailable.has(table));
    const asOf = new Date(end === undefined ? this.startedAt : now()).toISOString();
    const tables = new Map(whole.map((plan) => [plan.table, this.published(plan, asOf, end)]));
    const locations = whole.some(({ reader }) => reader.isByLocation) ? this.locations : undefined;
    const changes = await store.publish({ tables, locations, at: this.order.deidentifier?.instant(asOf) ?? asOf });
    const none: RowChanges = { added: 0, changed: 0, deleted: 0 };
    const resources = this.plans.map(({ table }) => ({
      table,
      rows: store.resource(table).rows,
      ...(changes.get(table) ?? none),
      complete: tables.has(table),
      unavailable: this.unavailable.get(table) ?? null,
      failure: this.failures.get(table) ?? null,
    }));
    return { resources, position: end ?? null, asOf };
  }

  private published({ reader, found, missing, border }: Plan, asOf: string, end: string | undefined): PublishedTable {
    const dated = reader.tellsChanges;
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

  /** When reading began, by the server's clock. */
  private began(): string {
    const ahead = this.order.clockAhead();
    // The header has whole seconds.
    const there = ahead === undefined ? undefined : this.startedAt + ahead - 1000;
    return new Date(readingBegan(this.startedAt, there)).toISOString();
  }
}
