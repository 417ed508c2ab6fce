import { quoted } from '../names.ts';
import type { Finding } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import type { Dialect } from './database.ts';
import { isMissing } from './publishing.ts';

/**
 * SQL for the ids of the patients who referred those that were staged or not found, `:name` of the resource; undefined for
 * a table without referrals.
 */
export function referrersQuery(
  { name, columns, children }: MirrorTable,
  found: Finding | null,
  { numberAt }: Dialect,
): string | undefined {
  const column = columns.find(({ path }) => path[0] === 'referredByPatient');
  if (column === undefined || !children.some(({ field }) => field === 'referredPatients')) return undefined;
  const [table, referrer] = [quoted(name), `t.${quoted(column.name)}`];
  return `SELECT CAST(r.id AS TEXT) AS id FROM (
    SELECT ${numberAt('record', column.field ?? '')} AS id FROM _staged WHERE resource = :name
    UNION SELECT ${referrer} FROM _staged AS s JOIN ${table} AS t ON t.id = s.id WHERE s.resource = :name
    ${found === null ? '' : `UNION SELECT ${referrer} FROM ${table} AS t WHERE ${isMissing(found)}`}
  ) AS r WHERE r.id IS NOT NULL`;
}
