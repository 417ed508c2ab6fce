import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import type { Resource } from '../../../src/catalog/define.ts';
import { appointmentHistories } from '../../../src/catalog/resources/appointmenthistories.ts';
import { documents } from '../../../src/catalog/resources/documents.ts';
import { missedAppointments } from '../../../src/catalog/resources/missedappointments.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { countAll, countOnce, countOperationOf, totalOf } from '../../../src/core/pages/countall.ts';
import { answer, clientOf, Script, type Step, success } from '../transport/script.ts';
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

  it('fails as the service does where no time can cut it into slices', async () => {
    const timingOut: Habits['instead'] = () => answer(408, '');
    await expect(count(documents, { instead: timingOut })).rejects.toMatchObject({ status: 408, exitCode: 7 });
  });

  it('says what it could not count', async () => {
    expect((await count(patients, { widest: 366 * DAY })).unproved).toEqual([
      'The server timed out on records with lastModified before 1980-01-01.',
    ]);
  });
});

describe('countAll of patients, some of whom may have no change time', () => {
  const count = operationOf(patients, 'count');
  const total = (number: number) => success({ totalCount: number, own: 1 });
  const BOUNDED = 'lastName==Lee,lastModified>=0001-01-01T00:00:00Z';

  async function countOf(filter: string, ...steps: Step[]) {
    const script = new Script(...steps);
    const unproved: string[] = [];
    const signal = new AbortController().signal;
    const options = { now: () => Date.UTC(2026, 10, 22), signal, onUnproved: (what: string) => unproved.push(what) };
    const counted = await countAll(clientOf(script), count, filter, options).catch((cause: unknown) => cause);
    return { counted, unproved, filters: script.queries.map((query) => query.filter) };
  }

  it('asks with the bound and without it, and once where the filter has one', async () => {
    const data = { totalCount: 7, own: 1 };
    expect(await countOf('lastName==Lee', total(7), total(7))).toEqual({
      ...{ counted: { total: 7, data }, unproved: [], filters: [BOUNDED, 'lastName==Lee'] },
    });
    const own = 'lastModified>=2026-01-01T00:00:00Z';
    expect(await countOf(own, total(7))).toEqual({ counted: { total: 7, data }, unproved: [], filters: [own] });
  });

  it.each<[string, () => Step[], number, string]>([
    ['all where they are more', () => [total(9)], 9, '9 in all'],
    ['those with a date where a service leaves others out', () => [total(3)], 7, '3 in all'],
    [
      'those with a date where the service refuses to count all',
      () => [answer(400, ''), answer(400, '')],
      7,
      'does not',
    ],
    ['those with a date where it may not be counted', () => [answer(403, '')], 7, 'does not'],
    ['those with a date where all time out', () => [answer(408, ''), answer(408, '')], 7, 'does not'],
    ['those with a date where the answer makes no sense', () => [success({})], 7, 'does not'],
  ])('counts %s, and says so', async (_name, plain, expected, words) => {
    const { counted, unproved } = await countOf('lastName==Lee', total(7), ...plain());
    expect(counted).toMatchObject({ total: expected, data: { totalCount: expected } });
    expect(unproved).toEqual([expect.stringContaining(`The server counts 7 with a date, and ${words}`)]);
  });

  it.each([429, 500, 503])('fails where the server fails with %d', async (status) => {
    const failing = Array.from({ length: 6 }, () => answer(status, ''));
    expect((await countOf('lastName==Lee', total(7), ...failing)).counted).toMatchObject({ status });
  });

  it('fails at once with what is no timeout', async () => {
    const { counted, filters } = await countOf('lastName==Lee', answer(403, ''));
    expect([counted, filters]).toMatchObject([{ status: 403 }, [BOUNDED]]);
  });

  it('sums slices of the same filter, one of them open, and tells the sum by every name', async () => {
    const timeouts = [answer(408, ''), answer(408, '')];
    // Before 1980, then slices of 1, 2, 4, 8, 16 and 16 years, and the rest.
    const slices = Array.from({ length: 7 }, (_, at) => total(10 ** at));
    const { counted, unproved, filters } = await countOf('lastName==Lee', ...timeouts, ...slices, total(1_111_111));
    expect(counted).toEqual({ total: 1_111_111, data: { totalCount: 1_111_111, total: 1_111_111 } });
    expect(unproved).toEqual([]);
    expect(filters.filter((filter) => filter?.startsWith('lastName==Lee'))).toHaveLength(10);
    expect(filters[2]).toBe('lastName==Lee,lastModified>=0001-01-01T00:00:00Z,lastModified<1980-01-01T00:00:00Z');
    expect(filters.at(-2)).toMatch(/^lastName==Lee,lastModified>=20[^,]*$/);
  });
});

describe('countOnce', () => {
  const count = operationOf(patients, 'count');
  const once = (script: Script, filter?: string, signal = new AbortController().signal) =>
    countOnce(clientOf(script), count, filter, signal);

  it('gives up after the second timeout, and not for other failures', async () => {
    const script = new Script(answer(408, ''), answer(408, ''), success({ total: 1 }));
    await expect(once(script)).rejects.toMatchObject({ status: 408 });
    expect(script.requests).toHaveLength(2);
    const others = new Script(answer(408, ''), answer(503, ''), answer(503, ''), success({ total: 1 }));
    expect((await once(others)).total).toBe(1);
  });

  it.each([undefined, ''])('asks without a filter where it is %j', async (filter) => {
    const script = new Script(success({ total: 1 }));
    await once(script, filter);
    expect(script.queries).toEqual([{}]);
    expect(script.requests[0]?.method).toBe('GET');
  });

  it('fails on an answer without a count, and tells which', async () => {
    const failure = { code: 'response.malformed', exitCode: 8, requestId: 'req-1' };
    await expect(once(new Script(success({})))).rejects.toMatchObject(failure);
  });

  it('ends when it is interrupted', async () => {
    const reason = new Error('stopped');
    await expect(once(new Script(success({ total: 1 })), undefined, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

it.each<[string | undefined, boolean, Resource]>([
  [undefined, true, patients],
  ['lastName==Lee,id->[1]', true, patients],
  ['lastName==Lee,other==1', false, patients],
  ['other==1', false, patients],
  [undefined, false, missedAppointments],
])('a count of what the filter %s lists is there: %s', (filter, isThere, resource) => {
  expect(countOperationOf(resource, filter)).toBe(isThere ? operationOf(resource, 'count') : undefined);
});

it.each<[unknown, number | undefined]>([
  [{ totalCount: 5 }, 5],
  [{ totalCount: 5, total: 6 }, 5],
  [[5], undefined],
  [{ total: '12' }, 12],
  [{ total: '' }, undefined],
  [{}, undefined],
  [null, undefined],
])('the total of %j is %j', (data, total) => {
  expect(totalOf({ data })).toBe(total);
});
