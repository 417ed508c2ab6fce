import { quoted } from '../names.ts';
import type { Finding } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import type { Dialect } from './database.ts';
import { isMissing } from './publishing.ts';

/**
 * SQL for the ids of the patients whose lists of those they referred may be other ones, since the others were staged or not
 * found: whom those name as their referrer, and whose lists here have them. `:name` of the resource; undefined for a table
 * without referrals.
 *
 * It is not enough to ask for whom their rows name: a patient may get another referrer while lists are read, and then the
 * row is right and the list of the first referrer is not.
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
