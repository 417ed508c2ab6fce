import { type Problem, Refusal } from '../failures.ts';
import { hasLongRun } from '../fields/text.ts';
import type { Operator } from '../operators.ts';
import { isQuotedAlone, parseFilter, type RawTerm } from './grammar.ts';
import type { FilterContext, FilterScalar, FilterValue } from './values.ts';

/** A key that an endpoint can be filtered by. `shortcuts`: the command-line flags that stand for it. */
export interface FilterKey {
  readonly key: string;
  readonly operators: readonly Operator[];
  readonly value: FilterValue;
  readonly about: string;
  readonly shortcuts: readonly Shortcut[];
  /** The endpoint answers only when the filter has this key. */
  readonly required: boolean;
  /** The message for a request without a required key. */
  readonly missing?: string;
  /** The announced change makes this location key required; a setting of the server already does (D12). */
  readonly willBeRequired?: boolean;
  readonly index: KeyIndex;
  /** Many records share each value, as those of a location do: passed on to the server's query planner. */
  readonly fewValues: boolean;
}

/** The index that the server's store has for a key: none, one of the records that have a value, or one of all records. */
export type KeyIndex = 'none' | 'present' | 'plain';

/** `--flag value` stands for `key operator value`. */
export interface Shortcut {
  readonly flag: string;
  readonly operator: Operator;
}

export type FilterKeys = Readonly<Record<string, FilterKey>>;

/** A term whose key, operator and values have been checked. `values` is empty for `.absent`, `.present` and ALL locations. */
export interface Term {
  readonly key: FilterKey;
  readonly operator: Operator;
  readonly values: readonly FilterScalar[];
  /** All locations were requested: the term limits nothing. */
  readonly all: boolean;
}

/** Reads and checks a filter; throws a Refusal with every problem found. */
export function checkFilter(text: string, keys: FilterKeys, context: FilterContext = {}): Term[] {
  return checkTerms(parseFilter(text), keys, context);
}

export function checkTerms(raw: readonly RawTerm[], keys: FilterKeys, context: FilterContext = {}): Term[] {
  const problems: Problem[] = [];
  const terms = raw.flatMap((term) => checkTerm(term, keys, context, problems) ?? []);
  for (const key of Object.values(keys)) {
    if (key.required && !raw.some((term) => term.key === key.key)) {
      problems.push({
        code: 'filter.missing',
        source: key.key,
        description: key.missing ?? `The filter must have ${key.key}.`,
      });
    }
  }
  if (problems.length > 0) throw new Refusal(problems);
  return terms;
}

/**
 * A term that passed the check as it is sent: each value in the form that the specification gives it (D50), and one that
 * needs quotes in a list where the key takes one.
 */
export function wireTerm(term: RawTerm, keys: FilterKeys, context: FilterContext): RawTerm {
  const key = keys[term.key];
  const wire = key?.value.wire;
  const sent = wire === undefined ? term : { ...term, values: term.values.map((text) => wire(text, context)) };
  const isListed = sent.operator === '==' && key?.operators.includes('->') && isQuotedAlone(sent);
  return isListed ? { ...sent, operator: '->' } : sent;
}

function checkTerm(raw: RawTerm, keys: FilterKeys, context: FilterContext, problems: Problem[]): Term | undefined {
  const key = Object.hasOwn(keys, raw.key) ? keys[raw.key] : undefined;
  if (key === undefined) {
    const known = Object.keys(keys).join(', ');
    problems.push({
      code: 'filter.key',
      source: raw.key,
      description: `${raw.key} is not a filter key here. Keys: ${known}.`,
    });
    return undefined;
  }
  if (!key.operators.includes(raw.operator)) {
    const description = `${raw.key} does not take ${raw.operator}. Operators: ${key.operators.join(' ')}.`;
    problems.push({ code: 'filter.operator', source: raw.key, description });
    return undefined;
  }
  if (key.value.all && raw.values.some(meansAll)) return checkAll(raw, key, problems);
  const values = raw.values.map((text) => readValue(text, raw, key, context, problems));
  return values.includes(undefined)
    ? undefined
    : { key, operator: raw.operator, values: values as FilterScalar[], all: false };
}

function readValue(text: string, raw: RawTerm, key: FilterKey, context: FilterContext, problems: Problem[]) {
  const value = text.includes('\0') || hasLongRun(text) ? undefined : key.value.read(text, raw.operator, context);
  if (value === undefined) {
    problems.push({
      code: 'filter.value',
      source: raw.key,
      description: `The value of ${raw.key} must be ${key.value.expected}.`,
    });
  }
  return value;
}

function meansAll(text: string): boolean {
  return text === '*' || text.toUpperCase() === 'ALL';
}

function checkAll(raw: RawTerm, key: FilterKey, problems: Problem[]): Term | undefined {
  const wrong =
    raw.operator === '!='
      ? `${raw.key}!=ALL would select nothing; name the locations.`
      : raw.values.length > 1
        ? `${raw.key} takes either ids or ALL, not both.`
        : undefined;
  if (wrong === undefined) return { key, operator: raw.operator, values: [], all: true };
  problems.push({ code: 'filter.value', source: raw.key, description: wrong });
  return undefined;
}
