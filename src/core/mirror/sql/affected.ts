import { quoted } from '../names.ts';
import type { Finding } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import type { Dialect } from './database.ts';
import { isMissing } from './publishing.ts';

/**
 * SQL for the ids of records that may have changed because others were staged or are gone, which their own `lastModified`
 * need not show; undefined for tables without such records. `:name`: the resource.
 */
export function affectedQuery(table: MirrorTable, found: Finding | null, dialect: Dialect): string | undefined {
  return originalsQuery(table, dialect) ?? referrersQuery(table, found, dialect);
}

/**
 * Of transactions: the originals that staged corrections have made inactive (specification, Transaction corrections). One
 * whose row says so already stays as it is, and is not read again.
 */
function originalsQuery({ name, columns }: MirrorTable, { numberAt }: Dialect): string | undefined {
  const original = columns.find(({ path }) => path[0] === 'previousTransaction');
  const signs = columns.flatMap((column) => {
    if (column.field === 'isActive') return `NOT t.${quoted(column.name)}`;
    return column.path[0] === 'replacedByTransaction' ? `t.${quoted(column.name)} IS NOT NULL` : [];
  });
  if (original === undefined || signs.length === 0) return undefined;
  return `SELECT CAST(o.id AS TEXT) AS id FROM (
    SELECT DISTINCT ${numberAt('record', original.field ?? '')} AS id FROM _staged WHERE resource = :name
  ) AS o WHERE o.id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM ${quoted(name)} AS t WHERE t.id = o.id AND (${signs.join(' OR ')}))`;
}

/**
 * Of patients: those whose `referredPatients` may be another list, which are those whom a staged record names as its
 * referrer, and those whose list has a patient that is staged or gone.
 *
 * Whom a row names is not enough: a patient that was itself fetched as a referrer may have its new referrer already, while
 * the list of the old one still has it.
 */
function referrersQuery(
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
