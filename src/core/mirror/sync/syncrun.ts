import { EXIT } from '../../../catalog/failures.ts';
import { readingBegan } from '../../exports/bookmark.ts';
import { Failure, isInterruption } from '../../failure.ts';
import type { RowChanges } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import { placeOf, Stream } from './listening.ts';
import { isOfMirror, refusalOf } from './refusal.ts';
import { type SyncContext, TableSync } from './tablesync.ts';

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

/** What a sync is to do, and how. */
export interface SyncOrder extends SyncContext {
  readonly tables: readonly MirrorTable[];
  /** Milliseconds that the clock of the server is ahead of ours, by its last response; undefined where it does not say. */
  readonly clockAhead: () => number | undefined;
  /** Called before each resource is read. */
  readonly onTable: (table: MirrorTable) => void;
}

/** Rounds in which changes that arrive meanwhile are followed before a sync ends. */
const MAX_ROUNDS = 5;

/** Brings the tables up to date, all that are whole at once (D52). Throws what no resource survives. */
export function syncOnce(order: SyncOrder): Promise<SyncOutcome> {
  return new SyncRun(order).run();
}

class SyncRun {
  private readonly startedAt: number;
  private readonly stream: Stream;
  private readonly syncs: TableSync[] = [];
  /** Where the stream was before anything was read; undefined without one. */
  private head: string | undefined;

  constructor(private readonly order: SyncOrder) {
    const { client, now, signal, deidentifier } = order;
    this.startedAt = now();
    this.stream = new Stream(client, now, signal, deidentifier);
  }

  async run(): Promise<SyncOutcome> {
    const { store, tables, onTable } = this.order;
    await store.discard();
    for (const table of tables)
      this.syncs.push(await TableSync.open(this.order, table, this.stream, () => this.began()));
    this.head = await this.stream.head(this.syncs.some(({ before }) => before.position !== null));
    for (const sync of this.syncs) sync.head = this.head;
    await this.replay();
    for (const sync of this.syncs) await sync.divide();
    await this.attemptAll(async (sync) => {
      onTable(sync.table);
      await sync.read();
    });
    const end = await this.settle();
    return this.publish(end);
  }

  /** Runs a step for each resource; the failure of one leaves the others alone. */
  private async attemptAll(work: (sync: TableSync) => Promise<unknown>): Promise<void> {
    for (const sync of this.syncs) {
      if (sync.failure !== null || sync.unavailable !== null) continue;
      try {
        await work(sync);
      } catch (cause) {
        this.order.signal.throwIfAborted();
        await this.failed(sync, cause);
      }
    }
  }

  private async failed(sync: TableSync, cause: unknown): Promise<void> {
    if (!(cause instanceof Failure) || isInterruption(cause) || isOfMirror(cause)) throw cause;
    const unavailable = refusalOf(cause, this.order.deidentifier !== undefined);
    if (unavailable !== undefined) {
      sync.unavailable = unavailable;
      return this.order.store.saveResource(sync.table, { unavailable });
    }
    // What concerns every resource ends the run where none is whole yet.
    if (cause.exitCode === EXIT.auth) throw cause;
    sync.failure = cause;
  }

  /** Keeps what the stream told since the tables were true, where it still can. */
  private async replay(): Promise<void> {
    const { head } = this;
    const { store } = this.order;
    if (head === undefined) return;
    const placed = this.syncs.filter(({ isPlaced }) => isPlaced);
    const places = placed.map(({ before }) => placeOf(before.position as string));
    const [oldest] = placed
      .map(({ before }) => before.position as string)
      .sort((a, b) => placeOf(a).number - placeOf(b).number);
    if (oldest === undefined) return;
    if (places.some(({ epoch }) => epoch !== placeOf(head).epoch)) return;
    const known = new Map(placed.map(({ table }, index) => [table, places[index]?.number ?? 0]));
    if (await this.stream.replay(oldest, head, store, known)) for (const sync of placed) sync.isReplayed = true;
    else await store.discard();
  }

  /** Fetches what is known by its id alone, and follows the stream meanwhile; the position at which all is true. */
  private async settle(): Promise<string | undefined> {
    const { store } = this.order;
    let { head } = this;
    const all = new Map(this.syncs.map(({ table }) => [table, 0]));
    let isRead = this.syncs.some(({ isListed }) => isListed);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await this.attemptAll(async (sync) => {
        isRead = (await sync.fetchUnknown()) || isRead;
      });
      if (head === undefined || !isRead) return head;
      const next = await this.stream.head();
      if (next === undefined || next === head || !(await this.stream.replay(head, next, store, all))) return head;
      head = next;
      isRead = false;
      await this.attemptAll(async (sync) => {
        isRead = (await sync.readAgain()) || isRead;
      });
    }
    return head;
  }

  private async publish(end: string | undefined): Promise<SyncOutcome> {
    const { store, now } = this.order;
    const whole = this.syncs.filter(({ failure, unavailable }) => failure === null && unavailable === null);
    const asOf = new Date(end === undefined ? this.startedAt : now()).toISOString();
    const tables = new Map(whole.map((sync) => [sync.table, sync.published(asOf, end)]));
    const locations = whole.find(({ isByLocation }) => isByLocation)?.locations;
    const changes = await store.publish({ tables, locations, at: this.order.deidentifier?.instant(asOf) ?? asOf });
    const none: RowChanges = { added: 0, changed: 0, deleted: 0 };
    const resources: ResourceOutcome[] = [];
    for (const { table, unavailable, failure } of this.syncs) {
      const { rows } = await store.resource(table);
      const counts = changes.get(table) ?? none;
      resources.push({ ...{ table, rows, ...counts }, complete: tables.has(table), unavailable, failure });
    }
    return { resources, position: end ?? null, asOf };
  }

  /** When reading began, by the server's clock. */
  private began(): string {
    const ahead = this.order.clockAhead();
    // The header has whole seconds.
    const there = ahead === undefined ? undefined : this.startedAt + ahead - 1000;
    return new Date(readingBegan(this.startedAt, there)).toISOString();
  }
}
