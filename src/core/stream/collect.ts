import { RESYNC } from '../../catalog/stream/domains.ts';
import type { StreamMessage } from '../../catalog/stream/messages.ts';
import { quantity } from '../count.ts';
import { type Failure, localFailure } from '../failure.ts';
import { idOf, type Row } from '../pages/page.ts';
import type { RecordSpool } from './recordspool.ts';
import type { StreamItem } from './source.ts';

/** Milliseconds without a record after which a delivery counts as lost. */
const TIMEOUT = 300_000;

/** Options of `collect`. */
export interface CollectOptions {
  /** From a stream that begins now; `follow` ends it when its signal aborts. */
  readonly items: AsyncIterable<StreamItem>;
  /** Requests the delivery and returns its correlation id; called once the stream is open. */
  readonly request: () => Promise<string>;
  readonly spool: RecordSpool;
  /** UTC milliseconds. */
  readonly now: () => number;
  readonly onRecords?: (count: number) => void;
  /** Milliseconds without a record. */
  readonly timeout?: number;
}

/** The order of ids in a delivery; `none`: its records have none. */
export type DeliveryOrder = 'ascending' | 'descending' | 'none';

/**
 * Collects a delivery of an async endpoint (D41) into the spool: the stream is open before the request, so nothing is
 * missed, and it ends with READ_COMPLETE. Throws a Failure (`stream.incomplete`, exit 8) when the total differs, ids
 * are out of order, or the server no longer has messages; `run.overtime` (exit 7) when nothing arrives any more.
 */
export async function collect(options: CollectOptions): Promise<DeliveryOrder> {
  const { items, request, spool, now, onRecords, timeout = TIMEOUT } = options;
  const order = new OrderCheck();
  let correlationId: string | undefined;
  let isResumable = false;
  let lastAt = now();
  for await (const item of items) {
    if (item.kind === 'opened') {
      // Without a position the stream cannot be resumed after a reconnect.
      if (correlationId !== undefined && !isResumable) throw cutOff(correlationId);
      isResumable ||= item.position !== undefined;
      correlationId ??= await request();
      lastAt = now();
      continue;
    }
    isResumable ||= item.kind === 'message' || item.position !== undefined;
    if (item.kind === 'message') {
      const { message } = item;
      if (message.operation === RESYNC)
        throw incomplete('The server no longer has some messages of the delivery', correlationId ?? 'none yet');
      if (message.correlationId === correlationId && correlationId !== undefined) {
        if (message.operation === 'READ_COMPLETE') {
          const { total } = message.payload;
          if (total === spool.count) return order.seen;
          const counts = `The server reports ${total} delivered records, but ${spool.count} arrived`;
          throw incomplete(counts, correlationId);
        }
        if (message.operation === 'READ') {
          order.next(message, correlationId);
          await spool.add(JSON.stringify(message.payload));
          onRecords?.(spool.count);
          lastAt = now();
        }
      }
      item.handled();
    }
    if (now() - lastAt > timeout) {
      const message = `Nothing arrived for ${timeout / 1000} s, after ${quantity(spool.count, 'record')} (correlation id ${correlationId}).`;
      const hint = 'Nothing was written. Run it again later, or without --async.';
      throw localFailure('run.overtime', message, { hint });
    }
  }
  throw cutOff(correlationId ?? '');
}

/** The records of a delivery in ascending order of ids, or as received where they have none. */
export async function* collectedRows(spool: RecordSpool, order: DeliveryOrder): AsyncGenerator<{ rows: Row[] }> {
  const batches = order === 'descending' ? spool.backwards() : spool.forwards();
  for await (const lines of batches) yield { rows: lines.map((line) => JSON.parse(line) as Row) };
}

/** Ids must either rise or fall. */
class OrderCheck {
  seen: DeliveryOrder = 'none';
  private steps = 0;
  private last: bigint | undefined;

  next({ id, payload }: StreamMessage, correlationId: string): void {
    const record = idOf(payload);
    if (record === undefined) return;
    const last = this.last ?? record - 1n;
    const direction = record > last ? 'ascending' : 'descending';
    // Only the second record shows the direction.
    if (this.steps++ < 2) this.seen = direction;
    this.last = record;
    if (record !== last && direction === this.seen) return;
    throw incomplete(`Message ${id} delivers record ${record} after ${last}, out of order`, correlationId);
  }
}

function cutOff(correlationId: string): Failure {
  return incomplete('The stream was cut off and cannot be resumed', correlationId);
}

function incomplete(what: string, correlationId: string): Failure {
  return localFailure('stream.incomplete', `${what} (correlation id ${correlationId}).`);
}
