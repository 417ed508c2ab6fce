import { describe, expect, it } from 'vitest';
import { appointmentFields } from '../../../src/catalog/resources/appointments.ts';
import { patientFields } from '../../../src/catalog/resources/patients.ts';
import { transactionFields } from '../../../src/catalog/resources/transactions.ts';
import { columnsOf } from '../../../src/core/output/columns.ts';
import type { Row } from '../../../src/core/pages/page.ts';
import { RowOrder } from '../../../src/core/sorting/roworder.ts';

const FIELDS = { ...appointmentFields, ...transactionFields, ...patientFields };

function sorted(keys: string, rows: readonly Row[]): Row[] {
  const order = keys.split(',').map((key) => {
    const descending = key.startsWith('-');
    return { column: columnsOf(FIELDS, [descending ? key.slice(1) : key]).at(0) as never, descending };
  });
  return new RowOrder(order).sorted(rows, (row) => row);
}

const values = (field: string, rows: readonly Row[]) => rows.map((row) => row[field]);
const rowsOf = (field: string, all: readonly unknown[]) => all.map((value, at) => ({ id: 100 - at, [field]: value }));

describe('RowOrder', () => {
  it.each<[string, string, unknown[], unknown[]]>([
    ['numbers by value', 'duration', [10, 9, -1, 2.5], [-1, 2.5, 9, 10]],
    ['numbers by value where they come as digits', 'duration', ['100', '-5', 20, '7.5'], ['-5', '7.5', 20, '100']],
    [
      'dollars by value, and text that is no number after them',
      'metBasic',
      ['n/a', '1000.00', '-12.50', 99, '99.10', null],
      ['-12.50', 99, '99.10', '1000.00', 'n/a', null],
    ],
    ['false before true', 'isOutstanding', [true, false], [false, true]],
    [
      'instants by time, however they are written',
      'lastModified',
      [
        '2026-11-24T08:30:00-07:00',
        '2026-11-24T15:00:00.0000001Z',
        '2026-11-24T15:00:00.000Z',
        '2026-11-24T14:59:59.9999999Z',
        '2026-11-24T16:00:00+02:00',
      ],
      [
        '2026-11-24T16:00:00+02:00',
        '2026-11-24T14:59:59.9999999Z',
        '2026-11-24T15:00:00.000Z',
        '2026-11-24T15:00:00.0000001Z',
        '2026-11-24T08:30:00-07:00',
      ],
    ],
    ['text without regard to case', 'lastName', ['b', 'C', 'a', 'B'], ['a', 'B', 'b', 'C']],
    ['text by its characters, not by numbers in it', 'chartNumber', ['9', '10', '1'], ['1', '10', '9']],
    [
      'accents by code point, composed or not',
      'lastName',
      ['z', 'e\u0301b', '\u00e9a', 'f'],
      ['f', 'z', '\u00e9a', 'e\u0301b'],
    ],
    ['characters beyond the basic plane last', 'lastName', ['\u{1F600}', '\uFF5E', 'z'], ['z', '\uFF5E', '\u{1F600}']],
    ['a beginning before what goes on', 'lastName', ['ab', 'a', 'abc'], ['a', 'ab', 'abc']],
    ['no value last', 'lastName', ['', 'b', null, 'a', undefined], ['a', 'b', undefined, null, '']],
  ])('puts %s', (_name, field, given, expected) => {
    expect(values(field, sorted(field, rowsOf(field, given)))).toEqual(expected);
  });

  it.each<[string, unknown[], unknown[]]>([
    ['lastName', ['a', null, 'b', ''], ['b', 'a', '', null]],
    ['duration', [1, null, 3], [3, 1, null]],
    ['isOutstanding', [false, true, null], [true, false, null]],
  ])('turns round with -, no value still last: %s', (field, given, expected) => {
    expect(values(field, sorted(`-${field}`, rowsOf(field, given)))).toEqual(expected);
  });

  it('takes the next key where one is equal, and the id at last, ascending whatever the signs', () => {
    const row = (id: number | string, lastName: string, firstName: string) => ({ id, lastName, firstName });
    const rows = [row(9, 'A', 'x'), row('10', 'A', 'x'), row(3, 'B', 'y'), row(2, 'A', 'z'), row(1, 'B', 'y')];
    expect(values('id', sorted('lastName,-firstName', rows))).toEqual([2, 9, '10', 1, 3]);
    expect(values('id', sorted('-lastName,-firstName', rows))).toEqual([1, 3, 2, 9, '10']);
  });

  it('sorts by the id of a link, exactly, also where it is text', () => {
    const ids = ['9007199254740993', 9007199254740992, '9007199254740991', 7];
    const rows = ids.map((id, at) => ({ id: at, preferredLocation: { id } }));
    const order = sorted('preferredLocation.id', [...rows, { id: 9, preferredLocation: null }]);
    expect(values('id', order)).toEqual([3, 2, 1, 0, 9]);
  });
});
