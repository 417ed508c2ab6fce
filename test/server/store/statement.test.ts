import { describe, expect, it } from 'vitest';
import { boundValues, manyRows, statement } from '../../../src/server/store/statement.ts';

describe('statement', () => {
  const named = (name: string | null, id: number) => statement`SELECT ${name} FROM t WHERE id = ${id}`;

  it('has its text for each store, and its values', () => {
    expect(named("O'Brien", 5)).toEqual({
      sql: 'SELECT ? FROM t WHERE id = ?',
      text: 'SELECT $1 FROM t WHERE id = $2',
      values: ["O'Brien", 5],
    });
  });

  it('has values of its own at each use', () => {
    const [first, second] = [named('a', 1), named(null, 2)];
    expect([first.values, second.values]).toEqual([
      ['a', 1],
      [null, 2],
    ]);
    expect(second.sql).toBe(first.sql);
  });
});

describe('manyRows', () => {
  it.each([
    [1, 1, '', '(?)', '($1)'],
    [2, 3, ' ON CONFLICT DO NOTHING', '(?, ?), (?, ?), (?, ?)', '($1, $2), ($3, $4), ($5, $6)'],
  ])('%i columns, %i rows', (columns, rows, end, sql, text) => {
    expect(manyRows('INSERT INTO t (a)', columns, rows, end)).toEqual({
      sql: `INSERT INTO t (a) VALUES ${sql}${end}`,
      text: `INSERT INTO t (a) VALUES ${text}${end}`,
    });
  });
});

it.each([
  [true, 1],
  [false, 0],
  [undefined, null],
  [null, null],
  ['', ''],
  ['a\0b\0', 'a\u{FFFD}b\u{FFFD}'],
  [2 ** 53 - 1, 2 ** 53 - 1],
])('%j is bound as %j', (value, bound) => {
  expect(boundValues([value])).toEqual([bound]);
});
