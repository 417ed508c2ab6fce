import { RESYNC } from '../../catalog/stream/domains.ts';
import type { StreamMessage } from '../../catalog/stream/messages.ts';
import { type Failure, localFailure } from '../failure.ts';
import { idOf, type Row } from '../pages/page.ts';
import type { RecordSpool } from './recordspool.ts';
import type { StreamItem } from './source.ts';

/** Milliseconds without a record after which a delivery counts as lost. */
const PATIENCE = 300_000;

export interface CollectOptions {
  /** From a stream that begins now; `follow` ends it when the signal comes. */
  readonly items: AsyncIterable<StreamItem>;
  /** Asks the async endpoint and gives the correlation id of the delivery; called once the stream is open. */
  readonly ask: () => Promise<string>;
  readonly spool: RecordSpool;
  /** UTC milliseconds. */
  readonly now: () => number;
  readonly onRecords?: (count: number) => void;
  readonly patience?: number;
}

/** Which way ids went in a delivery; `none`: its records have none. */
export type DeliveryOrder = 'ascending' | 'descending' | 'none';

/**
 * Collects a delivery of an async endpoint (D41) into the spool: the stream is open before it is asked for, so nothing
 * is missed, and it ends with READ_COMPLETE. Throws a Failure (`stream.incomplete`, exit 8) when the total differs,
 * ids go to and fro, or the server no longer has messages; `run.overtime` (exit 7) when nothing comes any more.
 */
export async function collect(collecting: CollectOptions): Promise<DeliveryOrder> {
  const { items, ask, spool, now, onRecords, patience = PATIENCE } = collecting;
  const order = new OrderCheck();
  let correlationId: string | undefined;
  let isPlaced = false;
  let lastAt = now();
  for await (const item of items) {
    if (item.kind === 'opened') {
      // A server that did not tell where its stream stands cannot be asked to go on there.
      if (correlationId !== undefined && !isPlaced) throw cutOff(correlationId);
      isPlaced ||= item.position !== undefined;
      correlationId ??= await ask();
      lastAt = now();
      continue;
    }
    isPlaced ||= item.kind === 'message' || item.position !== undefined;
    if (item.kind === 'message') {
      const { message } = item;
      if (message.operation === RESYNC) throw goneMessages(correlationId);
      if (message.correlationId === correlationId && correlationId !== undefined) {
        if (message.operation === 'READ_COMPLETE') {
          checkTotal(message, spool.count, correlationId);
          return order.seen;
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
    if (now() - lastAt > patience) throw tooLate(correlationId, spool.count, patience);
  }
  throw cutOff(correlationId ?? '');
}

/** The records of a delivery in ascending order of ids, or as they came where they have none. */
export async function* collectedRows(spool: RecordSpool, order: DeliveryOrder): AsyncGenerator<{ rows: Row[] }> {
  const batches = order === 'descending' ? spool.backwards() : spool.forwards();
  for await (const lines of batches) yield { rows: lines.map((line) => JSON.parse(line) as Row) };
}

/** Ids must go one way, whichever it is. */
class OrderCheck {
  seen: DeliveryOrder = 'none';
  private steps = 0;
  private last: bigint | undefined;

  next({ id, payload }: StreamMessage, correlationId: string): void {
    const record = idOf(payload);
    if (record === undefined) return;
    const last = this.last ?? record - 1n;
    const way = record > last ? 'ascending' : 'descending';
    // Only the second record tells which way it goes.
    if (this.steps++ < 2) this.seen = way;
    this.last = record;
    if (record !== last && way === this.seen) return;
    throw incomplete(`Message ${id} delivers record ${record} after ${last}, out of order`, correlationId);
  }
}

function checkTotal({ payload }: StreamMessage, count: number, correlationId: string): void {
  if (payload.total === count) return;
  throw incomplete(`The server says it delivered ${payload.total} records, and ${count} came`, correlationId);
}

function goneMessages(correlationId: string | undefined): Failure {
  return incomplete('The server no longer has some messages of the delivery', correlationId ?? 'none yet');
}

function cutOff(correlationId: string): Failure {
  return incomplete('The stream was cut off, and cannot be gone on with', correlationId);
}

function incomplete(what: string, correlationId: string): Failure {
  return localFailure('stream.incomplete', `${what} (correlation id ${correlationId}).`);
}

function tooLate(correlationId: string | undefined, count: number, patience: number): Failure {
  const message = `Nothing came for ${patience / 1000} s, after ${count} records (correlation id ${correlationId}).`;
  return localFailure('run.overtime', message, {
    hint: 'Nothing was written. Run it again later, or without --async.',
  });
}
