import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import type { Fields } from '../../catalog/fields/kind.ts';
import { REFERENCES, REFERENCES_LOCATED_BY } from '../../catalog/resources/references.ts';
import { type JsonRecord, linkColumn, linkInJson, tableOf } from './layout.ts';
import type { Reader } from './store.ts';

/**
 * Whose records are read or linked to: those of an organization (its key in the store), and of these locations alone
 * where they are given. All that is elsewhere does not exist then (contract §8).
 */
export interface Reach {
  readonly org: number;
  readonly locations?: readonly number[];
}

/** In place of a location: the record has none, and everybody sees it. No location has this id. */
export const EVERYWHERE = 0;

/** A kind of record as it is stored: a resource, or one that is only linked to. */
interface Kind {
  readonly fields: Fields;
  readonly locatedBy: readonly string[];
  /** Rows of this kind by an alias of the table, and the id that one of their links has. */
  readonly from: (alias: string) => { readonly table: Sql; readonly only: Sql };
  readonly linkOf: (alias: string, field: string) => Sql;
}

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ...STORED_RESOURCES.map((resource): [string, Kind] => [
    resource.type,
    {
      fields: resource.fields,
      locatedBy: resource.locatedBy,
      from: (alias) => ({ table: raw(`${tableOf(resource)} ${alias}`), only: empty }),
      linkOf: (alias, field) => raw(linkColumn(resource, alias, field)),
    },
  ]),
  ...Object.entries(REFERENCES).map(([type, fields]): [string, Kind] => [
    type,
    {
      fields,
      locatedBy: REFERENCES_LOCATED_BY[type as keyof typeof REFERENCES],
      from: (alias) => ({ table: raw(`reference_records ${alias}`), only: sql` AND ${raw(alias)}.type = ${type}` }),
      linkOf: (alias, field) => raw(linkInJson(alias, field)),
    },
  ]),
]);

const LOCATION = 'Location';

/**
 * The condition, ANDed, that the records of a type are within reach; `alias` is that of their table. Not `indexed`: in a
 * form that no index is taken for, where records are read in the order of their ids.
 */
export function seenBy({ locations }: Reach, type: string, alias = 'r', indexed = true): Sql {
  const kind = KINDS.get(type);
  if (locations === undefined || kind === undefined) return empty;
  const wanted = join([EVERYWHERE, ...locations]);
  if (type === LOCATION) return sql` AND ${raw(alias)}.id IN (${wanted})`;
  return kind.locatedBy.length === 0 ? empty : sql` AND ${isWithin(kind, kind.locatedBy, alias, wanted, indexed)}`;
}

/** Link by link, so that a store can take its indexes. */
function isWithin(kind: Kind, [name, ...others]: readonly string[], alias: string, wanted: Sql, indexed: boolean): Sql {
  if (name === undefined) return raw('1 = 1');
  const location = locationOfLink(kind, name, alias);
  const here = sql`${indexed ? location : sql`(CASE WHEN true THEN ${location} END)`} IN (${wanted})`;
  if (kind.fields[name]?.required) return here;
  return sql`(${here} OR (${kind.linkOf(alias, name)} IS NULL AND ${isWithin(kind, others, alias, wanted, indexed)}))`;
}

/** The location of the records of a type: its id, `EVERYWHERE`, or NULL where nobody knows it; `alias` is that of their table. */
export function locationOf(type: string, alias = 'r'): Sql {
  const kind = KINDS.get(type);
  if (type === LOCATION) return raw(`${alias}.id`);
  if (kind === undefined || kind.locatedBy.length === 0) return raw(String(EVERYWHERE));
  const links = kind.locatedBy.map((name) => locationOfLink(kind, name, alias));
  const none = kind.locatedBy.map((name) => sql`${kind.linkOf(alias, name)} IS NULL`);
  const otherwise = sql`CASE WHEN ${isRequired(kind) ? raw('1 = 0') : join(none, ' AND ')} THEN ${raw(String(EVERYWHERE))} END`;
  return sql`COALESCE(${join([...links, otherwise])})`;
}

function locationOfLink(kind: Kind, name: string, alias: string): Sql {
  const id = kind.linkOf(alias, name);
  const type = targetOf(kind, name);
  if (type === LOCATION) return id;
  const { table, only } = (KINDS.get(type) as Kind).from(`${alias}w`);
  const owner = raw(`${alias}w`);
  return sql`(SELECT ${locationOf(type, `${alias}w`)} FROM ${table} WHERE ${owner}.org = ${raw(alias)}.org AND ${owner}.id = ${id}${only})`;
}

function targetOf({ fields }: Kind, name: string): string {
  return fields[name]?.kind.target ?? '';
}

function isRequired({ fields, locatedBy }: Kind): boolean {
  return locatedBy.some((name) => fields[name]?.required);
}

/** The location of a record that is at hand, as `locationOf` has it; null where nobody knows it. */
export async function locationOfRecord(
  read: Reader,
  org: number,
  type: string,
  record: JsonRecord,
): Promise<number | null> {
  const kind = KINDS.get(type) as Kind;
  for (const name of kind.locatedBy) {
    const id = (record[name] as { readonly id: number } | null | undefined)?.id;
    if (id === undefined) continue;
    const target = targetOf(kind, name);
    if (target === LOCATION) return id;
    const { table, only } = (KINDS.get(target) as Kind).from('r');
    const row = await read.get<{ location: number | null }>(
      sql`SELECT ${locationOf(target)} AS location FROM ${table} WHERE r.org = ${org} AND r.id = ${id}${only}`,
    );
    return row?.location ?? null;
  }
  return isRequired(kind) ? null : EVERYWHERE;
}
