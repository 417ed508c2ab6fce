import type { Column } from '../output/columns.ts';
import type { Row, RowPage } from '../pages/page.ts';

/** A value of a result: whole numbers that are no safe integers are bigints, blobs are base64. */
export type QueryValue = string | number | bigint | boolean | null;

/** A statement that is being read. */
export interface QueryResult {
  /** Names of its columns as the engine gives them; they may be equal. */
  readonly names: readonly string[];
  /** The next rows, `most` of them at most; an empty list at the end. Throws a QueryFault. */
  readonly next: (most: number) => Promise<readonly (readonly QueryValue[])[]>;
  readonly close: () => Promise<void>;
}

/** A whole number as a number where that is exact. */
export function wholeNumber(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Equal names told apart: `name`, `name_2`, without taking one that another column has. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set(names);
  const seen = new Set<string>();
  return names.map((name) => {
    let distinct = name;
    for (let count = 2; seen.has(distinct); count++) {
      const next = `${name}_${count}`;
      if (!taken.has(next)) distinct = next;
    }
    seen.add(distinct);
    return distinct;
  });
}

/**
 * Columns for the writers of rows; ids are never truncated, and text in a spreadsheet, as they are in lists. What the
 * others are, their values tell.
 */
export function queryColumns(names: readonly string[]): Column[] {
  return names.map((name) => ({ name, path: [name], isId: /(?:^|_)id$/i.test(name), kind: 'any' }));
}

/** Rows that are asked for at a time. */
const ROWS = 500;

/** The rows of a result as pages, `limit` rows in all; while one is written the next is read, and no row beyond the limit. */
export async function* queryPages(
  result: QueryResult,
  names: readonly string[],
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<RowPage> {
  const read = (left: number) => {
    const reading = result.next(Math.min(ROWS, left));
    // It is awaited only when the page before has been written.
    reading.catch(() => undefined);
    return reading;
  };
  let left = limit;
  for (let ahead = read(left); ; ) {
    const values = await ahead;
    if (values.length === 0) return;
    left -= values.length;
    if (left > 0) ahead = read(left);
    yield { rows: values.map((row): Row => Object.fromEntries(names.map((name, at) => [name, row[at]]))) };
    if (left === 0) return;
  }
}
