import { quoted } from '../names.ts';
import type { Finding } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import type { Dialect } from './database.ts';
import { isMissing } from './publishing.ts';

/**
 * SQL for the ids of patients whose `referredPatients` may have changed because other patients were staged or are gone:
 * those whom a staged record names as its referrer, and those whose list has a patient that is staged or gone. `:name` of
 * the resource; undefined for a table without referrals.
 *
 * Whom a row names is not enough: a patient that was itself fetched as a referrer may have its new referrer already, while
 * the list of the old one still has it.
 */
export function referrersQuery(
  { name, columns, children }: MirrorTable,
  found: Finding | null,
  { numberAt }: Dialect,
): string | undefined {
  const referrer = columns.find(({ path }) => path[0] === 'referredByPatient');
  const list = children.find(({ field }) => field === 'referredPatients');
  const [referred] = list?.columns ?? [];
  if (referrer === undefined || list === undefined || referred === undefined) return undefined;
  const lists = `SELECT l.${quoted(list.parentKey)} AS id FROM ${quoted(list.name)} AS l`;
  const isOf = (alias: string) => `l.${quoted(referred.name)} = ${alias}.id`;
  return `SELECT CAST(r.id AS TEXT) AS id FROM (
    SELECT ${numberAt('record', referrer.field ?? '')} AS id FROM _staged WHERE resource = :name
    UNION ${lists} JOIN _staged AS s ON ${isOf('s')} WHERE s.resource = :name
    ${found === null ? '' : `UNION ${lists} JOIN ${quoted(name)} AS t ON ${isOf('t')} WHERE ${isMissing(found)}`}
  ) AS r WHERE r.id IS NOT NULL`;
}
