import type { Operator } from '../../src/catalog/operators.ts';
import type { WireRecord } from '../support/calls.ts';

/**
 * What a filter selects, said a second time from D7–D12 and without any code of the server: the records are plain
 * objects in memory, the term is not read from text but given as data.
 */
export interface OracleTerm {
  readonly key: string;
  /** Kind of value: `text`, `id`, `choice`, `yesNo`, `date`, `dateTime`, `digits` or `tag`. */
  readonly kind: string;
  readonly operator: Operator;
  readonly values: readonly string[];
  /** ALL or `*` was asked for (D12). */
  readonly all?: boolean;
}

export function oracleIds(records: readonly WireRecord[], terms: readonly OracleTerm[]): unknown[] {
  return records.filter((record) => terms.every((term) => matches(record, term))).map((record) => record.id);
}

export function matches(record: WireRecord, term: OracleTerm): boolean {
  if (term.all) return true;
  const found = valuesOf(record, term.key.split('.'));
  const { operator } = term;
  if (operator === '.absent') return found.length === 0;
  if (operator === '.present') return found.length > 0;
  if (operator === '!=') return !matches(record, { ...term, operator: '==' });
  return found.some((value) => term.values.some((wanted) => compare(term.kind, operator, value, wanted)));
}

/** Every value at a path; lists count as each of their items, null as none. */
export function valuesOf(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesOf(item, path));
  if (value === null || value === undefined) return [];
  const [first, ...rest] = path;
  return first === undefined ? [value] : valuesOf((value as WireRecord)[first], rest);
}

function compare(kind: string, operator: Operator, value: unknown, wanted: string): boolean {
  switch (operator) {
    case '~=':
      return fold(String(value)).startsWith(fold(wanted));
    case '<>=':
      return fold(String(value)).includes(fold(wanted));
    case '>':
      return rank(kind, value) > rank(kind, wanted);
    case '>=':
      return rank(kind, value) >= rank(kind, wanted);
    case '<':
      return rank(kind, value) < rank(kind, wanted);
    case '<=':
      return rank(kind, value) <= rank(kind, wanted);
    default:
      return form(kind, value) === form(kind, wanted);
  }
}

function rank(kind: string, value: unknown): number {
  // Date.parse reads a date as midnight UTC: good for comparing dates with dates.
  return kind === 'date' || kind === 'dateTime' ? instantOf(String(value)) : Number(value);
}

/** Milliseconds, with what stands behind the third digit of a second; `Date.parse` would drop it. */
function instantOf(text: string): number {
  const finer = /\.\d{3}(\d+)/.exec(text)?.[1] ?? '';
  return Date.parse(text) + Number(`0.${finer}0`);
}

/** Two values are equal when their forms are. */
function form(kind: string, value: unknown): string {
  const text = String(value);
  switch (kind) {
    case 'choice':
    case 'yesNo':
      return text.toUpperCase();
    case 'tag':
      return fold(text);
    case 'digits':
      return [...text].filter((char) => char >= '0' && char <= '9').join('');
    case 'dateTime':
      return String(instantOf(text));
    case 'id':
      return String(Number(text));
    default:
      return text.normalize('NFC');
  }
}

function fold(text: string): string {
  return text.normalize('NFC').toLocaleLowerCase('en').normalize('NFC');
}
