import { refuse } from './refusal.ts';
import type { Comparable, ValueKind } from './values.ts';

/** Longer ones first, so that `<>=` is not read as `<`. */
const OPERATORS = ['<>=', '==', '!=', '~=', '->', '>=', '<=', '>', '<', '.absent', '.present'] as const;

export type Operator = (typeof OPERATORS)[number];

export interface Key {
  readonly operators: readonly Operator[];
  readonly kind: ValueKind;
  /** Where the value stands in a record; the key itself where absent. */
  readonly field?: string;
}

export type Keys = Readonly<Record<string, Key>>;

export interface Term {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly Comparable[];
}

export const RANGE: readonly Operator[] = ['>', '>=', '<', '<='];
export const EQUAL: readonly Operator[] = ['=='];
export const LINK: readonly Operator[] = ['==', '!=', '->'];
export const WORDS: readonly Operator[] = ['==', '!=', '~=', '<>='];

/** Reads a filter (Common conventions 2); refuses every key, operator and value that is not listed. */
export function readFilter(written: string, keys: Keys): Term[] {
  const [head, key = '', operator = ''] =
    HEAD.exec(written) ?? refuse(`filter term ${written} has no key and operator.`);
  const tail = written.slice(head.length);
  const [value, after] = operator === '->' ? splitList(tail, key) : splitValue(tail);
  const term = readTerm(key, operator as Operator, value, keys);
  return after === undefined ? [term] : [term, ...readFilter(after, keys)];
}

const HEAD = new RegExp(`^([^=!~<>,]*?)(${OPERATORS.map((operator) => operator.replace('.', '\\.')).join('|')})`);
const LIST = /^\[((?:"[^"]*"|[^"\]])*)\](?:,(.*))?$/s;
const ITEMS = /(?:^|,)(?:"([^"]*)"|([^",]*))(?=,|$)/g;

function splitList(written: string, key: string): [string, string | undefined] {
  const [, items = '', after] = LIST.exec(written) ?? refuse(`${key}-> takes a bracketed list, not ${written}.`);
  return [items, after];
}

function splitValue(written: string): [string, string | undefined] {
  const comma = written.indexOf(',');
  return comma < 0 ? [written, undefined] : [written.slice(0, comma), written.slice(comma + 1)];
}

function readTerm(key: string, operator: Operator, value: string, keys: Keys): Term {
  const known = keys[key] ?? refuse(`filter key ${key} is not listed.`);
  if (!known.operators.includes(operator)) refuse(`filter key ${key} does not list the operator ${operator}.`);
  return { key, operator, values: readValues(value, key, operator, known.kind) };
}

function readValues(written: string, key: string, operator: Operator, kind: ValueKind): Comparable[] {
  if (operator === '.absent' || operator === '.present') {
    return written === '' ? [] : refuse(`${key}${operator} takes no value.`);
  }
  if (operator !== '->') return [kind.read(written, key)];
  const items = [...written.matchAll(ITEMS)];
  const length = items.reduce((sum, [all]) => sum + all.length, 0);
  if (written === '' || length !== written.length) refuse(`${key}-> has a list that cannot be read: ${written}`);
  return items.map(([, quoted, bare]) => kind.read(quoted ?? bare ?? '', key));
}
