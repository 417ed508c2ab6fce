import fc from 'fast-check';
import { anyCharacter } from '../characters.ts';

/** JSON text that JSON.stringify would not write: huge numbers, repeated keys, depth. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON text of a value that may hold RawJson anywhere. */
export function jsonText(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return `{${Object.entries(value)
    .map(([name, entry]) => `${JSON.stringify(name)}:${jsonText(entry)}`)
    .join(',')}}`;
}

/** Names that every object of the language has. */
export const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

const MARKS = '\u0301\u0323';

const TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udc00x',
  'x\ud83d',
  '😀',
  '𝒳'.repeat(30),
  '\u202e\u2066abc',
  '\u2028\u2029\u0085',
  '\ufeff',
  'İıſß',
  'ﷺ'.repeat(20),
  `a${MARKS.repeat(12)}`,
  `a${MARKS.repeat(3000)}`,
  'x'.repeat(70),
  'x'.repeat(5000),
  '"',
  "'; DROP TABLE patients; --",
  '%',
  '_',
  '%00',
  '../../etc/passwd',
  '..\\..\\boot.ini',
  '<script>alert(1)</script>',
  '=1+1',
  '{{7*7}}',
  '$' + '{7*7}',
  'null',
  'true',
  '[]',
  '{}',
  ...PROTOTYPE_NAMES,
];

const TIMES = [
  '2026-02-30',
  '0000-01-01',
  '0001-01-01',
  '9999-12-31',
  '10000-01-01',
  '2026-03-08T02:30:00',
  '2026-11-01T01:30:00',
  '9999-12-31T23:59:59.999999999Z',
  '9999-12-31T23:59:59.999-23:59',
  '0001-01-01T00:00:00+23:59',
  '2026-03-02T24:00:00Z',
  '2026-03-02T12:00:60Z',
  '2026-03-02 12:00',
  '2026-03-02t12:00:00z',
  '2026-03-02T12:00:00+99:99',
  '2026-W10-1',
  '1e3',
];

const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1.5',
  '1e400',
  '-1e400',
  '1e-400',
  '9007199254740993',
  '9223372036854775808',
  '2147483648',
  '1E+2',
];

export const oddText: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 3, arbitrary: fc.constantFrom(...TIMES) },
  { weight: 2, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 90 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
);

/** Nesting of arrays or objects. */
const deep = fc
  .tuple(
    fc.constantFrom(['[', ']'], ['{"a":', '}'], ['{"id":', '}'], ['[{"id":', '}]']),
    fc.constantFrom(3, 60, 600, 10_000),
  )
  .map(([[open, close], levels]) => new RawJson(`${open.repeat(levels)}1${close.repeat(levels)}`));

/** Long lists of one thing, or of different ids. */
const long = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('null', '1', '"x"', '{}', '{"id":1}', '[]')
      .chain((item) =>
        fc.constantFrom(2, 300, 5000).map((count) => new RawJson(`[${Array(count).fill(item).join(',')}]`)),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(10, 2000, 40_000)
      .map((count) => new RawJson(`[${Array.from({ length: count }, (_, index) => `{"id":${index + 1}}`).join(',')}]`)),
  },
);

const pollution = fc.constantFrom(
  new RawJson('{"__proto__":{"id":5},"id":1}'),
  new RawJson('{"__proto__":null}'),
  new RawJson('{"constructor":{"prototype":{"admin":true}}}'),
  new RawJson('{"id":1,"id":2}'),
  new RawJson('{"":1}'),
  new RawJson('{"toString":1,"valueOf":2,"id":{"valueOf":1}}'),
  new RawJson('{"length":5,"0":"a"}'),
);

export const oddNumber: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...NUMBERS).map((text) => new RawJson(text)),
  fc.integer({ min: -5, max: 2000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

/** Any JSON value, most of them unfit for any field. */
export const oddJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: oddText },
  { weight: 4, arbitrary: oddNumber },
  { weight: 2, arbitrary: fc.constantFrom(null, true, false) },
  { weight: 2, arbitrary: oddText.map((id) => ({ id })) },
  { weight: 2, arbitrary: oddNumber.map((id) => ({ id })) },
  { weight: 2, arbitrary: fc.array(fc.oneof(oddText, oddNumber), { maxLength: 4 }) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 2, arbitrary: pollution },
  { weight: 1, arbitrary: deep },
  { weight: 1, arbitrary: long },
);
