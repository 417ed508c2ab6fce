import { pathOf } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { parseFilter } from '../../catalog/filter/grammar.ts';
import { countText, readCount } from '../count.ts';
import { Failure, localFailure } from '../failure.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import type { ApiClient, ApiResponse } from '../transport/client.ts';
import { mayBeUndated, withEarlyBound, withLocationFallback } from './completefilters.ts';
import { PageTimeout } from './page.ts';
import { inSlices, isTimeout, sliceKey } from './slices.ts';

/** The count in a response under either of its names (D18), as a number or digits; undefined where there is none. */
export function totalOf({ data }: Pick<ApiResponse, 'data'>): number | undefined {
  return isPlainObject(data) ? readCount(data.totalCount ?? data.total) : undefined;
}

/** The operation that counts what a resource lists, where the API has one that takes the filter. */
export function countOperationOf({ operations }: Resource, filter: string | undefined): Operation | undefined {
  const { count } = operations;
  const terms = parseFilter(filter ?? '');
  return terms.every(({ key }) => Object.hasOwn(count?.filters ?? {}, key)) ? count : undefined;
}

/** A count. */
export interface Counted {
  readonly total: number;
  /** `data` of the response; of a count in slices, made from their sum. */
  readonly data: unknown;
}

/** Options of a count. */
export interface CountOptions {
  /** UTC milliseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Called with what could not be counted. */
  readonly onUnproved: (what: string) => void;
}

/**
 * How many records match a filter, of any age (D48): with an early bound; where records may lack a date also without
 * it, and the larger counts; by slices of time where the service times out on all of it. Throws what a request throws,
 * and a Failure with exit code 8 for a response without a count.
 */
export async function countAll(
  client: ApiClient,
  operation: Operation,
  filter: string | undefined,
  options: CountOptions,
): Promise<Counted> {
  const bounded = withEarlyBound(filter, operation);
  const dated = await countOnce(client, operation, bounded, options.signal).catch((cause: unknown) => {
    if (isTimeout(cause)) return countSlices(client, operation, bounded, options);
    throw cause;
  });
  if (bounded === filter || !mayBeUndated(operation.dateLimit)) return dated;
  const plain = await countIfAllowed(client, operation, filter, options.signal);
  if (plain?.total === dated.total) return dated;
  const inAll = plain === undefined ? 'does not count the others' : `${countText(plain.total)} in all`;
  options.onUnproved(
    `The server counts ${countText(dated.total)} with a date, and ${inAll}: there may be more without a date.`,
  );
  return plain !== undefined && plain.total > dated.total ? plain : dated;
}

/** The count for exactly this filter; undefined where the service refuses it or times out. Throws as a request does. */
async function countIfAllowed(
  client: ApiClient,
  operation: Operation,
  filter: string | undefined,
  signal: AbortSignal,
): Promise<Counted | undefined> {
  try {
    return await countOnce(client, operation, filter, signal);
  } catch (cause) {
    const isRefusal = cause instanceof ApiFailure && cause.status < 500 && cause.status !== 429;
    if (isRefusal || (cause instanceof Failure && cause.code === 'response.malformed')) return undefined;
    throw cause;
  }
}

/** The count for exactly this filter. Throws as `countAll` does. */
export async function countOnce(
  client: ApiClient,
  operation: Operation,
  filter: string | undefined,
  signal: AbortSignal,
): Promise<Counted> {
  const response = await withLocationFallback(filter, operation.filters, (sent) =>
    client.request({
      method: 'GET',
      path: pathOf(operation),
      query: { filter: sent || undefined },
      onRetry: ({ status, attempt }) => {
        // A count that times out twice does so because of what it has to count.
        if (status === 408 && attempt >= 2) throw new PageTimeout();
      },
      signal,
    }),
  );
  const { data, requestId } = response;
  const total = totalOf(response);
  if (total !== undefined) return { total, data };
  throw localFailure('response.malformed', 'The server sent a response without a count.', { requestId });
}

async function countSlices(
  client: ApiClient,
  operation: Operation,
  filter: string | undefined,
  options: CountOptions,
): Promise<Counted> {
  const key = sliceKey(operation);
  if (key === undefined) throw new PageTimeout();
  let total = 0;
  const count = async function* (slice: string) {
    yield (await countOnce(client, operation, slice, options.signal)).total;
  };
  for await (const part of inSlices(filter, key, options.now(), count, options.onUnproved)) total += part;
  return { total, data: Object.fromEntries((operation.countNames ?? []).map((name) => [name, total])) };
}
