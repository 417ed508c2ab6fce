import type { Keys, Operator, Term } from './filter.ts';
import type { Fields } from './store.ts';
import type { Comparable } from './values.ts';

/** Whether a record matches every term of a filter. `missingDiffers`: whether a missing field passes `!=`. */
export function matches(record: Fields, terms: readonly Term[], keys: Keys, missingDiffers: boolean): boolean {
  return terms.every((term) => {
    const key = keys[term.key];
    if (key === undefined || term.values.includes('ALL')) return true;
    const found = valuesAt(record, (key.field ?? term.key).split('.')).map(key.kind.of);
    return TESTS[term.operator](found, term.values, missingDiffers);
  });
}

type Test = (found: readonly Comparable[], values: readonly Comparable[], missingDiffers: boolean) => boolean;

const some =
  (compare: (found: Comparable, value: Comparable) => boolean): Test =>
  (found, [value]) =>
    value !== undefined && found.some((one) => compare(one, value));

const TESTS: Readonly<Record<Operator, Test>> = {
  '==': some((found, value) => found === value),
  '!=': (found, [value], missingDiffers) =>
    found.length === 0 ? missingDiffers : !found.includes(value as Comparable),
  '~=': some((found, value) => String(found).startsWith(String(value))),
  '<>=': some((found, value) => String(found).includes(String(value))),
  '->': (found, values) => found.some((one) => values.includes(one)),
  '>': some((found, value) => found > value),
  '>=': some((found, value) => found >= value),
  '<': some((found, value) => found < value),
  '<=': some((found, value) => found <= value),
  '.absent': (found) => found.length === 0,
  '.present': (found) => found.length > 0,
};

/** The values at a path; one for each item of a list on it. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  const [name, ...rest] = path;
  return name === undefined ? [value] : valuesAt((value as Fields)[name], rest);
}
