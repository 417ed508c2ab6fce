import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import type { Resource } from '../../../src/catalog/define.ts';
import { appointmentHistories } from '../../../src/catalog/resources/appointmenthistories.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { countAll, totalOf } from '../../../src/core/pages/countall.ts';
import { clientOf } from '../transport/script.ts';
import { type FakeRow, FakeService, type Habits } from './fakeservice.ts';

const DAY = 86_400_000;
const ROWS: FakeRow[] = Array.from({ length: 40 }, (_, at) => ({
  id: at + 1,
  lastModified: new Date(Date.UTC(2006, 0, 1) + at * 190 * DAY).toISOString(),
}));

async function count(resource: Resource, habits: Habits, rows = ROWS) {
  const unproved: string[] = [];
  const client = clientOf(new FakeService(rows, habits));
  const { total } = await countAll(client, operationOf(resource, 'count'), undefined, {
    now: () => Date.parse('2026-11-22T12:00:00Z'),
    signal: new AbortController().signal,
    onUnproved: (what) => unproved.push(what),
  });
  return { total, unproved };
}

describe('countAll', () => {
  it.each<[string, Resource, Habits, number]>([
    ['what the service would leave out by date', patients, { since: '2025-11-22' }, 40],
    ['histories', appointmentHistories, { since: '2025-11-22' }, 40],
    ['where a filter on locations is required', patients, { needsLocation: true }, 40],
    ['slice by slice where all of it times out', patients, { widest: 366 * DAY }, 40],
  ])('counts %s', async (_name, resource, habits, total) => {
    expect((await count(resource, habits)).total).toBe(total);
  });

  it('counts what has no change time', async () => {
    expect(await count(patients, {}, [...ROWS, { id: 77 }])).toEqual({
      total: 41,
      unproved: ['The server counts 40 with a date, and 41 in all: there may be more without a date.'],
    });
  });

  it('says what it could not count', async () => {
    expect((await count(patients, { widest: 366 * DAY })).unproved).toEqual([
      'The server timed out on records with lastModified before 1980-01-01.',
    ]);
  });
});

it.each<[unknown, number | undefined]>([
  [{ totalCount: 5 }, 5],
  [{ total: '12' }, 12],
  [{ total: '' }, undefined],
  [{}, undefined],
  [null, undefined],
])('the total of %j is %j', (data, total) => {
  expect(totalOf({ data })).toBe(total);
});
