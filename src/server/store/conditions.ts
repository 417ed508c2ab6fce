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

/**
 * How a filter finds records: by the indexes of its columns; `onwards` from a place in the index of a range; by scanning
 * the ids, or those of an exact value, and checking each record; or by nothing, as the `rows` are found otherwise.
 */
export type AccessPath = 'indexes' | 'onwards' | 'ids' | 'rows';

/** Whether an index serves a term only out of id order. */
export function isRange({ operator }: Term): boolean {
  return RANGES.includes(operator);
}

/** The column that the ranges of a key are compared with: text is compared in its folded form. */
export function rangedColumn({ key, value }: Term['key']): string {
  return value.match === 'text' ? foldColumn(key) : columnName(key);
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
  if (term.key.value.match === 'many') return sideCondition(org, resource, term, way);
  const column = hidden(`r.${columnName(term.key.key)}`, way === 'rows');
  const [value] = term.values.map(columnValue);
  switch (term.operator) {
    case '.absent':
      return sql`${column} IS NULL`;
    case '.present':
      return sql`${column} IS NOT NULL`;
    case '==':
      return equals(term, column, way);
    case '!=':
      // The exact complement of ==: a record without a value satisfies it (D11).
      return sql`${column} IS DISTINCT FROM ${value}`;
    case '->':
      return sql`${column} IN (${join([...new Set(term.values.map(columnValue))])})`;
    case '~=':
      return startsWith(`r.${foldColumn(term.key.key)}`, folded(term), way);
    case '<>=':
      return sql`INSTR(${raw(`r.${foldColumn(term.key.key)}`)}, ${folded(term)}) > 0`;
    default:
      return sql`${ranged(`r.${columnName(term.key.key)}`, term.operator, way)} ${raw(term.operator)} ${value}`;
  }
}

/** A column that is compared with an end of a range; onwards from a place in its index only the upper end is to be found. */
function ranged(column: string, operator: Operator, way: AccessPath): Sql {
  return hidden(column, way === 'ids' || way === 'rows' || (way === 'onwards' && operator.startsWith('>')));
}

/**
 * A column in a form that SQLite, which has no figures of its own to go by, takes no index for; PostgreSQL takes it for the
 * column itself, and knows better.
 */
function hidden(column: string, isHidden: boolean): Sql {
  return raw(isHidden ? `(CASE WHEN true THEN ${column} END)` : column);
}

/** Text is indexed by its folded form only: the exact comparison picks from what the index finds. */
function equals(term: Term, column: Sql, way: AccessPath): Sql {
  const [value] = term.values.map(columnValue);
  if (term.key.value.match !== 'text') return sql`${column} = ${value}`;
  return sql`${column} = ${value} AND ${hidden(`r.${foldColumn(term.key.key)}`, way === 'rows')} = ${folded(term)}`;
}

function columnValue(value: FilterScalar): FilterScalar {
  return typeof value === 'string' ? columnText(value) : value;
}

/** The form in which a text of a term is found by its index. */
export function folded(term: Term): string {
  return columnText(foldText(String(term.values[0])));
}

function startsWith(column: string, prefix: string, way: AccessPath): Sql {
  return sql`${ranged(column, '>=', way)} >= ${prefix} AND ${ranged(column, '<', way)} < ${prefix + LAST}`;
}

/** Not bound to the record by more than its id, so that no store looks once for each record, unless they are found otherwise. */
function sideCondition(org: number, resource: Resource, term: Term, way: AccessPath): Sql {
  const values = join([...new Set(term.values)]);
  const matching = sql`SELECT s.id FROM ${raw(sideTable(resource, term.key.key))} s WHERE s.org = ${org} AND s.value IN (${values})`;
  if (term.operator === '!=') return sql`NOT EXISTS (${matching} AND s.id = r.id)`;
  return way === 'rows' ? sql`EXISTS (${matching} AND s.id = r.id)` : sql`r.id IN (${matching})`;
}
