import { operationOf } from '../../../src/catalog/catalog.ts';
import type { Resource } from '../../../src/catalog/define.ts';
import type { Proof } from '../../../src/core/pages/complete.ts';
import { type CompleteOptions, readComplete } from '../../../src/core/pages/complete.ts';
import { countOperationOf } from '../../../src/core/pages/countall.ts';
import type { WalkPosition } from '../../../src/core/pages/walkoptions.ts';
import { clientOf } from '../transport/script.ts';
import { type FakeRow, FakeService, type Habits } from './fakeservice.ts';

export const NOW = Date.parse('2026-11-22T12:00:00Z');
export const DAY = 86_400_000;

/** Records whose last change is spread over the years 2008 to 2026, later ids not always changed later. */
export function spread(count: number): FakeRow[] {
  return Array.from({ length: count }, (_, at) => {
    const time = new Date(Date.UTC(2008, 0, 1) + ((at * 37) % count) * (6900 / count) * DAY).toISOString();
    return { id: 1000 + at * 3, lastModified: time, start: time };
  });
}

export interface Read {
  readonly ids: readonly number[];
  readonly proof: Proof | undefined;
  readonly places: readonly (WalkPosition | undefined)[];
  readonly service: FakeService;
}

export async function read(
  resource: Resource,
  rows: readonly FakeRow[],
  habits: Habits = {},
  options: Partial<CompleteOptions> = {},
): Promise<Read> {
  const service = new FakeService(rows, habits);
  const ids: number[] = [];
  const places: (WalkPosition | undefined)[] = [];
  let proof: Proof | undefined;
  const client = clientOf(service);
  const pages = readComplete(client, operationOf(resource, 'list'), {
    count: countOperationOf(resource, options.filter),
    now: () => NOW,
    signal: new AbortController().signal,
    pageSize: 50,
    parallel: 1,
    onProof: (made) => {
      proof = made;
    },
    ...options,
  });
  for await (const page of pages) {
    ids.push(...page.rows.map(({ id }) => Number(id)));
    places.push(page.position);
  }
  return { ids, proof, places, service };
}

export const idsOf = (rows: readonly FakeRow[]) => rows.map(({ id }) => id);
export const sorted = (ids: readonly number[]) => ids.toSorted((a, b) => a - b);
export const PROVED = (counted: number): Proof => ({ by: 'count', counted, unproved: null });
