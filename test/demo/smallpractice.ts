import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { RESOURCES } from '../../src/catalog/catalog.ts';
import type { Problem } from '../../src/catalog/failures.ts';
import type { Fields, Kind } from '../../src/catalog/fields/kind.ts';
import { readFields } from '../../src/catalog/record.ts';
import { ORGANIZATION_FIELDS, REFERENCES } from '../../src/catalog/resources/references.ts';
import type { DemoRecord } from '../../src/demo/practice.ts';
import { demoActivity, demoRecords } from '../../src/demo/records.ts';

export const TODAY = '2026-03-02';

/** The start of today: everything that has happened lies before it. */
export const NOW = `${TODAY}T00:00:00.000Z`;

export interface Link {
  readonly id: number;
}

let made: DemoRecord[] | undefined;

/** The whole small practice, by kind; made once for all files of a worker, so that nobody may change a record. */
export function smallPractice(): { all: DemoRecord[]; of: (type: string) => DemoRecord[] } {
  made ??= [...demoRecords('small', { today: TODAY }), ...demoActivity('small', { today: TODAY })];
  const all = made;
  return { all, of: (type) => all.filter((record) => record.type === type) };
}

export function idOf(link: unknown): number {
  return (link as Link).id;
}

/** Whole cents of an amount in dollars; fails on a fraction of a cent. */
export function cents(dollars: unknown): number {
  const value = Math.round((dollars as number) * 100);
  if (value / 100 !== dollars) throw new Error(`${dollars} is not in whole cents.`);
  return value;
}

/** What of some items is not as wanted: thousands of calls of `expect` take longer than to make the practice. */
export function differing<T>(
  items: Iterable<T>,
  pairOf: (item: T) => readonly [got: unknown, wanted: unknown],
): (readonly [got: unknown, wanted: unknown])[] {
  return Array.from(items, pairOf).filter(([got, wanted]) => !isDeepStrictEqual(got, wanted));
}

/** SHA-256 of the records as lines of an import, of the first ones where `most` is given. */
export function digest(records: Iterable<DemoRecord>, most = Number.POSITIVE_INFINITY): string {
  const hash = createHash('sha256');
  let count = 0;
  for (const record of records) {
    if (count++ === most) break;
    hash.update(`${JSON.stringify(record)}\n`);
  }
  return hash.digest('hex');
}

/** The fields of a kind as the catalog declares them, undefined where it does not. */
export function fieldsOf(type: string): Fields | undefined {
  if (type === 'Organization') return ORGANIZATION_FIELDS;
  return (
    RESOURCES.find((resource) => resource.type === type)?.fields ??
    (REFERENCES as Readonly<Record<string, Fields>>)[type]
  );
}

function declared(type: string): Fields {
  const fields = fieldsOf(type);
  if (fields === undefined) throw new Error(`The catalog has no ${type}.`);
  return fields;
}

/** What the catalog says is wrong with a record read as an import line, and required fields that have no value. */
export function problemsOf(record: DemoRecord, extra: readonly string[] = []): string[] {
  const { organizationId: _, ...rest } = record;
  const fields = declared(record.type);
  const known = Object.fromEntries(
    Object.entries(rest).filter(
      ([name]) => !extra.includes(name) && (name in fields || (name !== 'type' && name !== 'id')),
    ),
  );
  const problems: Problem[] = [];
  const values = readFields(fields, known, { problems, warnings: [], mode: 'import' });
  const missing = Object.keys(fields).filter((name) => fields[name]?.required && (values[name] ?? null) === null);
  return [...problems.map((problem) => problem.description), ...missing.map((name) => `${name} is missing`)];
}

/** Every link of a record as `Kind id`, found by the catalog's link targets. */
export function linksOf(record: DemoRecord): string[] {
  return Object.entries(declared(record.type)).flatMap(([name, field]) => below(field.kind, record[name]));
}

function below(kind: Kind, value: unknown): string[] {
  if (kind.target === undefined || typeof value !== 'object' || value === null) return [];
  if ('id' in value) return [`${kind.target} ${value.id}`];
  return Object.values(value).flatMap((item) => below(kind, item));
}

/** Groups in order of first appearance. */
export function groups<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const found = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = found.get(key);
    if (group === undefined) found.set(key, [item]);
    else group.push(item);
  }
  return found;
}
