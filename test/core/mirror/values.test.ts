import { describe, expect, it } from 'vitest';
import { memberText } from '../../../src/core/mirror/jsonmembers.ts';
import { rebuiltRecord } from '../../../src/core/mirror/rebuilding.ts';
import { changedRecord, onlyFields, readOneRecord, readRecords, recordOf } from '../../../src/core/mirror/records.ts';
import { TableRows } from '../../../src/core/mirror/rows.ts';
import { findTable, type MirrorTable } from '../../../src/core/mirror/tables.ts';
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
    ['.5e-2', 1],
    [' 10.50 ', 1050],
    [99_999_999_999_999, '9999999999999900 of a bigint'],
    ['5e-3', 1],
    ['99e-5', 0],
    ['50e-4', 1],
    ['-4e-3', 0],
    [100_000_000_000, 10_000_000_000_000],
    [100_000_000_000.01, 10_000_000_000_001],
    ['92233720368547758.07', '9223372036854775807 of a bigint'],
    ['-92233720368547758.07', '-9223372036854775807 of a bigint'],
    [true, 'true'],
    [[1], '[1]'],
    [null, null],
  ])('%s dollars are %s', (dollars, cents) => {
    expect(shown(storedValue('cents', dollars, denver))).toBe(cents);
  });

  it.each([
    'ten',
    '',
    '-.',
    '92233720368547758.08',
    '-92233720368547758.08',
    '1.5e',
    '1e1234',
    '99999999999999999999',
    '-99999999999999999999',
  ])('keeps %j: what is no amount, or more than a whole number of 64 bits holds', (text) => {
    expect(storedValue('cents', text, denver)).toBe(text);
  });
});

describe('other values', () => {
  it.each([
    ['integer', 7, 7],
    ['integer', '70000000000101', 70_000_000_000_101],
    ['integer', '9223372036854775807', '9223372036854775807 of a bigint'],
    ['integer', '9223372036854775808', '9223372036854775808'],
    ['integer', '-70000000000101', -70_000_000_000_101],
    ['integer', '-9223372036854775809', '-9223372036854775809'],
    ['integer', '1.5', '1.5'],
    ['integer', '-9223372036854775807', '-9223372036854775807 of a bigint'],
    ['integer', ['7'], '["7"]'],
    ['number', { a: 1 }, '{"a":1}'],
    ['json', 'a', '"a"'],
    ['date', 20260105, '20260105'],
    ['date', ['2026-01-05T00:00:00Z'], '["2026-01-05T00:00:00Z"]'],
    ['date', '2026-01-05 10:00', '2026-01-05 10:00'],
    ['date', 'on 2026-01-05T', 'on 2026-01-05T'],
    ['instant', { at: 1 }, '{"at":1}'],
    ['instant', '2026-01-05T15:00:00,123Z', '2026-01-05T15:00:00.123Z'],
    ['instant', '2026-01-05T08:00-07:00 ', '2026-01-05T08:00-07:00 '],
    ['instant', '2026-01-05T08:00:00.1-0700', '2026-01-05T15:00:00.100Z'],
    ['integer', true, 'true'],
    ['number', true, 1],
    ['number', '12345678901234567', '12345678901234567 of a bigint'],
    ['boolean', false, 0],
    ['boolean', true, 1],
    ['boolean', 'yes', 'yes'],
    ['instant', '2026-01-05T15:00:00Z', '2026-01-05T15:00:00.000Z'],
    ['instant', '2026-01-05T08:00:00-07:00', '2026-01-05T15:00:00.000Z'],
    ['instant', '2026-01-05T08:00:00', '2026-01-05T15:00:00.000Z'],
    ['instant', '2026-01-05T15:00:00.123Z', '2026-01-05T15:00:00.123Z'],
    ['instant', '2026-01-05T15:00:00.1239Z', '2026-01-05T15:00:00.123Z'],
    ['instant', '1969-12-31T23:59:59.9985Z', '1969-12-31T23:59:59.998Z'],
    ['instant', '2026-01-05T15:00:00.123456Z', '2026-01-05T15:00:00.123Z'],
    ['instant', 'soon', 'soon'],
    ['instant', 5, '5'],
    ['date', '2026-01-05', '2026-01-05'],
    ['date', '2026-01-05T00:00:00Z', '2026-01-05'],
    ['date', 'soon', 'soon'],
    ['text', '', ''],
    ['text', ' as\tsent\u0000 ', ' as\tsent\u0000 '],
    ['text', undefined, null],
    ['text', { a: [1] }, '{"a":[1]}'],
    ['text', 7, '7'],
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
    const record = '{"id":9223372036854775807,"amount":1.50,"note":"é\\u0000, \\"}],1234567890123456789"}';
    const [read, ...others] = page(
      `{"meta":{"pagination":{},"data":[{"id":7}]},"data":[${record},{"id":2}],"warnings":[{"id":9}]}`,
    );
    expect(read).toMatchObject({ id: '9223372036854775807', text: record, values: { amount: 1.5 } });
    expect(read?.values.note).toBe('é\u0000, "}],1234567890123456789');
    expect(others.map(({ text }) => text)).toEqual(['{"id":2}']);
    const one = readOneRecord(Buffer.from(`{"data":${record},"warnings":[]}`))?.data as typeof read;
    expect(one).toEqual(read);
  });

  it.each(['{"data":[{"id":1,}]}', '{"data":[{"id":1},{"id":}],"warnings":[]}', '{"data":[{"id":1}'])(
    'are none of a page that is no JSON: %s',
    (text) => {
      expect(readRecords(Buffer.from(text))).toBeUndefined();
    },
  );

  it('are those of the last data, where a page has it twice', () => {
    const read = page('{"data":[{"id":8}],"data":[{"id":1},{"id":2}]}');
    expect(read.map(({ text }) => text)).toEqual(['{"id":1}', '{"id":2}']);
  });

  it('have no signed links, wherever these are', () => {
    const storage = '"storage":{"original":"https://x/?a=1,2"}';
    const others = '"tags":[],"amount":1.50';
    const [first, last, only] = page(
      `{"data":[{${storage},"id":1},{"id":2,${storage}},{"id":3,${storage},${others}}]}`,
    );
    expect([first?.text, last?.text, only?.text]).toEqual(['{"id":1}', '{"id":2}', `{"id":3,${others}}`]);
  });

  it('are read when they are written with blanks', () => {
    const [read] = page('{ "data" : [ { "id" : 1, "name" : "a b", "storage": {} } ] }');
    expect(read?.text).toBe('{"id":1,"name":"a b"}');
    expect(recordOf('{ "id": 5 }')).toMatchObject({ text: '{ "id": 5 }', values: { id: 5 } });
    expect(recordOf('{ "id": 5, "storage": {} }').text).toBe('{"id":5}');
    const blanks = page('{"data":[{"id":1, "name":"a"},{"id":2,"name":"b"}]}');
    expect(blanks.map(({ text }) => text)).toEqual(['{"id":1,"name":"a"}', '{"id":2,"name":"b"}']);
  });

  it.each([
    [
      '{"id":1,"a":1.50,"b":2}',
      '{"id":1,"b":3,"c":12345678901234567890}',
      '{"id":1,"a":1.50,"b":3,"c":12345678901234567890}',
    ],
    ['{"id":1,"a":1}', '{"id":1,"a":null}', '{"id":1,"a":null}'],
    ['{ "id": 1, "a": 1 }', '{"id":1,"a":2}', '{"id":1,"a":2}'],
    ['{"id":1,"a":1}', '{ "id": 1, "b": 2 }', '{"id":1,"a":1,"b":2}'],
  ])('%s, changed by %s, are %s', (before, change, after) => {
    expect(changedRecord(before, change).text).toBe(after);
  });

  it('have the chosen fields alone, as they are written', () => {
    const fields = new Set(['id', 'a']);
    for (const text of ['{"id":1,"a":1.50,"b":2}', '{ "id":1, "b":2, "a":1.50 }']) {
      const { values, text: kept } = onlyFields(recordOf(text), fields);
      expect(values).toEqual({ id: 1, a: 1.5 });
      expect(JSON.parse(kept)).toEqual({ id: 1, a: 1.5 });
    }
    expect(onlyFields(recordOf('{"id":1,"a":1.50,"b":2}'), fields).text).toBe('{"id":1,"a":1.50}');
    expect(memberText('{"a\\"b":12,"c":3}', 'a"b')).toBe('12');
  });
});

describe('rows of a record', () => {
  const rowsOf = (resource: string) => {
    const table = findTable(resource) as MirrorTable;
    return { table, rows: new TableRows(table, [], true, denver) };
  };

  it('have the id of a link whichever way it is sent, and no id that is no whole number', () => {
    const { table, rows } = rowsOf('patients');
    const at = table.columns.findIndex(({ name }) => name === 'preferred_location_id');
    for (const link of ['{"id":5}', '5', '{"id":"5"}', '"5"'])
      expect(rows.rowsOf(recordOf(`{"id":1,"preferredLocation":${link}}`)).values[at]).toBe(5);
    for (const id of ['"abc"', '9223372036854775808', 'null', '"1.5"'])
      expect(() => rows.rowsOf(recordOf(`{"id":${id}}`))).toThrow('no whole number');
  });

  it('are not the same as a text that is no JSON', () => {
    const { rows } = rowsOf('patients');
    const record = recordOf('{"id":1,"lastName":"Lee"}');
    expect(
      ['{"id":1,"lastName":"Lee"', '', '{"lastName":"Lee","id":1}'].map((text) => rows.isSame(text, record)),
    ).toEqual([false, false, true]);
  });

  it('have a column for an unknown field whose name has no letters, one for each', () => {
    const { rows } = rowsOf('patients');
    expect(rows.learn([recordOf('{"id":1,"___":1,"__":2}')]).map(({ name }) => name)).toEqual(['field', 'field_2']);
  });

  it.each([0.05, -0.05, 0.5, -1, 0, 100, 1234.5, -70_000_000_000_000.07])(
    'make a record of %s dollars again, its lists and links too',
    (amount) => {
      const { table, rows } = rowsOf('transactions');
      const record = {
        ...{ id: 1, amount, isActive: false, patient: { id: 70_000_000_000_001 }, location: null, note: '' },
        distributions: [
          { chargeId: 2, appliedAmount: amount, isActive: true },
          { chargeId: null, appliedAmount: null, isActive: false },
        ],
        ...{ transactionTags: { 1: { id: 7 }, 2: { id: 8 } }, reasonTags: null },
        patientPaymentBilling: { checkNumber: '5', bankNumber: null },
      };
      const { values, children } = rows.rowsOf(recordOf(JSON.stringify(record)));
      const text = rebuiltRecord(table, { values, children });
      expect(JSON.parse(text)).toMatchObject(record);
      expect(text).toContain(`"amount":${amount},`);
    },
  );

  it('make null again of an object of which nothing is there', () => {
    const { table, rows } = rowsOf('transactions');
    const { values, children } = rows.rowsOf(recordOf('{"id":1}'));
    expect(JSON.parse(rebuiltRecord(table, { values, children })).patientPaymentBilling).toBeNull();
  });

  it('make a record again of the columns that a mirror keeps, without the others', () => {
    const { table, rows } = rowsOf('transactions');
    const { values, children } = rows.rowsOf(recordOf('{"id":1,"amount":2,"note":"x","distributions":[]}'));
    const at = table.columns.flatMap(({ name }, index) => (['id', 'amount_cents'].includes(name) ? [index] : []));
    const columns = table.columns.filter((_, index) => at.includes(index));
    const kept = { values: at.map((index) => values[index] ?? null), children };
    expect(rebuiltRecord({ ...table, columns }, kept)).toBe(
      '{"id":1,"amount":2,"transactionTags":null,"reasonTags":null,"distributions":[]}',
    );
  });
});
