import { operationOf } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { formatFilter, type RawTerm } from '../../catalog/filter/grammar.ts';
import { MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import type { ApiClient } from '../transport/client.ts';
import type { Row } from './page.ts';
import { walkPages } from './walk.ts';

/** How far the clocks of the two sides may be apart, milliseconds. */
const CLOCK_TOLERANCE = 10 * 60_000;

/**
 * A way to tell whether a POST of unknown outcome made its record (contract §5): the newest one changed since
 * `startedAt` (UTC milliseconds) that holds everything that was sent. Undefined for a resource that cannot be asked
 * that precisely; an older record that looks the same must not be taken for the new one.
 */
export function createdLookUp(
  client: ApiClient,
  resource: Resource,
  values: Readonly<Record<string, unknown>>,
  startedAt: number,
): ((signal?: AbortSignal) => Promise<Row | undefined>) | undefined {
  const list: Operation | undefined = resource.operations.list;
  const since = list?.filters?.lastModified;
  if (list === undefined || !since?.operators.includes('>=')) return undefined;
  const known = identifyingTerms(values, list);
  if (known.length === 0) return undefined;
  const from = new Date(startedAt - CLOCK_TOLERANCE).toISOString();
  const filter = formatFilter([...known, { key: 'lastModified', operator: '>=', values: [from] }]);
  return async (signal) => {
    let found: Row | undefined;
    for await (const page of walkPages(client, operationOf(resource, 'list'), {
      filter,
      pageSize: MAX_PAGE_SIZE,
      signal,
    })) {
      found = page.rows.findLast((row) => holds(row, values)) ?? found;
    }
    return found;
  };
}

/** Every value sent that the list can be filtered by for equality. */
function identifyingTerms(values: Readonly<Record<string, unknown>>, list: Operation): RawTerm[] {
  return Object.entries(values).flatMap(([name, value]): RawTerm[] => {
    const [key, scalar] = isPlainObject(value) ? [`${name}.id`, value.id] : [name, value];
    const takesEquals = list.filters?.[key]?.operators.includes('==');
    const isText = typeof scalar === 'string' && scalar !== '';
    return takesEquals && (isText || typeof scalar === 'number')
      ? [{ key, operator: '==', values: [String(scalar)] }]
      : [];
  });
}

/** Whether a stored value has everything that was sent; ids count as equal as number and as text (D1). */
export function holds(stored: unknown, sent: unknown): boolean {
  if (sent === null || sent === undefined) return stored === null || stored === undefined;
  if (Array.isArray(sent)) {
    return (
      Array.isArray(stored) && stored.length === sent.length && sent.every((entry, at) => holds(stored[at], entry))
    );
  }
  if (isPlainObject(sent)) {
    return isPlainObject(stored) && Object.entries(sent).every(([name, value]) => holds(stored[name], value));
  }
  return String(stored) === String(sent);
}
