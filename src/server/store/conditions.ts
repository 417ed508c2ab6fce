import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { Resource } from '../../catalog/define.ts';
import type { Term } from '../../catalog/filter/check.ts';
import { type FilterScalar, foldText } from '../../catalog/filter/values.ts';
import type { Operator } from '../../catalog/operators.ts';
import { columnName, columnText, foldColumn, sideTable } from './layout.ts';
import { type Reach, seenBy } from './reach.ts';

/** Beyond every text that starts with a prefix: the last code point sorts after all others in UTF-8 order. */
const LAST = '\u{10FFFF}';

/** Operators that select a range of values rather than some of them. */
const RANGES: readonly Operator[] = ['>', '>=', '<', '<=', '~='];

/** How a filter finds records: by the indexes of its columns, or by scanning the ids and checking each record. */
export type AccessPath = 'indexes' | 'ids';

/** Terms that an index serves only out of id order. */
export function rangeTerms(terms: readonly Term[]): Term[] {
  return terms.filter((term) => RANGES.includes(term.operator));
}

/** Whether a term selects the records that have one of its values. */
export function isOneOf({ operator }: Term): boolean {
  return operator === '==' || operator === '->';
}

/** The WHERE clause of a checked filter and of what the reader sees, ANDed; `r` is the alias of the resource's table. */
export function conditionsOf(
  reach: Reach,
  resource: Resource,
  terms: readonly Term[],
  way: AccessPath = 'indexes',
): Sql {
  const limits = terms.filter((term) => !term.all).map((term) => sql`(${conditionOf(reach.org, resource, term, way)})`);
  const seen = seenBy(reach, resource.type, 'r', way === 'indexes');
  return limits.length === 0 ? seen : sql` AND ${join(limits, ' AND ')}${seen}`;
}

function conditionOf(org: number, resource: Resource, term: Term, way: AccessPath): Sql {
  if (term.key.value.match === 'many') return sideCondition(org, resource, term);
  const column = raw(`r.${columnName(term.key.key)}`);
  const [value] = term.values.map(columnValue);
  switch (term.operator) {
    case '.absent':
      return sql`${column} IS NULL`;
    case '.present':
      return sql`${column} IS NOT NULL`;
    case '==':
      return equals(term, column);
    case '!=':
      // The exact complement of ==: a record without a value satisfies it (D11).
      return sql`${column} IS DISTINCT FROM ${value}`;
    case '->':
      return sql`${column} IN (${join([...new Set(term.values.map(columnValue))])})`;
    case '~=':
      return startsWith(ranged(`r.${foldColumn(term.key.key)}`, way), folded(term));
    case '<>=':
      return sql`INSTR(${raw(`r.${foldColumn(term.key.key)}`)}, ${folded(term)}) > 0`;
    default:
      return sql`${ranged(`r.${columnName(term.key.key)}`, way)} ${raw(term.operator)} ${value}`;
  }
}

/**
 * A column that is compared with a range. Along the ids it is in a form that SQLite, which has no figures of its own to
 * go by, takes no index for; PostgreSQL takes it for the column itself, and knows better.
 */
function ranged(column: string, way: AccessPath): Sql {
  return raw(way === 'indexes' ? column : `(CASE WHEN true THEN ${column} END)`);
}

/** Text is indexed by its folded form only: the exact comparison picks from what the index finds. */
function equals(term: Term, column: Sql): Sql {
  const [value] = term.values.map(columnValue);
  if (term.key.value.match !== 'text') return sql`${column} = ${value}`;
  return sql`${column} = ${value} AND ${raw(`r.${foldColumn(term.key.key)}`)} = ${folded(term)}`;
}

function columnValue(value: FilterScalar): FilterScalar {
  return typeof value === 'string' ? columnText(value) : value;
}

function folded(term: Term): string {
  return columnText(foldText(String(term.values[0])));
}

function startsWith(column: Sql, prefix: string): Sql {
  return sql`${column} >= ${prefix} AND ${column} < ${prefix + LAST}`;
}

/** Not bound to the record by more than its id, so that no store looks once for each record. */
function sideCondition(org: number, resource: Resource, term: Term): Sql {
  const values = join([...new Set(term.values)]);
  const matching = sql`SELECT s.id FROM ${raw(sideTable(resource, term.key.key))} s WHERE s.org = ${org} AND s.value IN (${values})`;
  return term.operator === '!=' ? sql`NOT EXISTS (${matching} AND s.id = r.id)` : sql`r.id IN (${matching})`;
}
