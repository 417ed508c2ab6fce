import fc from 'fast-check';
import { API_PREFIX, allOperations } from '../../../src/catalog/catalog.ts';
import type { Operation } from '../../../src/catalog/define.ts';
import { selectableNames } from '../../../src/catalog/fieldselection.ts';
import type { FilterKey } from '../../../src/catalog/filter/check.ts';
import { STREAM_PATH } from '../../../src/catalog/stream/messages.ts';
import { big } from '../ids.ts';
import { FIXTURES } from '../resources.ts';
import { oddText, PROTOTYPE_NAMES } from './odd.ts';
import { type FuzzRequest, RIGHT_HEADERS } from './requests.ts';

const OPERATORS = [
  '==',
  '!=',
  '~=',
  '<>=',
  '->',
  '>',
  '>=',
  '<',
  '<=',
  '.absent',
  '.present',
  '=',
  '=>',
  '',
  '<>',
  '->>',
];

const quote = (value: string) => `"${value.replace(/["\\]/g, '\\$&')}"`;

/** Values that a key may well take, beside odd ones. */
function someValue(key: FilterKey | undefined): fc.Arbitrary<string> {
  const likely = [
    ...(key?.value.values ?? []),
    String(big(101)),
    String(big(5)),
    '1',
    'ALL',
    '*',
    'Smith',
    '2026-03-02',
    '2026-03-02T12:00:00Z',
    'America/Denver',
    'true',
    '12.50',
  ];
  return fc
    .tuple(
      fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...likely) }, { weight: 2, arbitrary: oddText }),
      fc.boolean(),
    )
    .map(([value, quoted]) => (quoted ? quote(value) : value));
}

function termOf(keys: readonly FilterKey[]): fc.Arbitrary<string> {
  const named = keys.map((key) => key.key);
  const name = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...(named.length > 0 ? named : ['id'])) },
    { weight: 1, arbitrary: fc.constantFrom(...PROTOTYPE_NAMES, 'nosuch', 'a.b.c', '.absent', '') },
  );
  return fc.tuple(name, fc.constantFrom(...OPERATORS), fc.boolean()).chain(([written, wild, known]) => {
    const key = keys.find((candidate) => candidate.key === written);
    const operator = known && key !== undefined ? fc.constantFrom(...key.operators) : fc.constant(wild);
    return fc
      .tuple(operator, fc.array(someValue(key), { minLength: 1, maxLength: 5 }), fc.constantFrom('', ' '))
      .map(([op, values, space]) => {
        if (op === '.absent' || op === '.present') return written + op;
        return op === '->'
          ? `${written}${space}->[${values.join(',')}]`
          : `${written}${space}${op}${space}${values[0]}`;
      });
  });
}

/** A filter: terms joined, cut, doubled up to 60 kB, or no filter at all. */
function filterOf(operation: Operation): fc.Arbitrary<string> {
  const keys = Object.values(operation.filters ?? {});
  const always = FIXTURES.find(({ resource }) => Object.values(resource.operations).includes(operation))?.always;
  const terms = fc.array(termOf(keys), { maxLength: 6 }).map((list) => list.join(','));
  const usual = terms.map((text) =>
    always === undefined ? text : [always, text].filter((part) => part !== '').join(','),
  );
  return fc.oneof(
    { weight: 12, arbitrary: usual },
    { weight: 3, arbitrary: terms },
    { weight: 3, arbitrary: fc.tuple(usual, fc.nat(200)).map(([text, end]) => text.slice(0, end)) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(usual, fc.nat(200), oddText)
        .map(([text, at, odd]) => text.slice(0, at) + odd + text.slice(at)),
    },
    { weight: 1, arbitrary: oddText },
    { weight: 1, arbitrary: many(keys) },
  );
}

/** Thousands of terms, or of values in one list, in what fits into a URL. */
function many(keys: readonly FilterKey[]): fc.Arbitrary<string> {
  return fc.tuple(termOf(keys), fc.constantFrom(100, 499, 501, 8000), fc.boolean()).map(([term, count, list]) => {
    const whole = list
      ? `id->[${Array.from({ length: count }, (_, n) => n + 1).join(',')}]`
      : Array(count).fill(term).join(',');
    return whole.slice(0, 40_000);
  });
}

const NUMBERS = [
  '',
  ' ',
  '0',
  '1',
  '2',
  '500',
  '501',
  '-1',
  '1.5',
  '1e3',
  '0x10',
  '９',
  '9007199254740991',
  '9007199254740993',
  '99999999999999999999',
  'x',
  '\0',
];

function parametersOf(operation: Operation): fc.Arbitrary<[string, string][]> {
  const number = fc.constantFrom(...NUMBERS);
  const fields = fc.oneof(
    fc.subarray(selectableNames(operation.fields ?? {})).map((names) => names.slice(0, 5).join(',')),
    fc.constantFrom('ALL', 'all', 'id,nosuch', '__proto__', 'id.id', 'constructor.name', ',,,', 'x,'.repeat(9000)),
    oddText,
  );
  const own = Object.entries(operation.parameters ?? {}).map(([name, { values }]) =>
    fc.oneof(fc.constantFrom('', ...values), oddText).map((value): [string, string] => [name, value]),
  );
  const pair = fc.oneof(
    { weight: 8, arbitrary: filterOf(operation).map((value): [string, string] => ['filter', value]) },
    { weight: 3, arbitrary: fc.tuple(fc.constantFrom('pageSize', 'page', 'lastId'), number) },
    { weight: 2, arbitrary: fields.map((value): [string, string] => ['responseFields', value]) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.oneof(oddText, fc.constantFrom(...PROTOTYPE_NAMES, 'filter[]', 'FILTER')), oddText),
    },
    ...own.map((arbitrary) => ({ weight: 2, arbitrary })),
  );
  const required = Object.entries(operation.parameters ?? {}).filter(([, { required }]) => required);
  return fc
    .array(pair, { maxLength: 4 })
    .map((pairs) => [
      ...required.map(([name, { values }]): [string, string] => [name, values[0] ?? '']),
      ...(operation.selectable === 'required' ? [['responseFields', 'ALL'] as [string, string]] : []),
      ...pairs,
    ]);
}

/** Text without halves of surrogate pairs, which no URL can hold. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

/** One way of writing a parameter into a URL; the odd ones break the rules of percent-encoding. */
function written(text: string, way: number): string {
  const encoded = encodeURIComponent(wellFormed(text));
  if (way === 0) return encoded.replaceAll('%20', '+');
  if (way === 1) return encoded.replace(/%3D/g, '=').replace(/%2C/g, ',');
  if (way === 2) return `${encoded}%`;
  if (way === 3) return `${encoded}%c3%28%ff%00`;
  if (way === 4) return encoded.replaceAll('%', '%25');
  return encoded;
}

const IDS = [
  ...[101, 102, 201, 5, 999_999].map((n) => String(big(n))),
  '0',
  '-1',
  '1',
  '01',
  '1.0',
  '1e3',
  '+1',
  '9007199254740993',
  '99999999999999999999',
  '%00',
  '%',
  '%zz',
  '%c3%28',
  '%2e%2e',
  '..',
  '..%2f..',
  ' ',
  '%20',
  '',
  'abc',
  'totalcount',
  '__proto__',
  'constructor',
  '1;2',
  '%F0%9F%98%80',
  '1/2',
  'x'.repeat(499),
  'x'.repeat(501),
  'x'.repeat(5000),
  '1?',
  '1#2',
];

/** An id as it stands in a path. */
export const pathId: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...IDS) },
  { weight: 1, arbitrary: fc.integer({ min: 190, max: 260 }).map((n) => String(big(n))) },
  { weight: 1, arbitrary: oddText.map((text) => encodeURIComponent(wellFormed(text))) },
);

export function urlOf(operation: Operation, id: string): string {
  return API_PREFIX + operation.path.replace(/\{\w+\}/, () => id);
}

/** Reads of one operation with odd queries and ids. */
function readOf(operation: Operation): fc.Arbitrary<FuzzRequest> {
  const ways = fc.array(fc.nat(30), { minLength: 6, maxLength: 6 });
  const method = fc.oneof({ weight: 9, arbitrary: fc.constant('GET') }, { weight: 1, arbitrary: fc.constant('HEAD') });
  return fc.tuple(parametersOf(operation), ways, pathId, method).map(([pairs, ways, id, method]) => {
    const parts = pairs.map(([name, value], index) => `${written(name, 9)}=${written(value, ways[index] ?? 9)}`);
    const query = parts.length === 0 ? '' : `?${parts.join('&')}`;
    return { method, url: urlOf(operation, id) + query, headers: RIGHT_HEADERS };
  });
}

/** Reads of every operation with odd queries and ids. */
export const queryRequest: fc.Arbitrary<FuzzRequest> = fc.oneof(
  ...allOperations()
    .filter(({ operation }) => operation.method === 'GET')
    .map(({ operation }) => readOf(operation)),
);

/** Positions and patterns of the stream that are wrong: right ones have no end. */
export const streamRequest: fc.Arbitrary<FuzzRequest> = fc
  .tuple(
    fc.array(fc.oneof(oddText, fc.constantFrom('#', '*.*', 'a..b', '#.'.repeat(60))), { maxLength: 4 }),
    fc.constantFrom('-1', 'x', '1.5', '99999999999999999999', '1e3'),
  )
  .map(([keys, position]) => ({
    method: 'GET',
    url: `${API_PREFIX}${STREAM_PATH}?lastEventId=${position}${keys.map((text) => `&routingKey=${written(text, 9)}`).join('')}`,
    headers: RIGHT_HEADERS,
  }));
