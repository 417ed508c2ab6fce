import { setImmediate as nextTurn } from 'node:timers/promises';
import { allOperations } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { Refusal } from '../../catalog/failures.ts';
import { type DELIVERY_OPERATIONS, domainTypeOf, NO_LOCATION } from '../../catalog/stream/domains.ts';
import { appendAudit } from '../audit/entries.ts';
import type { Clock } from '../clock.ts';
import { isShared } from '../fairscheduling.ts';
import { boundTo, findOrganizationByKey } from '../organizations.ts';
import { pause } from '../pause.ts';
import type { Store, Transaction } from '../store/store.ts';
import { traced } from '../tracing/tracing.ts';
import { type ChunkReader, readChunk } from './chunks.ts';
import { advanceDelivery, type Delivery, findDelivery, nextDelivery, removeDelivery } from './deliverystore.ts';
import { appendMessage } from './outbox.ts';
import { type Places, placesAt, placesOfAll } from './places.ts';

/** Delays before a failed chunk is retried, doubled each time: an import may be holding the store. */
const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 30_000;
/** Between two chunks while requests of several organizations are served. */
const SHARED_PAUSE_MS = 20;
/** Polling interval for deliveries that other servers accepted. */
const SHARED_POLL_MS = 5000;

/** How the records of a computed resource are read for a delivery; undefined for a stored resource. */
export type ComputedReaders = (resource: Resource) => ChunkReader | undefined;

type DeliveryOperation = (typeof DELIVERY_OPERATIONS)[number];

const ASYNC = new Map(
  allOperations()
    .filter(({ operation }) => operation.shape === 'async')
    .map((found) => [found.operation.id, found]),
);

/**
 * Delivers the results of async endpoints to the stream, in the background (D41): in chunks, each written together with
 * the position it reached, so that a restart resumes after the last chunk. Deliveries are served in turn.
 */
export class Deliveries {
  /** Records delivered since the start. */
  delivered = 0;
  /** Deliveries completed since the start. */
  completed = 0;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private isPending = false;
  private timer: NodeJS.Timeout | undefined;
  private lastServedId = 0;
  private computed: ComputedReaders = () => undefined;
  private onFault: ((error: unknown, requestId?: string) => void) | undefined;
  /** The request that asked for the delivery whose turn it is. */
  private askedBy: string | undefined;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  /** Starts delivering; `onFault` is called with the error of each chunk that failed and will be retried. */
  start(computed: ComputedReaders, onFault: (error: unknown, requestId?: string) => void): void {
    this.computed = computed;
    this.onFault = onFault;
    // A server that has ended may have left deliveries; they do not wait for its restart.
    if (this.store.shared !== undefined) this.timer = setInterval(() => this.wake(), SHARED_POLL_MS).unref();
    this.wake();
  }

  /** Looks for deliveries; does nothing before `start`. */
  wake(): void {
    if (this.onFault === undefined || this.stopping.signal.aborted) return;
    this.isPending = true;
    this.running ??= this.run();
  }

  /** Resolves when nothing is left to deliver, or deliveries were stopped. */
  async idle(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  /** Ends after the chunk that is being written; the next start resumes after it. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.idle();
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    let delay = FIRST_DELAY_MS;
    while (this.isPending && !signal.aborted) {
      this.isPending = false;
      try {
        while (!signal.aborted && (await this.step())) {
          delay = FIRST_DELAY_MS;
          // Requests that arrived meanwhile go first; where those of several organizations do, this leaves them most of the time.
          await (isShared() ? pause(SHARED_PAUSE_MS, signal) : nextTurn());
        }
      } catch (error) {
        this.onFault?.(error, this.askedBy);
        this.isPending = true;
        await pause(delay, signal);
        delay = Math.min(delay * 2, MAX_DELAY_MS);
      }
    }
    this.running = undefined;
  }

  /** One chunk of the delivery whose turn it is; false when there is none. */
  private async step(): Promise<boolean> {
    this.askedBy = undefined;
    const next = await nextDelivery(this.store.read, this.lastServedId);
    if (next === undefined) return false;
    this.lastServedId = next.id;
    this.askedBy = next.actor.requestId ?? undefined;
    const attributes = { 'molar.operation': next.operation, 'molar.request_id': this.askedBy ?? '' };
    const { records, done } = await traced({ name: 'deliver chunk', attributes, isRoot: true }, () =>
      this.store.write((tx) => this.deliverChunk(tx, next), next.org),
    ).catch((error: unknown) => this.abandon(next, error));
    this.delivered += records;
    if (done) this.completed++;
    return true;
  }

  /** Ends a delivery whose query is no longer valid, as after a change of the catalog; rethrows other errors. */
  private async abandon(delivery: Delivery, error: unknown): Promise<{ records: number; done: boolean }> {
    if (!(error instanceof Refusal)) throw error;
    this.onFault?.(error, this.askedBy);
    await this.store.write((tx) => removeDelivery(tx, delivery));
    return { records: 0, done: true };
  }

  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  private now(): string {
    return new Date(this.clock()).toISOString();
  }

  private async deliverChunk(tx: Transaction, next: Delivery): Promise<{ records: number; done: boolean }> {
    // Read again: another server may have delivered a chunk of it, or the last one, in the meantime.
    const delivery = await findDelivery(tx, next);
    if (delivery === undefined) return { records: 0, done: false };
    const found = ASYNC.get(delivery.operation);
    const whole = await findOrganizationByKey(tx, delivery.org);
    if (found === undefined || whole === undefined) {
      await removeDelivery(tx, delivery);
      return { records: 0, done: true };
    }
    const organization = boundTo(whole, delivery.locations);
    const { resource, operation } = found;
    const { records, reachedId } = await readChunk(
      tx,
      resource,
      operation,
      organization,
      delivery,
      this.computed(resource),
    );
    const domainType = domainTypeOf(resource);
    const sendTime = this.now();
    const send = (
      operation: DeliveryOperation,
      locationId: string,
      payload: string,
      more: Places & Partial<Record<'recordId' | 'patientId', number | null>>,
    ) =>
      appendMessage(tx, {
        org: delivery.org,
        key: { organizationId: organization.id, locationId, domainType, operation },
        sendTime,
        correlationId: delivery.correlationId,
        payload,
        ...more,
      });
    for (const { payload, locationId, location, id: recordId, patient: patientId } of records) {
      await send('READ', locationId, payload, { ...placesAt(location), recordId, patientId });
    }
    if (records.length > 0) {
      // With each chunk: what was delivered has its entry, however far the delivery comes.
      const ids = records.map(({ id }) => id);
      const patients = records.map(({ patient }) => patient).filter((patient) => patient !== null);
      const { org, actor } = delivery;
      await appendAudit(tx, { org, at: sendTime, actor, operation: operation.id, ids, patients, via: 'stream' });
    }
    const total = delivery.total + records.length;
    if (reachedId !== undefined) {
      await advanceDelivery(tx, delivery, reachedId, total);
    } else {
      await send('READ_COMPLETE', NO_LOCATION, JSON.stringify({ total }), placesOfAll(organization.locations));
      await removeDelivery(tx, delivery);
    }
    return { records: records.length, done: reachedId === undefined };
  }
}
