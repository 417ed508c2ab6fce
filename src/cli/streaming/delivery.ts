import { API_PREFIX, operationOf, pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { DELIVERY_OPERATIONS, domainTypeOf } from '../../catalog/stream/domains.ts';
import { CORRELATION_HEADER, STREAM_PATH } from '../../catalog/stream/messages.ts';
import { formatRoutingKey } from '../../catalog/stream/routingkeys.ts';
import { readRefusal } from '../../core/doctor/probes.ts';
import { Failure, localFailure } from '../../core/failure.ts';
import { withLocationFallback } from '../../core/pages/completefilters.ts';
import type { Row } from '../../core/pages/page.ts';
import { collect, collectedRows } from '../../core/stream/collect.ts';
import { follow } from '../../core/stream/follow.ts';
import { HttpSource } from '../../core/stream/httpsource.ts';
import { RecordSpool } from '../../core/stream/recordspool.ts';
import { WITHOUT_ROUTE } from '../../core/transport/apifailure.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import type { RetryPolicy } from '../../core/transport/retry.ts';
import type { Context } from '../context.ts';
import { lostText } from './notices.ts';

/** Which records are to be delivered. */
interface DeliveryRequest {
  readonly filter: string | undefined;
  /** Names for `responseFields`; all fields where absent. */
  readonly fields: readonly string[] | undefined;
  readonly onRecords?: (count: number) => void;
}

/** What a delivery needs of its command. */
interface DeliveryContext {
  readonly context: Context;
  readonly client: ApiClient;
  readonly policy: RetryPolicy;
  readonly note: (text: string) => Promise<void>;
}

/** All records that the async endpoint of a resource delivers, by id, or by arrival without ids. Throws a Failure (`collect`). */
export async function deliveredRows(
  resource: Resource,
  { filter, fields, onRecords }: DeliveryRequest,
  { context, client, policy, note }: DeliveryContext,
): Promise<AsyncGenerator<{ readonly rows: readonly Row[] }>> {
  const { clock, random, signal, temporaryFolder } = context;
  const source = new HttpSource(client, {
    keys: deliveryKeys(resource, client.organization),
    after: undefined,
    now: clock.now,
  });
  const onLost = (notice: Parameters<typeof lostText>[0]) => void note(lostText(notice));
  const spool = await RecordSpool.open(temporaryFolder);
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
    throw isOpen ? cause : await asNoChannel(cause, resource, client, signal);
  }
}

/** Routing keys of a delivery, of any location. */
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
    `The response of GET ${path} has no ${CORRELATION_HEADER}, so its delivery cannot be told apart from others.`,
  );
}

async function* closing<T>(spool: RecordSpool, rows: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* rows;
  } finally {
    await spool.close();
  }
}

/** The items of a report, delivered over the stream, in the order of the report: by a text field (D33, D41). */
export async function deliveredReport(
  resource: Resource,
  filter: string,
  by: string,
  delivery: DeliveryContext,
): Promise<readonly Row[]> {
  const items: Row[] = [];
  const pages = await deliveredRows(resource, { filter, fields: undefined }, delivery);
  for await (const { rows } of pages) items.push(...rows);
  const text = (item: Row) => String(item[by] ?? '');
  return items.sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
}

/** Statuses of a service that has no such route, denies it to this token, or has something else there. */
const NO_CHANNEL: readonly number[] = [...WITHOUT_ROUTE, 400, 403, 406, 410, 415];

/** Codes of a connection without a response, or with one that is no stream. */
const NO_STREAM: readonly string[] = ['network.unreachable', 'response.malformed'];

/**
 * The failure of a stream that never opened. Where the API itself responds, the service has no channel that molar can
 * read, since the specification leaves its transport open; otherwise the failure of the API.
 */
async function asNoChannel(
  cause: unknown,
  resource: Resource,
  client: ApiClient,
  signal: AbortSignal,
): Promise<unknown> {
  if (!(cause instanceof Failure)) return cause;
  const meansNoChannel = cause.status === null ? NO_STREAM.includes(cause.code) : NO_CHANNEL.includes(cause.status);
  if (!meansNoChannel) return cause;
  try {
    const refusal = await readRefusal(client, signal);
    const response = cause.status === null ? cause.message : `The response was HTTP ${cause.status}.`;
    return refusal ?? noChannel(resource, `Tried GET ${API_PREFIX}${STREAM_PATH}: ${response}`, cause);
  } catch (unreached) {
    return unreached instanceof Failure ? cause : unreached;
  }
}

/** The service delivers to a channel that molar cannot read. `reason`: a sentence that says how that is known. */
function noChannel(resource: Resource, reason: string, cause?: unknown): Failure {
  const requestId = cause instanceof Failure ? cause.requestId : null;
  const message = `This service has no streaming channel that molar can read; the specification leaves its transport open. ${reason}`;
  return localFailure('stream.unavailable', message, { hint: insteadOf(resource), requestId, cause });
}

/** Whether a failure says that the service has no channel. */
export function isNoChannel(cause: unknown): cause is Failure {
  return cause instanceof Failure && cause.code === 'stream.unavailable';
}

function insteadOf(resource: Resource): string {
  const { name, operations } = resource;
  if (operations.report !== undefined) return `Run it without --async: molar ${name} report.`;
  if (operations.list?.unlisted !== true) return `Run it without --async: molar ${name} list.`;
  return `Without --async molar requests GET ${API_PREFIX}${operations.list.path}, which the specification does not list; molar api ${operationOf(resource, 'async').path} shows the first ten.`;
}
