import { operationOf, pathOf } from '../../../catalog/catalog.ts';
import { DELIVERY_OPERATIONS, domainTypeOf, RESYNC } from '../../../catalog/stream/domains.ts';
import { CORRELATION_HEADER } from '../../../catalog/stream/messages.ts';
import { formatRoutingKey } from '../../../catalog/stream/routingkeys.ts';
import { localFailure } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import { ConnectionLost } from '../../stream/source.ts';
import type { ApiClient } from '../../transport/client.ts';
import { memberText } from '../jsonmembers.ts';
import { type MirrorRecord, readRecords, recordOf } from '../records.ts';
import type { MirrorTable } from '../tables.ts';
import { ATTEMPTS, type Stream } from './listening.ts';

/** Records of one response of an async endpoint (specification, Limits). */
export const ASYNC_PAGE = 10;

/** Records that are given on together. */
const BATCH = 500;

/** Milliseconds without a record after which a delivery counts as lost. */
const TIMEOUT = 120_000;

/** What a delivery takes. */
interface DeliveryContext {
  readonly client: ApiClient;
  readonly stream: Stream;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/**
 * All records of a resource that has an async endpoint alone, as the stream delivers them (D41); those of the response
 * itself where these are all. When the connection to the stream is lost all of them are delivered again, so that some may
 * come twice. Throws a Failure: `stream.incomplete` (exit 8) for a delivery that is cut off, and that of the connection
 * when it is lost each time.
 */
export async function* delivered(
  table: MirrorTable,
  context: DeliveryContext,
): AsyncGenerator<readonly MirrorRecord[]> {
  for (let failed = 1; ; failed++) {
    try {
      return yield* deliveredOnce(table, context);
    } catch (cause) {
      context.signal.throwIfAborted();
      if (!(cause instanceof ConnectionLost)) throw cause;
      if (failed === ATTEMPTS) throw cause.failure;
      await context.stream.waitToRetry(failed, cause.failure, cause.retryAfter);
    }
  }
}

async function* deliveredOnce(
  { resource }: MirrorTable,
  { client, stream, now, signal }: DeliveryContext,
): AsyncGenerator<readonly MirrorRecord[]> {
  const domainType = domainTypeOf(resource);
  const { organization: organizationId } = client;
  const keys = DELIVERY_OPERATIONS.map((operation) =>
    formatRoutingKey({ organizationId, locationId: '*', domainType, operation }),
  );
  let correlationId: string | undefined;
  let records: MirrorRecord[] = [];
  let count = 0;
  let lastAt = now();
  for await (const item of stream.connect({ keys })) {
    if (item.kind === 'opened') {
      const path = pathOf(operationOf(resource, 'async'));
      const { data, headers } = await client.request({ method: 'GET', path, read: readRecords, signal });
      const first = data as readonly Row[];
      if (first.length < ASYNC_PAGE) return yield first as unknown as readonly MirrorRecord[];
      correlationId = headers[CORRELATION_HEADER.toLowerCase()];
      if (correlationId === undefined) throw incomplete('The response does not name the delivery.');
    } else if (item.kind === 'message') {
      const { message, text } = item;
      // One that comes twice counts once.
      item.handled();
      if (message.operation === RESYNC) throw incomplete('The server no longer has some messages.');
      if (message.correlationId !== correlationId) continue;
      if (message.operation === 'READ_COMPLETE') {
        if (message.payload.total !== count)
          throw incomplete(`The server reports ${message.payload.total} records, but ${count} arrived.`);
        return yield records;
      }
      records.push(recordOf(memberText(text, 'payload') ?? JSON.stringify(message.payload)));
      count++;
      lastAt = now();
      if (records.length < BATCH) continue;
      yield records;
      records = [];
    }
    if (now() - lastAt > TIMEOUT) throw incomplete('Nothing arrives any more.');
  }
  throw incomplete('The stream was cut off.');
}

function incomplete(why: string) {
  return localFailure('stream.incomplete', `The delivery is not complete. ${why}`, {
    hint: 'Run it again; report it to the operator of the server if it persists.',
  });
}
