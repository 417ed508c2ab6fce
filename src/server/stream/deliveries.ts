import { setImmediate as nextTurn } from 'node:timers/promises';
import { allOperations } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { Refusal } from '../../catalog/failures.ts';
import { type DELIVERY_OPERATIONS, domainTypeOf, NO_LOCATION } from '../../catalog/stream/domains.ts';
import { appendAudit } from '../audit/entries.ts';
import type { Clock } from '../clock.ts';
import { findOrganizationByKey } from '../organizations.ts';
import type { Store, Transaction } from '../store/store.ts';
import { type ChunkReader, readChunk } from './chunks.ts';
import { advanceDelivery, type Delivery, findDelivery, nextDelivery, removeDelivery } from './deliverystore.ts';
import { appendMessage } from './outbox.ts';

/** Pauses after a chunk that failed, longer each time: the store may be held by an import. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 30_000;
/** How often deliveries that other servers accepted are looked for. */
const SHARED_LOOK_MS = 5000;

/** How the records of a computed resource are read for a delivery; undefined for a stored resource. */
export type ComputedReaders = (resource: Resource) => ChunkReader | undefined;

type DeliveryOperation = (typeof DELIVERY_OPERATIONS)[number];

const ASYNC = new Map(
  allOperations()
    .filter(({ operation }) => operation.shape === 'async')
    .map((found) => [found.operation.id, found]),
);

/**
 * Brings what async endpoints were asked for to the stream, in the background (D41): chunk by chunk, each in one write
 * with the note of how far it came, so a restart goes on where the last chunk ended. Deliveries take turns.
 */
export class Deliveries {
  /** Records delivered since the start. */
  delivered = 0;
  /** Deliveries completed since the start. */
  completed = 0;
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private asked = false;
  private timer: NodeJS.Timeout | undefined;
  private last = 0;
  private computed: ComputedReaders = () => undefined;
  private fault: ((error: unknown) => void) | undefined;

  constructor(store: Store, clock: Clock) {
    this.store = store;
    this.clock = clock;
  }

  /** Begins to deliver what there is; `fault` is called with chunks that failed and are tried again. */
  start(computed: ComputedReaders, fault: (error: unknown) => void): void {
    this.computed = computed;
    this.fault = fault;
    // A server that has ended may have left some; its own restart is not waited for.
    if (this.store.shared !== undefined) this.timer = setInterval(() => this.wake(), SHARED_LOOK_MS).unref();
    this.wake();
  }

  /** Looks for what there is to deliver; does nothing before `start`. */
  wake(): void {
    if (this.fault === undefined || this.stopping.signal.aborted) return;
    this.asked = true;
    this.running ??= this.run();
  }

  /** Resolves when nothing is left to deliver, or deliveries were stopped. */
  async idle(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  /** Ends after the chunk that is being written; the next start goes on behind it. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.idle();
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    let pause = FIRST_PAUSE_MS;
    while (this.asked && !signal.aborted) {
      this.asked = false;
      try {
        while (!signal.aborted && (await this.step())) {
          pause = FIRST_PAUSE_MS;
          // Requests that came in meanwhile go first.
          await nextTurn();
        }
      } catch (error) {
        this.fault?.(error);
        this.asked = true;
        await pauseFor(pause, signal);
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
    }
    this.running = undefined;
  }

  /** One chunk of the delivery whose turn it is; false when there is none. */
  private async step(): Promise<boolean> {
    const next = await nextDelivery(this.store.read, this.last);
    if (next === undefined) return false;
    this.last = next.id;
    const { records, done } = await this.store
      .write((tx) => this.deliverChunk(tx, next.id), next.org)
      .catch((error: unknown) => this.abandon(next, error));
    this.delivered += records;
    if (done) this.completed++;
    return true;
  }

  /** Ends a delivery whose question is no longer understood, as after a change of the catalog; other faults pass. */
  private async abandon(delivery: Delivery, error: unknown): Promise<{ records: number; done: boolean }> {
    if (!(error instanceof Refusal)) throw error;
    this.fault?.(error);
    await this.store.write((tx) => removeDelivery(tx, delivery.id));
    return { records: 0, done: true };
  }

  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  private now(): string {
    return new Date(this.clock()).toISOString();
  }

  private async deliverChunk(tx: Transaction, id: number): Promise<{ records: number; done: boolean }> {
    // Read again: another server may have delivered a chunk of it, or the last one, since it was chosen.
    const delivery = await findDelivery(tx, id);
    if (delivery === undefined) return { records: 0, done: false };
    const found = ASYNC.get(delivery.operation);
    const organization = await findOrganizationByKey(tx, delivery.org);
    if (found === undefined || organization === undefined) {
      await removeDelivery(tx, delivery.id);
      return { records: 0, done: true };
    }
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
    const send = (operation: DeliveryOperation, locationId: string, payload: string) =>
      appendMessage(tx, {
        org: delivery.org,
        key: { organizationId: organization.id, locationId, domainType, operation },
        sendTime,
        correlationId: delivery.correlationId,
        payload,
      });
    for (const { payload, locationId } of records) await send('READ', locationId, payload);
    const total = delivery.total + records.length;
    if (reachedId !== undefined) {
      await advanceDelivery(tx, delivery.id, reachedId, total);
    } else {
      await send('READ_COMPLETE', NO_LOCATION, JSON.stringify({ total }));
      const { org, correlationId } = delivery;
      const actor = { who: 'delivery', address: null, requestId: correlationId };
      await appendAudit(tx, { org, at: this.now(), actor, operation: operation.id, count: total });
      await removeDelivery(tx, delivery.id);
    }
    return { records: records.length, done: reachedId === undefined };
  }
}

function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
}
