import { operationOf, pathOf } from '../../../catalog/catalog.ts';
import type { Operation } from '../../../catalog/define.ts';
import { Failure, isInterruption, localFailure } from '../../failure.ts';
import { type Proof, readComplete } from '../../pages/complete.ts';
import { mayBeUndated, withEarlyBound } from '../../pages/completefilters.ts';
import { countOnce, countOperationOf } from '../../pages/countall.ts';
import { idOf, type Row } from '../../pages/page.ts';
import { walkPages } from '../../pages/walk.ts';
import { START, type WalkedPage, type WalkPosition } from '../../pages/walkoptions.ts';
import { ApiFailure } from '../../transport/apifailure.ts';
import type { ApiClient } from '../../transport/client.ts';
import type { Deidentifier } from '../deidentify/deidentifier.ts';
import { MirrorRecord, onlyFields, readOneRecord, readRecords } from '../records.ts';
import type { LoadProgress, MirrorStore } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import { ASYNC_PAGE, delivered } from './delivery.ts';
import type { Stream } from './listening.ts';

/** Where what was read goes to. */
export type ReadTarget = Pick<MirrorStore, 'facts' | 'load' | 'stage' | 'stageIds' | 'locations'>;

/** What reading needs. */
export interface ReadContext {
  readonly client: ApiClient;
  readonly store: MirrorStore;
  readonly pageSize: number;
  /** Requests at once. */
  readonly parallel: number;
  /** UTC milliseconds. */
  readonly now: () => number;
  /** The stream, where the service has one. */
  readonly stream: () => Stream | undefined;
  readonly signal: AbortSignal;
  /** Of a de-identified mirror, which knows pseudonyms only. */
  readonly deidentifier?: Deidentifier | undefined;
  /** Called with what could not be proved about the completeness of a first load, as a sentence. */
  readonly onUnproved: (table: MirrorTable, unproved: string) => void;
  /** Called with the records that arrived. */
  readonly onRecords: (count: number) => void;
}

/** Pages whose records are written together, and records: of large pages there are fewer in memory at once. */
const MAX_PAGES = 10;
const MAX_RECORDS = 1000;

/** Ids of one request. */
const MAX_IDS = 50;

/** Reads the records of one resource from the service. Everything throws what a request throws. */
export class ResourceReader {
  constructor(
    private readonly context: Omit<ReadContext, 'store'> & { readonly store: ReadTarget },
    readonly table: MirrorTable,
  ) {}

  /** Whether its list can be asked for what changed since a time. */
  get tellsChanges(): boolean {
    return this.list?.filters?.lastModified?.operators.includes('>=') ?? false;
  }

  /** The first load, on from where an earlier run came; `since`: see `LoadProgress`. */
  async load(from: LoadProgress | null, since: () => string): Promise<void> {
    const { store, onUnproved, deidentifier } = this.context;
    let last: WalkPosition = (from && deidentifier?.originalProgress(from)) ?? from ?? START;
    const onProof = ({ unproved }: Proof) => {
      if (unproved !== null) onUnproved(this.table, unproved);
    };
    await this.eachBatch(this.pages({ from: last, onProof }), async (records, position) => {
      last = position ?? last;
      const progress = { ...last, since: from?.since ?? since() };
      await store.load(this.table, records, deidentifier?.progress(progress) ?? progress);
    });
  }

  /** Stages all records, to be compared with what is here. */
  async stageAll(): Promise<Proof> {
    return this.stage({});
  }

  /** Stages what changed since a time, UTC. */
  async stageChanges(since: string): Promise<void> {
    await this.stage({ filter: `lastModified>=${since}` });
  }

  /** Keeps the ids of all records. */
  async sweep(): Promise<Proof> {
    const { store } = this.context;
    let proof = UNPROVED;
    const pages = this.pages({ fields: ['id'], onProof: (found) => (proof = found) });
    await this.eachBatch(pages, (records) =>
      store.stageIds(
        this.table,
        records.map(({ id }) => String(id)),
      ),
    );
    return proof;
  }

  /** Whether records can be asked for by their ids. */
  get tellsById(): boolean {
    return this.hasIdFilter || this.table.resource.operations.get !== undefined;
  }

  /** Stages the records with these ids that the service has. */
  async fetch(known: readonly string[]): Promise<void> {
    const ids = known.map((id) => this.asked(id));
    if (this.hasIdFilter) {
      for (let at = 0; at < ids.length; at += MAX_IDS)
        await this.stage({ filter: `id->[${ids.slice(at, at + MAX_IDS).join(',')}]`, isPart: true });
      return;
    }
    for (const id of ids) {
      const record = await this.one(id);
      if (record !== undefined) await this.context.store.stage(this.table, [record]);
    }
  }

  /** Whether the stream tells every change of it (specification, Events: not of cancelled transactions). */
  get isTold(): boolean {
    return this.table.resource.type !== 'Transaction';
  }

  /** Whether its records never change and are never deleted: there are only new ones (D26). */
  get isFinal(): boolean {
    return this.table.resource.type === 'AppointmentHistoryV1';
  }

  /** Whether its list takes one location at a time. */
  get isByLocation(): boolean {
    return this.list?.filters?.['location.id']?.required ?? false;
  }

  /** Whether its records can be counted. */
  get isCounted(): boolean {
    return this.table.resource.operations.count !== undefined;
  }

  /** How many records the service counts, where it can; undefined where it does not. Throws for refused credentials (401). */
  async count(): Promise<number | undefined> {
    const { client, signal } = this.context;
    const count = operationOf(this.table.resource, 'count');
    const filter = mayBeUndated(count.dateLimit) ? undefined : withEarlyBound(undefined, count);
    try {
      return (await countOnce(client, count, filter, signal)).total;
    } catch (cause) {
      signal.throwIfAborted();
      if (!(cause instanceof Failure) || isInterruption(cause) || cause.status === 401) throw cause;
      return undefined;
    }
  }

  private get list(): Operation | undefined {
    return this.table.resource.operations.list;
  }

  private get hasIdFilter(): boolean {
    return this.operation.filters?.id?.operators.includes('->') ?? false;
  }

  private get operation(): Operation {
    return this.list ?? operationOf(this.table.resource, 'async');
  }

  private async stage(query: PageQuery): Promise<Proof> {
    const { store } = this.context;
    let proof = UNPROVED;
    // Of lists by location there is one for each; none of them is read in parts, which could leave it unproved.
    const pages = this.pages({ ...query, onProof: (found) => (proof = found) });
    await this.eachBatch(pages, (records) => store.stage(this.table, records));
    return proof;
  }

  private async *pages(query: PageQuery): AsyncGenerator<WalkedPage> {
    const { client, pageSize, parallel, now, signal, store } = this.context;
    const { filter, from, onProof } = query;
    const chosen = store.facts.columns[this.table.resource.name];
    const fields = query.fields ?? (chosen && [...new Set(['id', ...chosen])]);
    const options = { fields, signal, read: readRecords };
    if (this.list === undefined) {
      const stream = filter === undefined && query.fields === undefined ? this.context.stream() : undefined;
      if (stream !== undefined) yield* this.delivered(stream);
      else yield* walkPages(client, this.operation, { ...options, filter, from, pageSize: ASYNC_PAGE });
      onProof?.({ by: 'walk', counted: null, unproved: null });
      return;
    }
    const all = { ...options, pageSize, parallel, now, from, ...(onProof && { onProof }) };
    if (this.isByLocation) {
      const list = this.list;
      yield* this.ofLocations((id) => readComplete(client, list, { ...all, filter: `location.id==${id}` }));
      return;
    }
    const count = query.isPart ? undefined : countOperationOf(this.table.resource, filter);
    yield* readComplete(client, this.list, { ...all, filter, count });
  }

  private async *delivered(stream: Stream): AsyncGenerator<WalkedPage> {
    for await (const records of delivered(this.table, { ...this.context, stream }))
      yield { ...NO_PAGE, rows: records as unknown as readonly Row[] };
  }

  /** Pages of all locations; of one that is gone or may not be read there are none, unless that is so of each. */
  private async *ofLocations(pagesOf: (id: string) => AsyncGenerator<WalkedPage>): AsyncGenerator<WalkedPage> {
    const locations = await this.context.store.locations();
    let refused = 0;
    for (const id of locations) {
      try {
        for await (const page of pagesOf(this.asked(id))) yield { ...page, position: undefined };
      } catch (cause) {
        if (!(cause instanceof ApiFailure) || (cause.status !== 403 && cause.status !== 404)) throw cause;
        if (++refused === locations.length) throw cause;
      }
    }
  }

  /** Calls `work` with the records of some pages at a time, and the position behind them. */
  private async eachBatch(
    pages: AsyncIterable<WalkedPage>,
    work: (records: readonly MirrorRecord[], position: WalkPosition | undefined) => Promise<void>,
  ): Promise<void> {
    let records: MirrorRecord[] = [];
    let position: WalkPosition | undefined;
    let count = 0;
    // The next pages are read meanwhile: a database may be another process.
    let written: Promise<void> = Promise.resolve();
    try {
      for await (const page of pages) {
        for (const row of page.rows) records.push(this.chosen(row));
        position = page.position ?? position;
        this.context.onRecords(page.rows.length);
        if (++count < MAX_PAGES && records.length < MAX_RECORDS) continue;
        await written;
        written = work(records, position);
        // What it fails with is thrown where it is awaited.
        written.catch(() => undefined);
        records = [];
        count = 0;
      }
    } finally {
      await written;
    }
    if (records.length > 0) await work(records, position);
  }

  /** An id as the service knows it. */
  private asked(id: string): string {
    return this.context.deidentifier?.original(id) ?? id;
  }

  /** A record with the chosen fields, whatever the service sent, and what may be kept of them. */
  private chosen(row: Row): MirrorRecord {
    const record = row as unknown as MirrorRecord;
    const id = idOf(row);
    if (id === undefined) throw localFailure('response.malformed', 'The server sent a record without a usable id.');
    const chosen = this.context.store.facts.columns[this.table.resource.name];
    const wanted = chosen === undefined ? record : onlyFields(record, new Set(['id', ...chosen]));
    return this.context.deidentifier?.record(this.table, wanted) ?? wanted;
  }

  private async one(id: string): Promise<MirrorRecord | undefined> {
    const { client, signal } = this.context;
    const path = pathOf(operationOf(this.table.resource, 'get'), id);
    try {
      const { data } = await client.request({ method: 'GET', path, read: readOneRecord, signal });
      if (data instanceof MirrorRecord && String(data.id) === id) return this.chosen(data as unknown as Row);
      throw localFailure('response.malformed', 'The server sent another record, or none, in response to an id.');
    } catch (cause) {
      if (cause instanceof ApiFailure && cause.status === 404) return undefined;
      throw cause;
    }
  }
}

interface PageQuery {
  readonly filter?: string;
  readonly fields?: readonly string[];
  readonly from?: WalkPosition;
  readonly onProof?: (proof: Proof) => void;
  /** Only some ids, which are not counted. */
  readonly isPart?: boolean;
}

/** What pages have besides their rows, for rows that came otherwise. */
const NO_PAGE: Omit<WalkedPage, 'rows'> = {
  meta: null,
  requestId: null,
  firstId: null,
  lastId: null,
  pageSize: ASYNC_PAGE,
  position: undefined,
};

const UNPROVED: Proof = { by: 'none', counted: null, unproved: null };
