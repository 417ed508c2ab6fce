import type { Operation } from '../../catalog/define.ts';
import { formatFilter, parseFilter } from '../../catalog/filter/grammar.ts';

/** Before every record: no practice management system is older. */
const EARLIEST = '0001-01-01';

/**
 * A filter that asks for all records where the server would limit them by a date of its own: the early bound is added
 * when no date-limiting key is in it (D13). Other filters, and other operations, stay as they are.
 */
export function withEarlyBound(filter: string | undefined, { defaultDate }: Operation): string | undefined {
  if (defaultDate === undefined) return filter;
  const terms = parseFilter(filter ?? '');
  if (terms.some((term) => defaultDate.limiting.includes(term.key))) return filter;
  return formatFilter([...terms, { key: defaultDate.key, operator: '>=', values: [EARLIEST] }]);
}
