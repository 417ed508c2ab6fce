import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import type { Operation } from '../../catalog/define.ts';
import { type Problem, Refusal, refusal } from '../../catalog/failures.ts';
import { isDate } from '../../catalog/fields/times.ts';
import { checkTerms, type FilterKey, type FilterKeys, type Shortcut, wireTerm } from '../../catalog/filter/check.ts';
import {
  formatFilter,
  isQuotedAlone,
  parseFilter,
  parseTypedFilter,
  type RawTerm,
} from '../../catalog/filter/grammar.ts';
import type { FilterContext } from '../../catalog/filter/values.ts';
import { OPERATOR_MEANINGS, OPERATORS, type Operator, typedForms } from '../../catalog/operators.ts';
import { NAME_KINDS } from '../../core/names/namerows.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { Meaning } from './declare.ts';
import { type FlagValues, kebab, textFlags } from './values.ts';

const helpGroup = 'FILTER';

/** `--filter`, and one flag for each shortcut that the catalog gives a key. */
export function filterFlags(keys: FilterKeys): FlagInput {
  const shortcuts = shortcutsOf(keys).map(({ key, shortcut }) => [shortcut.flag, shortcutFlag(key, shortcut)] as const);
  const filter = Flags.string({
    helpGroup,
    helpValue: 'TERM',
    multiple: true,
    multipleNonGreedy: true,
    summary: `Filter term: key, operator, value, such as ${exampleTerm(keys)}; may be repeated`,
    description: describeKeys(keys),
  });
  return { filter, ...Object.fromEntries(shortcuts) };
}

/** A term that the keys allow, without signs that a shell takes for itself: from a day on where possible, else one of listed values, a day, or ids. */
export function exampleTerm(keys: FilterKeys): string {
  const all = Object.values(keys);
  const isDay = ({ value }: FilterKey) => value.name === 'date' || value.name === 'dateTime';
  const takes = (operator: Operator) => (key: FilterKey) => key.operators.includes(operator);
  const since = all.findLast((key) => isDay(key) && takes('>=')(key));
  if (since !== undefined) return `${since.key}.gte=2026-01-01`;
  const equal = all.filter(takes('=='));
  const chosen = equal.find(({ value }) => value.values !== undefined);
  if (chosen !== undefined) return `${chosen.key}.eq=${chosen.value.values?.[0]}`;
  const day = equal.find(isDay);
  if (day !== undefined) return `${day.key}.eq=2026-01-01`;
  const id = equal.find(({ value }) => value.name === 'id');
  return id === undefined ? `${all[0]?.key}.in=5,6` : `${id.key}.eq=5`;
}

/** `--server-defaults`, where a service may apply a date filter of its own (D48). */
export function defaultsFlag(operation: Operation): FlagInput {
  if (operation.dateLimit === undefined) return {};
  const summary = 'Let the server apply its own date filter when none is given; otherwise molar requests all records';
  return { 'server-defaults': Flags.boolean({ helpGroup, summary }) };
}

function shortcutFlag(key: FilterKey, { operator }: Shortcut) {
  const summary = `${key.about}${meaningOf(key, operator)}${key.required ? ' (required)' : ''}`;
  const means = meaningOfKey(key);
  const helpValue = means === 'date' ? 'DATE' : 'VALUE';
  const written = writtenFlag(key);
  const aliases = written === undefined ? [] : [written];
  const flag =
    operator === '->'
      ? Flags.string({ aliases, helpGroup, helpValue: 'A,B', multiple: true, multipleNonGreedy: true, summary })
      : Flags.string({ aliases, helpGroup, helpValue, summary });
  return means === undefined ? flag : { ...flag, means };
}

/**
 * The flag of a field where it is written, if a list has another one for it: what is `--guarantor` there is
 * `--primary-guarantor` here, and both take either.
 */
function writtenFlag({ key, shortcuts: [shortcut, other] }: FilterKey): string | undefined {
  const [field = '', part = 'id'] = key.split('.');
  const written = kebab(field);
  const isOther = shortcut !== undefined && other === undefined && shortcut.flag !== written;
  return isOther && part === 'id' ? written : undefined;
}

/** The flag of a list for a field, where it is called otherwise than the one that writes it. */
export function shortcutOf(field: string, keys: FilterKeys): string | undefined {
  return Object.values(keys).find((key) => writtenFlag(key) === kebab(field))?.shortcuts[0]?.flag;
}

function isNamed(key: FilterKey): boolean {
  const means = meaningOfKey(key);
  return means !== undefined && means !== 'date';
}

/** What texts of the key's flags are made into; `preferredLocation.id` is the id of a location. */
function meaningOfKey({ key, value }: FilterKey): Meaning | undefined {
  if (value.name === 'date' || value.name === 'dateTime') return 'date';
  return NAME_KINDS.find((kind) => key.toLowerCase().endsWith(`${kind}.id`));
}

const SHORT: Partial<Record<Operator, string>> = {
  '~=': ', starts with',
  '<>=': ', contains',
  '>=': ', from',
  '>': ', after',
  '<': ', before',
  '<=': ', up to and including',
};

function meaningOf(key: FilterKey, operator: Operator): string {
  if (key.value.values !== undefined) return `: ${key.value.values.join(', ')}`;
  if (isNamed(key)) return operator === '->' ? `: ids or names${key.value.all ? ', or ALL' : ''}` : ': id or name';
  if (operator === '->') return ': any of these';
  return SHORT[operator] ?? '';
}

function describeKeys(keys: FilterKeys): string {
  const lines = Object.values(keys).map((key) => `${key.key}  ${key.operators.join(' ')}`);
  const used = new Set(Object.values(keys).flatMap((key) => key.operators));
  return [
    'All terms must match. Keys and their operators:',
    ...lines,
    '',
    ...OPERATORS.filter((operator) => used.has(operator)).map(
      (operator) => `${typedForms(operator)}: ${OPERATOR_MEANINGS[operator]}`,
    ),
  ].join('\n');
}

/**
 * The filter that the flags describe as it is sent, undefined for none. `times` has the zone of date-times given without
 * one. Checked against the catalog; throws a Refusal that names each flag at fault.
 */
export function readFilter(flags: FlagValues, keys: FilterKeys, times: FilterContext = {}): string | undefined {
  const problems: Problem[] = [];
  const collect = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (cause) {
      if (!(cause instanceof Refusal)) throw cause;
      problems.push(...cause.problems);
      return undefined;
    }
  };
  const lenient = withoutRequired(keys);
  const written = textFlags(flags, 'filter').flatMap((text) => collect(() => readTerms(text, lenient)) ?? []);
  const short = shortcutsOf(keys).flatMap(({ key, shortcut }) => {
    const texts = textFlags(flags, shortcut.flag);
    return texts.length === 0 ? [] : (collect(() => [readShortcut(texts, key, shortcut, lenient)]) ?? []);
  });
  if (problems.length > 0) throw new Refusal(problems);
  const terms = [...written, ...short];
  requireKeys(terms, keys);
  return terms.length === 0 ? undefined : formatFilter(terms.map((term) => wireTerm(term, keys, times)));
}

/** A warning about quoted values outside of lists, which services may misread without an error; names keys, never values. */
export function quotedWarning(filter: string | undefined): string | undefined {
  const terms = parseFilter(filter ?? '').filter(isQuotedAlone);
  if (terms.length === 0) return undefined;
  const names = [...new Set(terms.map(({ key, operator }) => key + operator))].join(', ');
  return `Warning: a value of ${names} can only be sent in double quotes, which the API specifies for lists alone; the result may be wrong where the service takes them for part of the value.`;
}

function readTerms(text: string, keys: FilterKeys): RawTerm[] {
  const terms = parseTypedFilter(text);
  if (terms.length === 0) throw refusal('filter.syntax', '--filter', 'The filter is empty.');
  try {
    checkTerms(terms, keys);
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    throw new Refusal(cause.problems.map((problem) => withSuggestion(problem, keys)));
  }
  return terms;
}

function withSuggestion(problem: Problem, keys: FilterKeys): Problem {
  if (problem.code !== 'filter.key' || problem.source === null) return problem;
  return { ...problem, description: problem.description + didYouMean(problem.source, Object.keys(keys)) };
}

function readShortcut(texts: readonly string[], key: FilterKey, shortcut: Shortcut, keys: FilterKeys): RawTerm {
  const flag = `--${shortcut.flag}`;
  const values = shortcut.operator === '->' ? texts.flatMap((text) => listed(text, flag)) : [texts[0] ?? ''];
  const term = { key: key.key, operator: shortcut.operator, values };
  if (values.includes('')) throw refusal('filter.value', flag, `${flag} must be ${key.value.expected}.`);
  try {
    checkTerms([term], keys);
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    const named = `The value of ${key.key}`;
    const reworded = (text: string) => (text.includes(named) ? text.replace(named, flag) : text.replace(key.key, flag));
    throw new Refusal(
      cause.problems.map(({ code, description }) => ({ code, source: flag, description: reworded(description) })),
    );
  }
  return throughTheDay(term, key);
}

/** Values of a flag that takes several: separated by commas, quoted where a value has one. Throws a Refusal. */
export function listed(text: string, flag: string): readonly string[] {
  const shape = `${flag} takes values separated by commas; put one that holds a comma, quote or bracket in double quotes.`;
  try {
    const [term, ...others] = parseFilter(`x->[${text}]`);
    if (term !== undefined && others.length === 0) return term.values;
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
  }
  throw refusal('filter.value', flag, shape);
}

/** `--to 2026-01-31` on a date-time means through that day: the term becomes "before the midnight the next begins with". */
function throughTheDay(term: RawTerm, key: FilterKey): RawTerm {
  const [value = ''] = term.values;
  const applies =
    term.operator === '<=' && key.value.name === 'dateTime' && isDate(value) && key.operators.includes('<');
  const next = applies ? dayAfter(value) : undefined;
  return next === undefined ? term : { ...term, operator: '<', values: [next] };
}

function dayAfter(date: string): string | undefined {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const next = new Date(0);
  next.setUTCFullYear(year, month - 1, day + 1);
  const text = next.toISOString().slice(0, 10);
  return isDate(text) ? text : undefined;
}

function requireKeys(terms: readonly RawTerm[], keys: FilterKeys): void {
  const missing = Object.values(keys).filter((key) => key.required && !terms.some((term) => term.key === key.key));
  if (missing.length === 0) return;
  throw new Refusal(
    missing.map((key) => {
      const [shortcut] = key.shortcuts;
      const name = shortcut === undefined ? key.key : `--${shortcut.flag}`;
      return { code: 'filter.missing', source: name, description: `${name} is required (filter key ${key.key}).` };
    }),
  );
}

function withoutRequired(keys: FilterKeys): FilterKeys {
  return Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, { ...key, required: false }]));
}

function shortcutsOf(keys: FilterKeys): { readonly key: FilterKey; readonly shortcut: Shortcut }[] {
  return Object.values(keys).flatMap((key) => key.shortcuts.map((shortcut) => ({ key, shortcut })));
}
