import type { DateLimit, Operation } from '../../catalog/define.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import { formatFilter, parseFilter, type RawTerm } from '../../catalog/filter/grammar.ts';
import type { Operator } from '../../catalog/operators.ts';
import { ApiFailure } from '../transport/apifailure.ts';

/** Earlier than every record. */
const EARLIEST = '0001-01-01';

const LOWER: readonly Operator[] = ['>=', '>', '=='];

/**
 * A filter for records of any age where a service may limit them by date on its own (D48): an early bound is added
 * unless the filter has one. Other filters, and other operations, stay as they are.
 */
export function withEarlyBound(filter: string | undefined, operation: Operation): string | undefined {
  const limit = operation.dateLimit;
  if (limit === undefined || 'parts' in limit) return filter;
  const terms = parseFilter(filter ?? '');
  if (terms.some(({ key, operator }) => limit.limiting.includes(key) && LOWER.includes(operator))) return filter;
  // By the key's own type (D50).
  const bound = operation.filters?.[limit.key]?.value.name === 'date' ? EARLIEST : `${EARLIEST}T00:00:00Z`;
  return formatFilter([...terms, { key: limit.key, operator: '>=', values: [bound] }]);
}

/** The filters that together bring every matching record: one with an early bound, or parts of an undated resource. */
export function completeFilters(filter: string | undefined, operation: Operation): readonly (string | undefined)[] {
  const limit = operation.dateLimit;
  if (limit !== undefined && 'parts' in limit) return filter ? [filter] : limit.parts;
  return [withEarlyBound(filter, operation)];
}

/** Whether records without a date may exist that an early bound leaves out. */
export function mayBeUndated(limit: DateLimit | undefined): boolean {
  return limit !== undefined && 'key' in limit && limit.undated === true;
}

/** Whether a service refused the request as it stands (400). */
export function isRefused(cause: unknown): cause is ApiFailure {
  return cause instanceof ApiFailure && cause.status === 400;
}

/** Whether a request may have been refused for its missing filter on locations; a refusal may name no source. */
export function mayRequireLocation(cause: unknown, filter: string | undefined, keys: FilterKeys | undefined): boolean {
  if (!isRefused(cause) || forAllLocations(filter, keys) === undefined) return false;
  const names = [
    'filter',
    ...Object.values(keys ?? {}).flatMap(({ key, willBeRequired }) => (willBeRequired ? key : [])),
  ];
  return cause.problems.length === 0 || cause.problems.some(({ source }) => source === null || names.includes(source));
}

/**
 * The same filter for all locations, as the announced change will require (specification, Versioning 2); undefined
 * where the endpoint takes no location, or the filter names one.
 */
export function forAllLocations(filter: string | undefined, keys: FilterKeys = {}): string | undefined {
  const location = Object.values(keys).find(({ willBeRequired }) => willBeRequired);
  if (location === undefined) return undefined;
  const terms: RawTerm[] = parseFilter(filter ?? '');
  if (terms.some(({ key }) => key === location.key)) return undefined;
  return [...(filter ? [filter] : []), `${location.key}->["ALL"]`].join(',');
}

/** Requests with a filter, and again for all locations if refused for naming none. Throws the first refusal of both. */
export async function withLocationFallback<T>(
  filter: string | undefined,
  keys: FilterKeys | undefined,
  request: (filter: string | undefined) => Promise<T>,
): Promise<T> {
  try {
    return await request(filter);
  } catch (cause) {
    if (!mayRequireLocation(cause, filter, keys)) throw cause;
    return request(forAllLocations(filter, keys)).catch((second: unknown) => {
      throw isRefused(second) ? cause : second;
    });
  }
}
