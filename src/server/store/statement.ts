import { Sql } from 'sql-template-tag';
import type { Statement } from './store.ts';

/** The texts of a statement. */
export type Texts = Pick<Statement, 'sql' | 'text'>;

const cache = new WeakMap<TemplateStringsArray, Texts>();

/**
 * A statement whose text is always the same, written as with `sql`, but with values alone in its places: the text is
 * made once, not at every use. For what runs with each write.
 */
export function statement(
  strings: TemplateStringsArray,
  ...values: readonly (string | number | boolean | null)[]
): Statement {
  let texts = cache.get(strings);
  if (texts === undefined) {
    const { sql, text } = new Sql(strings, values);
    texts = { sql, text };
    cache.set(strings, texts);
  }
  return bound(texts, values);
}

/** A statement of texts that were made before. Not by spreading them: V8 makes such an object anew, slowly, each time. */
export function bound({ sql, text }: Texts, values: readonly unknown[]): Statement {
  return { sql, text, values };
}

/** Texts of the statement that writes so many rows at once: `head` begins it, `end` ends it, the rows stand between. */
export function manyRows(head: string, columns: number, rows: number, end = ''): Texts {
  const made = (place: (index: number) => string) => {
    const row = (at: number) =>
      Array.from({ length: columns }, (_, index) => place(at * columns + index + 1)).join(', ');
    return `${head} VALUES ${Array.from({ length: rows }, (_, at) => `(${row(at)})`).join(', ')}${end}`;
  };
  return { sql: made(() => '?'), text: made((index) => `$${index}`) };
}

/** Rows of one statement: few sizes, so that few statements are prepared. */
const SIZES = [100, 20, 5, 1] as const;

const inserts = new Map<string, Texts>();

/** Statements that write rows in their order: `head` begins each, such as `INSERT INTO t (a, b)`, and `end` ends it. */
export function insertStatements(head: string, rows: readonly (readonly unknown[])[], end = ''): Statement[] {
  const statements: Statement[] = [];
  for (let at = 0; at < rows.length; ) {
    const size = SIZES.find((size) => size <= rows.length - at) ?? 1;
    const values = rows.slice(at, at + size).flat();
    const key = `${head} ${size}${end}`;
    const texts = inserts.get(key) ?? manyRows(head, values.length / size, size, end);
    inserts.set(key, texts);
    statements.push(bound(texts, values));
    at += size;
  }
  return statements;
}

/**
 * The values of a statement as every store takes them: 0 and 1 for truth values, NULL for what is missing, and U+FFFD
 * for each NUL character. PostgreSQL cannot hold those, and no record has any (D9): a filter for them finds nothing.
 */
export function boundValues(values: readonly unknown[]): unknown[] {
  return values.map(boundValue);
}

function boundValue(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\u{FFFD}') : value;
  if (typeof value === 'boolean') return Number(value);
  return value === undefined ? null : value;
}
