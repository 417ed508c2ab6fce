import { DateTime } from 'luxon';
import type { Operation } from '../catalog/define.ts';
import type { Term } from '../catalog/filter/check.ts';
import type { Organization } from './organizations.ts';

/**
 * The automatic date filter of an operation: `key >=` the later of one year ago and the organization's creation, when
 * no date-limiting key was sent (D13). Undefined where none applies.
 */
export function defaultDateTerm(
  operation: Operation,
  terms: readonly Term[],
  organization: Organization,
  now: number,
): Term | undefined {
  const { defaultDate, filters } = operation;
  if (defaultDate === undefined || terms.some((term) => defaultDate.limiting.includes(term.key.key))) return undefined;
  const key = filters?.[defaultDate.key];
  if (key === undefined) return undefined;
  const zone = organization.timezone;
  const yearAgo = DateTime.fromMillis(now, { zone }).minus({ years: 1 });
  const created = DateTime.fromISO(organization.createdDate, { zone });
  const from = created > yearAgo ? created : yearAgo;
  const bound = key.value.name === 'date' ? from.toFormat('yyyy-MM-dd') : from.toUTC().toISO();
  return { key, operator: '>=', values: [bound ?? ''], all: false };
}
