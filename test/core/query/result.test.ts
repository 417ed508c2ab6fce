import { expect, test } from 'vitest';
import { type QueryResult, queryColumns, queryPages } from '../../../src/core/query/result.ts';

/** A result of so many rows, and how many were asked for each time. */
function resultOf(count: number) {
  const asked: number[] = [];
  let given = 0;
  const result: QueryResult = {
    names: ['n'],
    next: async (most) => {
      asked.push(most);
      const start = given;
      given = Math.min(count, start + most);
      return Array.from({ length: given - start }, (_, index) => [start + index + 1]);
    },
    close: async () => {},
  };
  return { result, asked };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test.each([
  [0, undefined],
  [1, undefined],
  [500, undefined],
  [1234, undefined],
  [1234, 1],
  [1234, 499],
  [1234, 500],
  [1234, 501],
  [1234, 1001],
  [1234, 1234],
  [1234, 1235],
  [3, 5],
])(
  'of %i rows with a limit of %s all that may be are given once, and none beyond it is asked for',
  async (count, limit) => {
    const { result, asked } = resultOf(count);
    const rows: unknown[] = [];
    for await (const page of queryPages(result, ['n'], limit)) {
      rows.push(...page.rows.map(({ n }) => n));
      expect(page.rows.length).toBeLessThanOrEqual(500);
      // One that goes on without an end fails here.
      expect(asked.length).toBeLessThan(10);
    }
    expect(rows).toEqual(upTo(Math.min(count, limit ?? count)));
    // What is asked for a second time was given before.
    const most = asked.reduce((sum, rows) => sum + rows, 0);
    if (limit !== undefined && limit <= count) expect(most).toBe(limit);
  },
);

test.each([1, 7, 499])('rows that come %i at a time are all given', async (atATime) => {
  const { result } = resultOf(1234);
  const slow: QueryResult = { ...result, next: (most) => result.next(Math.min(most, atATime)) };
  const rows: unknown[] = [];
  for await (const page of queryPages(slow, ['n'])) rows.push(...page.rows.map(({ n }) => n));
  expect(rows).toEqual(upTo(1234));
});

test('the next rows are read while a page is written, and their failure comes behind it', async () => {
  const { result } = resultOf(1000);
  let reads = 0;
  const failing: QueryResult = {
    ...result,
    next: (most) => (++reads === 2 ? Promise.reject(new Error('gone')) : result.next(most)),
  };
  const pages = queryPages(failing, ['n']);
  const { value } = await pages.next();
  expect([value?.rows.length, reads]).toEqual([500, 2]);
  // The failure was there long before anybody asks.
  await new Promise((resolve) => setImmediate(resolve));
  await expect(pages.next()).rejects.toThrow('gone');
});

test('ids are told by their names: they are never cut', () => {
  const isId = Object.fromEntries(
    queryColumns(['id', 'patient_id', 'PATIENT_ID', 'paid', 'id_2']).map((c) => [c.name, c.isId]),
  );
  expect(isId).toEqual({ id: true, patient_id: true, PATIENT_ID: true, paid: false, id_2: false });
});
