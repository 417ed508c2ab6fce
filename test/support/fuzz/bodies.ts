import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { allOperations } from '../../../src/catalog/catalog.ts';
import type { Operation, Resource } from '../../../src/catalog/define.ts';
import type { Fields, Kind } from '../../../src/catalog/fields/kind.ts';
import { big } from '../ids.ts';
import { FIXTURES } from '../resources.ts';
import { jsonText, oddJson, oddText, PROTOTYPE_NAMES, RawJson } from './odd.ts';
import { pathId, urlOf } from './queries.ts';
import { type FuzzRequest, RIGHT_HEADERS } from './requests.ts';

/** A value of the right kind, more or less: right ones reach the rules behind the types. */
export function fitting(kind: Kind, depth = 0): fc.Arbitrary<unknown> {
  if (kind.values !== undefined && kind.name !== 'list')
    return fc.constantFrom<unknown>(...kind.values, ...(kind.name === 'yesNo' ? [true, false] : []));
  switch (kind.name) {
    case 'list':
      return kind.item === undefined || depth > 3 ? oddJson : fc.array(fitting(kind.item, depth + 1), { maxLength: 4 });
    case 'map':
      return kind.item === undefined || depth > 3
        ? oddJson
        : fc.dictionary(fc.constantFrom('1', '2', ...PROTOTYPE_NAMES), fitting(kind.item, depth + 1), {
            maxKeys: 3,
            noNullPrototype: true,
          });
    case 'object':
      return kind.fields === undefined || depth > 3 ? oddJson : partsOf(kind.fields, depth + 1);
    case 'link':
    case 'id':
      return fc.integer({ min: 1, max: 260 }).map((n) => (kind.name === 'link' ? { id: big(n) } : big(n)));
    case 'date':
      return fc.constantFrom('2026-03-02', '2026-12-31', '0001-01-01', '9999-12-31', '2024-02-29');
    case 'dateTime':
      return fc.constantFrom(
        '2026-03-02T15:00:00Z',
        '2026-03-08T02:30:00',
        '2026-11-01T01:30:00',
        '0001-01-01T00:00:00Z',
        '9999-12-31T23:59:00Z',
        '9999-12-31T23:00:00',
        '0001-01-01T00:00:00+14:00',
      );
    case 'timeOfDay':
      return fc.constantFrom('00:00', '23:59', '24:00');
    case 'integer':
    case 'number':
    case 'dollars':
      return fc.constantFrom<unknown>(1, 2, 60, 1440, 52, 0.01, '5', 1e12, 2 ** 53 - 1, 5e-324);
    default:
      return fc.constantFrom(
        'Text',
        'Ünïcödé',
        'x'.repeat(25),
        '80014',
        'bbbbbb',
        'MO',
        'America/Denver',
        'a'.repeat(200_000),
      );
  }
}

function partsOf(fields: Fields, depth: number): fc.Arbitrary<unknown> {
  return fc
    .subarray(Object.keys(fields))
    .chain((names) =>
      fc.record(Object.fromEntries(names.map((name) => [name, fieldValue(fields[name]?.kind as Kind, depth)]))),
    );
}

function fieldValue(kind: Kind, depth = 0): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 3, arbitrary: fitting(kind, depth) }, { weight: 2, arbitrary: oddJson });
}

/** A field of a body and what is put there. */
type Change = readonly [name: string, value: unknown];

export function changeOf(fields: Fields): fc.Arbitrary<Change> {
  const names = Object.keys(fields);
  const wild = fc.tuple(fc.oneof(fc.constantFrom(...PROTOTYPE_NAMES, 'nosuch', 'ID'), oddText), oddJson);
  if (names.length === 0) return wild;
  const known = fc
    .constantFrom(...names)
    .chain((name) => fieldValue(fields[name]?.kind as Kind).map((value): Change => [name, value]));
  return fc.oneof({ weight: 9, arbitrary: known }, { weight: 1, arbitrary: wild });
}

/** An object with changes made; `__proto__` becomes a property of its own, as JSON.parse makes it. */
export function changed(base: unknown, changes: readonly Change[]): unknown {
  const entries = [
    ...Object.entries(base as object).filter(([name]) => !changes.some(([other]) => other === name)),
    ...changes,
  ];
  const isRaw = entries.some(([, value]) => value instanceof RawJson);
  return isRaw || entries.some(([name]) => name === '__proto__')
    ? new RawJson(`{${entries.map(([name, value]) => `${JSON.stringify(name)}:${jsonText(value)}`).join(',')}}`)
    : Object.fromEntries(entries);
}

/** What happens to the text of a body on its way: nothing most often. */
const WAYS: readonly ((text: string, n: number) => string | Buffer)[] = [
  ...Array(60).fill((text: string) => text),
  (text, n) => text.slice(0, n % (text.length + 1)),
  (text) => `${text}garbage`,
  (text) => `${text}${text}`,
  (text) => `\ufeff${text}`,
  (text) => `\ufeff\ufeff${text}`,
  (text) => text.replace('{', '{"name":1,"name":2,'),
  (text, n) =>
    Buffer.concat([
      Buffer.from(text.slice(0, n % (text.length + 1))),
      Buffer.from([0xff, 0xc0, 0x80]),
      Buffer.from(text.slice(n % (text.length + 1))),
    ]),
  (text) => Buffer.from(text, 'utf16le'),
  (text) => gzipSync(text),
  (text) => text.replaceAll('"', "'"),
  (text) => `${' '.repeat(300_000)}${text}`,
  (text) => text.replace('{', '{"a":\0,'),
  (text) => `[${text}]`,
  () => `{"a":${'['.repeat(200_000)}`,
  () => `${'['.repeat(500_000)}${']'.repeat(500_000)}`,
  () => `{${Array.from({ length: 60_000 }, (_, n) => `"k${n}":0`).join(',')}}`,
  (text) => `${text}${' '.repeat(1024 * 1024)}`,
  () => '',
  () => 'null',
  () => '"text"',
  () => '1e400',
];

const TYPES: readonly (string | undefined)[] = [
  ...Array(120).fill('application/json'),
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/json;charset="UTF-8"',
  'application/json; charset=utf-8; charset=latin1',
  'application/json\u00a0',
  'application/merge-patch+json',
  'text/plain',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'application/json,application/json',
  `application/json;${' '.repeat(3000)}x`,
  '/',
  ';',
  '',
  undefined,
];

export interface Transport {
  readonly way: number;
  readonly cut: number;
  readonly type: number;
  readonly key: string | undefined;
  readonly encoding: string | undefined;
}

/** The ways of `transport`: one in three is not the usual one. */
export const transport: fc.Arbitrary<Transport> = fc.record({
  way: fc.nat(WAYS.length - 1),
  cut: fc.nat(5000),
  type: fc.nat(TYPES.length - 1),
  key: fc.oneof(
    { weight: 8, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('k-1', 'k-2', 'x'.repeat(256), 'ü', ' ', '') },
  ),
  encoding: fc.oneof(
    { weight: 20, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('gzip', 'identity', 'br', 'x') },
  ),
});

export function sent(
  operation: Operation,
  id: string,
  text: string,
  { way, cut, type, key, encoding }: Transport,
): FuzzRequest {
  return {
    method: operation.method,
    url: urlOf(operation, id),
    headers: { ...RIGHT_HEADERS, 'content-type': TYPES[type], 'idempotency-key': key, 'content-encoding': encoding },
    body: WAYS[way]?.(text, cut) ?? text,
  };
}

function baseOf(resource: Resource, { shape, bodyIsArray }: Operation, n: number): unknown {
  const fixture = FIXTURES.find((candidate) => candidate.resource === resource);
  if (bodyIsArray) return [{ id: big(61) }, { id: big(62) }];
  if (shape === 'create') return fixture?.create?.(n) ?? {};
  return n % 3 === 0 ? {} : (fixture?.update?.(n) ?? {});
}

const WRITES = allOperations().filter(({ operation }) => operation.method !== 'GET' && operation.largeBody !== true);

/** Ids that updates and deletions find. */
function realId(resource: Resource): fc.Arbitrary<string> {
  const ids = FIXTURES.find((candidate) => candidate.resource === resource)?.records.map(({ id }) => String(id)) ?? [];
  return ids.length === 0 ? fc.constant('1') : fc.constantFrom(...ids);
}

/** A right body for one operation with some things wrong. */
function writeOf(resource: Resource, operation: Operation): fc.Arbitrary<FuzzRequest> {
  const changes = fc.array(changeOf(operation.body ?? resource.fields), { maxLength: 3 });
  const instead = fc.oneof(
    { weight: 8, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: oddJson.map((value) => ({ value })) },
  );
  const id = fc.oneof({ weight: 4, arbitrary: realId(resource) }, { weight: 1, arbitrary: pathId });
  return fc.tuple(changes, instead, id, transport, fc.nat(1_000_000)).map(([changes, instead, id, how, n]) => {
    const base = baseOf(resource, operation, n);
    const usual = Array.isArray(base) ? [...base, ...changes.map(([, value]) => value)] : changed(base, changes);
    return sent(operation, id, jsonText(instead === undefined ? usual : instead.value), how);
  });
}

/** Writes of every resource: a right body with some things wrong. */
export const bodyRequest: fc.Arbitrary<FuzzRequest> = fc.oneof(
  ...WRITES.map(({ resource, operation }) => writeOf(resource, operation)),
);
