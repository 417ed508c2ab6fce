import { operationOf, pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { DELIVERY_OPERATIONS, domainTypeOf } from '../../catalog/stream/domains.ts';
import { CORRELATION_HEADER } from '../../catalog/stream/messages.ts';
import { formatRoutingKey } from '../../catalog/stream/routingkeys.ts';
import { withLocationFallback } from '../../core/pages/completefilters.ts';
import type { Row } from '../../core/pages/page.ts';
import { collect, collectedRows } from '../../core/stream/collect.ts';
import { follow } from '../../core/stream/follow.ts';
import { HttpSource } from '../../core/stream/httpsource.ts';
import { RecordSpool } from '../../core/stream/recordspool.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import type { RetryPolicy } from '../../core/transport/retry.ts';
import type { Context } from '../context.ts';
import { asNoChannel, noChannel } from './nochannel.ts';
import { lostText } from './notices.ts';

export interface AskedFor {
  readonly filter: string | undefined;
  /** Names for `responseFields`; all fields where absent. */
  readonly fields: readonly string[] | undefined;
  readonly onRecords?: (count: number) => void;
}

export interface Delivering {
  readonly context: Context;
  readonly client: ApiClient;
  readonly policy: RetryPolicy;
  readonly note: (text: string) => Promise<void>;
}

/**
 * Has the async endpoint of a resource deliver its records, waits until all have come, and gives them in the order of
 * ids, as they came where they have none. Nothing is given before all are there. Throws a Failure (`collect`).
 */
export async function deliveredRows(
  resource: Resource,
  { filter, fields, onRecords }: AskedFor,
  { context, client, policy, note }: Delivering,
): Promise<AsyncGenerator<{ readonly rows: readonly Row[] }>> {
  const { clock, random, signal, temporaryFolder, newId } = context;
  const source = new HttpSource(client, {
    keys: deliveryKeys(resource, client.organization),
    after: undefined,
    now: clock.now,
  });
  const onLost = (notice: Parameters<typeof lostText>[0]) => void note(lostText(notice));
  const spool = await RecordSpool.open(temporaryFolder, newId);
  let isOpen = false;
  try {
    const order = await collect({
      items: follow(source, { clock, random, policy, maxRetries: policy.maxRetries, signal, onLost }),
      request: () => {
        isOpen = true;
        return askForDelivery(client, resource, filter, fields, signal);
      },
      ...{ spool, now: clock.now },
      ...(onRecords && { onRecords }),
    });
    return closing(spool, collectedRows(spool, order));
  } catch (cause) {
    await spool.close();
    signal.throwIfAborted();
    throw isOpen ? cause : await asNoChannel(cause, resource, client, signal);
  }
}

/** What a delivery comes under, wherever its records are. */
function deliveryKeys(resource: Resource, organizationId: string): string[] {
  const domainType = domainTypeOf(resource);
  return DELIVERY_OPERATIONS.map((operation) =>
    formatRoutingKey({ organizationId, locationId: '*', domainType, operation }),
  );
}

async function askForDelivery(
  client: ApiClient,
  resource: Resource,
  filter: string | undefined,
  fields: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<string> {
  const operation = operationOf(resource, 'async');
  const path = pathOf(operation);
  const { headers } = await withLocationFallback(filter || undefined, operation.filters, (sent) =>
    client.request({ method: 'GET', path, query: { filter: sent, responseFields: fields?.join(',') }, signal }),
  );
  const correlationId = headers[CORRELATION_HEADER.toLowerCase()];
  if (correlationId) return correlationId;
  throw noChannel(
    resource,
    `The answer of GET ${path} has no ${CORRELATION_HEADER}, so its delivery cannot be told from others.`,
  );
}

async function* closing<T>(spool: RecordSpool, rows: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* rows;
  } finally {
    await spool.close();
  }
}
