import { expect, it } from 'vitest';
import { boundValues } from '../../../src/server/store/statement.ts';

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
