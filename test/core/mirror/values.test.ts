import { describe, expect, it } from 'vitest';
import { readRecords, recordOf } from '../../../src/core/mirror/records.ts';
import { storedValue } from '../../../src/core/mirror/values.ts';

const denver = () => Date.UTC(2026, 0, 5, 15);

/** A bigint told from a text; zero without its sign. */
function shown(stored: unknown): unknown {
  if (typeof stored === 'bigint') return `${stored} of a bigint`;
  return stored === 0 ? 0 : stored;
}

describe('money in whole cents', () => {
  it.each([
    [10.5, 1050],
    [0.29, 29],
    [1.005, 101],
    [-1.005, -101],
    ['-0.005', -1],
    ['0.0049', 0],
    [19.99, 1999],
    [-0, 0],
    ['1234567.89', 123_456_789],
    [1e-7, 0],
    ['1.5e3', 150_000],
    ['90071992547409.93', '9007199254740993 of a bigint'],
    ['.5', 50],
    [null, null],
  ])('%s dollars are %s', (dollars, cents) => {
    expect(shown(storedValue('cents', dollars, denver))).toBe(cents);
  });

  it('keeps what is no amount, and what no whole number of 64 bits holds', () => {
    expect(storedValue('cents', 'ten', denver)).toBe('ten');
    expect(storedValue('cents', '99999999999999999999', denver)).toBe('99999999999999999999');
  });
});

describe('other values', () => {
  it.each([
    ['integer', 7, 7],
    ['integer', '70000000000101', 70_000_000_000_101],
    ['integer', '9223372036854775807', '9223372036854775807 of a bigint'],
    ['integer', '9223372036854775808', '9223372036854775808'],
    ['boolean', false, 0],
    ['boolean', true, 1],
    ['instant', '2026-01-05T15:00:00Z', '2026-01-05T15:00:00.000Z'],
    ['instant', '2026-01-05T08:00:00-07:00', '2026-01-05T15:00:00.000Z'],
    ['instant', '2026-01-05T08:00:00', '2026-01-05T15:00:00.000Z'],
    ['instant', '2026-01-05T15:00:00.123Z', '2026-01-05T15:00:00.123Z'],
    ['instant', 'soon', 'soon'],
    ['date', '2026-01-05', '2026-01-05'],
    ['text', '', ''],
    ['text', ' as\tsent\u0000 ', ' as\tsent\u0000 '],
    ['text', undefined, null],
    ['json', { a: [1] }, '{"a":[1]}'],
  ] as const)('as %s, %j is %j', (type, value, stored) => {
    expect(shown(storedValue(type, value, denver))).toBe(stored);
  });
});

describe('records of a page', () => {
  const page = (text: string) => {
    const envelope = readRecords(Buffer.from(text));
    return envelope?.data as { id: unknown; text: string; values: Record<string, unknown> }[];
  };

  it('keep their text byte for byte, and every digit of long numbers', () => {
    const record = '{"id":9223372036854775807,"amount":1.50,"note":"é\\u0000, 1234567890123456789"}';
    const [read] = page(`{"meta":{"pagination":{}},"data":[${record},{"id":2}],"warnings":[]}`);
    expect(read).toMatchObject({ id: '9223372036854775807', text: record, values: { amount: 1.5 } });
    expect(read?.values.note).toBe('é\u0000, 1234567890123456789');
  });

  it('have no signed links, wherever these are', () => {
    const storage = '"storage":{"original":"https://x/?a=1,2"}';
    const [first, last, only] = page(
      `{"data":[{${storage},"id":1},{"id":2,${storage}},{"id":3,${storage},"tags":[]}]}`,
    );
    expect([first?.text, last?.text, only?.text]).toEqual(['{"id":1}', '{"id":2}', '{"id":3,"tags":[]}']);
  });

  it('are read when they are written with blanks', () => {
    const [read] = page('{ "data" : [ { "id" : 1, "name" : "a b", "storage": {} } ] }');
    expect(read?.text).toBe('{"id":1,"name":"a b"}');
    expect(recordOf('{ "id": 5 }').values).toEqual({ id: 5 });
  });
});
