import { expect, it } from 'vitest';
import { postgresText } from '../../../src/core/mirror/postgres/values.ts';
import type { ColumnType } from '../../../src/core/mirror/tables.ts';
import type { StoredValue } from '../../../src/core/mirror/values.ts';

it.each<[ColumnType, StoredValue, string | null]>([
  ['integer', 7, '7'],
  ['integer', -70_000_000_000_101n, '-70000000000101'],
  ['integer', '999999999999999999', '999999999999999999'],
  ['integer', '9223372036854775807', '9223372036854775807'],
  ['integer', '9223372036854775808', null],
  ['integer', '-9223372036854775807', '-9223372036854775807'],
  ['integer', '-9999999999999999999', null],
  ['integer', '12345678901234567890', null],
  ['cents', 'ten', null],
  ['cents', 1050, '1050'],
  ['boolean', 1, 't'],
  ['boolean', 0, 'f'],
  ['boolean', 'yes', null],
  ['number', 1.5, '1.5'],
  ['number', 1e-7, '1e-7'],
  ['number', '.5', null],
  ['number', 'NaN', null],
  ['date', '2028-02-29', '2028-02-29'],
  ['date', '2027-02-29', null],
  ['date', '2027-02-00', null],
  ['date', '2027-13-01', null],
  ['date', '0000-01-01', null],
  ['date', 'soon', null],
  ['instant', '2026-01-31T15:00:00.123Z', '2026-01-31T15:00:00.123Z'],
  ['instant', '2026-04-31T15:00:00.123Z', null],
  ['instant', '2026-01-05T24:00:00.000Z', null],
  ['instant', '2026-01-05T15:00:00Z', null],
  ['text', 'a\0b', 'a\ufffdb'],
  ['json', '{"a":"\\u0000"}', '{"a":"\ufffd"}'],
  ['integer', null, null],
])('a value of the type %s, %s, is %s in PostgreSQL: null where the type cannot hold it', (type, value, text) => {
  expect(postgresText(type, value)).toBe(text);
});
