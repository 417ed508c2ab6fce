import sql, { join, raw } from 'sql-template-tag';
import { STORED_RESOURCES } from '../catalog/catalog.ts';
import type { Problem } from '../catalog/failures.ts';
import type { Fields } from '../catalog/fields/kind.ts';
import { tableOf } from './store/layout.ts';
import { type Reach, seenBy } from './store/reach.ts';
import { statement } from './store/statement.ts';
import type { Reader } from './store/store.ts';

/** Kinds that cannot be imported: links to them are not checked (contract §7). */
const UNCHECKED = new Set([
  'PatientProcedure',
  'SubscriberInsurancePlan',
  'OrganizationLedgerType',
  'InsurancePayment',
]);

/** A link found in a record: its target, and its path in the record. */
export interface FoundLink {
  readonly target: string;
  readonly id: number;
  readonly at: string;
}

/** Every link of a record's values, those in lists, maps and objects included; of some fields alone when `only` is given. */
export function linksOf(
  fields: Fields,
  values: Readonly<Record<string, unknown>>,
  only?: ReadonlySet<string>,
): FoundLink[] {
  const found: FoundLink[] = [];
  for (const [name, target] of checkedLinks(fields)) {
    if (only === undefined || only.has(name)) collect(values[name], target, name, found);
  }
  return found;
}

const checked = new WeakMap<Fields, readonly (readonly [name: string, target: string])[]>();

/** The fields whose links are checked, and what they link to. */
function checkedLinks(fields: Fields): readonly (readonly [name: string, target: string])[] {
  const known = checked.get(fields);
  if (known !== undefined) return known;
  const made = Object.entries(fields).flatMap(([name, { kind }]) =>
    kind.target === undefined || UNCHECKED.has(kind.target) ? [] : [[name, kind.target] as const],
  );
  checked.set(fields, made);
  return made;
}

function collect(value: unknown, target: string, at: string, found: FoundLink[]): void {
  if (typeof value !== 'object' || value === null) return;
  if ('id' in value && typeof value.id === 'number') {
    found.push({ target, id: value.id, at });
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, target, `${at}[${index}]`, found);
  } else {
    for (const [key, item] of Object.entries(value)) collect(item, target, `${at}.${key}`, found);
  }
}

/** The ids of one kind that exist within reach, of those given. */
export async function existingIds(
  read: Reader,
  reach: Reach,
  target: string,
  ids: readonly number[],
): Promise<Set<number>> {
  const { org } = reach;
  const resource = STORED_RESOURCES.find((candidate) => candidate.type === target);
  const found = new Set<number>();
  const [only] = ids;
  if (resource === undefined && ids.length === 1 && only !== undefined && reach.locations === undefined) {
    const one = statement`SELECT id FROM reference_records WHERE org = ${org} AND type = ${target} AND id = ${only}`;
    return (await read.get(one)) === undefined ? found : found.add(only);
  }
  const seen = seenBy(reach, target);
  const distinct = [...new Set(ids)];
  for (let at = 0; at < distinct.length; at += IDS_AT_ONCE) {
    const wanted = join(distinct.slice(at, at + IDS_AT_ONCE));
    const rows = await read.all<{ id: number }>(
      resource === undefined
        ? sql`SELECT r.id FROM reference_records r WHERE r.org = ${org} AND r.type = ${target} AND r.id IN (${wanted})${seen}`
        : sql`SELECT r.id FROM ${raw(tableOf(resource))} r WHERE r.org = ${org} AND r.id IN (${wanted})${seen}`,
    );
    for (const { id } of rows) found.add(id);
  }
  return found;
}

/** Ids of one statement: SQLite takes 32,766 values, PostgreSQL 65,535. */
const IDS_AT_ONCE = 5000;

/** Reports links to records that there are not within reach. */
export async function checkLinks(
  read: Reader,
  reach: Reach,
  links: readonly FoundLink[],
  problems: Problem[],
): Promise<void> {
  if (links.length === 0) return;
  for (const target of new Set(links.map((link) => link.target))) {
    const group = links.filter((link) => link.target === target);
    const ids = group.map(({ id }) => id);
    const known = await existingIds(read, reach, target, ids);
    for (const { id, at } of group.filter((link) => !known.has(link.id))) {
      const description = `${at}.id: there is no ${target} ${id} in this organization.`;
      problems.push({ code: 'field.link_unknown', source: `${at}.id`, description });
    }
  }
}

/** The fields that are read of kinds that are only linked to. */
export interface ReferenceRecord {
  readonly id: number;
  readonly timezone?: string | null;
  readonly location?: { readonly id: number } | null;
  readonly isActive?: boolean | null;
  readonly isNonPersonEntity?: boolean | null;
}

/** A record of a kind that is only linked to; undefined where there is none within reach. */
export async function referenceRecord(
  read: Reader,
  reach: Reach,
  type: string,
  id: number | undefined,
): Promise<ReferenceRecord | undefined> {
  if (id === undefined) return undefined;
  const row = await read.get<{ json: string }>(
    sql`SELECT r.json FROM reference_records r
      WHERE r.org = ${reach.org} AND r.type = ${type} AND r.id = ${id}${seenBy(reach, type)}`,
  );
  return row && (JSON.parse(row.json) as ReferenceRecord);
}

/** Time zone of a location; undefined where it has none of its own and the organization's applies. */
export async function zoneOfLocation(read: Reader, reach: Reach, id: number | undefined): Promise<string | undefined> {
  return (await referenceRecord(read, reach, 'Location', id))?.timezone ?? undefined;
}
