import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import type { Resource } from '../../../src/catalog/define.ts';
import { appointmentHistories } from '../../../src/catalog/resources/appointmenthistories.ts';
import { documents } from '../../../src/catalog/resources/documents.ts';
import { events } from '../../../src/catalog/resources/events.ts';
import { missedAppointments } from '../../../src/catalog/resources/missedappointments.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { scheduleTemplateReasons } from '../../../src/catalog/resources/scheduletemplatereasons.ts';
import { transactionTags } from '../../../src/catalog/resources/transactiontags.ts';
import { type CompleteOptions, readComplete } from '../../../src/core/pages/complete.ts';
import { countOf } from '../../../src/core/pages/countall.ts';
import type { Proof } from '../../../src/core/pages/proof.ts';
import type { WalkPlace } from '../../../src/core/pages/walkplace.ts';
import { answer, clientOf, type Script } from '../transport/script.ts';
import { type FakeRow, FakeService, type Habits } from './fakeservice.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const DAY = 86_400_000;

/** Records whose last change is spread over the years 2008 to 2026, later ids not always changed later. */
function spread(count: number): FakeRow[] {
  return Array.from({ length: count }, (_, at) => ({
    id: 1000 + at * 3,
    lastModified: new Date(Date.UTC(2008, 0, 1) + ((at * 37) % count) * (6900 / count) * DAY).toISOString(),
  }));
}

interface Read {
  readonly ids: readonly number[];
  readonly proof: Proof | undefined;
  readonly places: readonly (WalkPlace | undefined)[];
  readonly service: FakeService;
}

async function read(
  resource: Resource,
  rows: readonly FakeRow[],
  habits: Habits = {},
  options: Partial<CompleteOptions> = {},
): Promise<Read> {
  const service = new FakeService(rows, habits);
  const ids: number[] = [];
  const places: (WalkPlace | undefined)[] = [];
  let proof: Proof | undefined;
  const client = clientOf({ send: service.send } as Script);
  const pages = readComplete(client, operationOf(resource, 'list'), {
    count: countOf(resource, options.filter),
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
    places.push(page.place);
  }
  return { ids, proof, places, service };
}

const idsOf = (rows: readonly FakeRow[]) => rows.map(({ id }) => id);
const sorted = (ids: readonly number[]) => ids.toSorted((a, b) => a - b);
const PROVED = (counted: number): Proof => ({ by: 'count', counted, unproved: null });

describe('readComplete', () => {
  it.each<[string, Resource, Habits]>([
    ['patients of a service that limits by change', patients, { since: '2025-11-22' }],
    ['patients of one with small pages of its own', patients, { since: '2025-11-22', ownSize: 7 }],
    ['events of a service that limits by change', events, { since: '2025-11-22' }],
    ['events that come newest first, whatever the cursor', events, { since: '2025-11-22', newestFirst: true }],
    ['events newest first, one to a page', events, { since: '2025-11-22', newestFirst: true, ownSize: 1 }],
    ['histories of a service that limits by change', appointmentHistories, { since: '2025-11-22', ownSize: 10 }],
    ['documents, which nobody limits', documents, {}],
    ['patients where a filter on locations is required', patients, { needsLocation: true, since: '2025-11-22' }],
    ['patients of a service that times out on more than a year', patients, { widest: 366 * DAY, ownSize: 9 }],
  ])('brings all %s, each once', async (name, resource, habits) => {
    const rows = spread(120);
    const { ids, proof } = await read(resource, rows, habits);
    expect(sorted(ids)).toEqual(idsOf(rows));
    // What times out with a bound is counted, and asked for, without it as well.
    const unproved = name.includes('times out') ? expect.stringContaining('before 1980-01-01') : null;
    expect(proof).toEqual({ by: 'count', counted: 120, unproved });
  });

  it('brings what has no change time, where the service shows that there is such', async () => {
    const rows: FakeRow[] = [...spread(30), { id: 1001 }, { id: 5000 }];
    const { ids, proof, places } = await read(patients, rows, {});
    expect(ids).toEqual(sorted(idsOf(rows)));
    expect(proof).toEqual(PROVED(32));
    expect(places.at(-1)).toEqual({ lastId: '5000', fetched: 32 });
  });

  it('brings what has no change time from a service that times out on wide ranges', async () => {
    const rows: FakeRow[] = [...spread(40), { id: 1001 }, { id: 5000 }];
    const instead: Habits['instead'] = ({ filter = '' }, path) =>
      path.endsWith('/totalcount')
        ? answer(200, { data: { total: filter.includes('lastModified') ? 40 : 42 } })
        : undefined;
    const { ids, proof } = await read(patients, rows, { widest: 400 * DAY, instead, ownSize: 9 });
    expect(sorted(ids)).toEqual(sorted(idsOf(rows)));
    expect(proof).toMatchObject({ by: 'count', counted: 42 });
  });

  it('brings missed appointments with and without a start, of which nobody counts', async () => {
    const rows: FakeRow[] = [
      { id: 1, start: '2019-01-01T08:00:00Z' },
      { id: 2 },
      { id: 3, start: '2026-11-01T08:00:00Z' },
      { id: 4 },
    ];
    // A record without a start is none of last year's.
    const { ids, proof } = await read(missedAppointments, rows, { key: 'start' });
    expect([ids, proof]).toEqual([[1, 2, 3, 4], { by: 'bound', counted: null, unproved: null }]);
  });

  it('brings tags of both types by id, where the service limits a list without a filter', async () => {
    const types = ['PAYMENT_TAG', 'ADJUSTMENT_TAG', 'ADJUSTMENT_TAG', 'PAYMENT_TAG', 'OTHER_TAG'];
    const rows = types.map((tagType, at) => ({ id: at + 1, tagType }));
    const limited: Habits['instead'] = ({ filter }) => (filter === undefined ? answer(200, { data: [] }) : undefined);
    const { ids, places } = await read(transactionTags, rows, { instead: limited }, { pageSize: 2 });
    expect(ids).toEqual([1, 2, 3, 4, 5]);
    expect(places.at(-1)).toEqual({ lastId: '5', fetched: 5 });
    const resumed = await read(transactionTags, rows, { instead: limited }, { from: { lastId: '2', fetched: 2 } });
    expect(resumed.ids).toEqual([3, 4, 5]);
  });

  it('reads template reasons of a service that ignores what it does not list', async () => {
    const rows = [{ id: 3 }, { id: 1 }, { id: 2 }];
    const whole: Habits['instead'] = () => answer(200, { data: rows, meta: { pagination: { limit: 3 } } });
    const filter = 'location.id==5';
    const { ids, service } = await read(scheduleTemplateReasons, rows, { instead: whole }, { filter });
    expect(ids).toEqual([3, 1, 2]);
    expect(service.queries[0]).toEqual({ path: 'scheduletemplatereasons', filter });
  });

  it('reads further template reasons where the answer says that it was a full page', async () => {
    const paged: Habits['instead'] = ({ lastId = '0' }) => {
      const data = [1, 2, 3, 4, 5].filter((id) => id > Number(lastId)).slice(0, 2);
      return answer(200, { data: data.map((id) => ({ id })), meta: { pagination: { limit: 2 } } });
    };
    const { ids } = await read(scheduleTemplateReasons, [], { instead: paged }, { filter: 'location.id==5' });
    expect(ids).toEqual([1, 2, 3, 4, 5]);
  });

  it('looks again for rows that the count says are missing', async () => {
    const rows = spread(20);
    let asked = 0;
    // A page that ends the list too early, once.
    const instead: Habits['instead'] = ({ lastId }) =>
      Number(lastId) > 1010 && asked++ === 0 ? answer(200, { data: [] }) : undefined;
    const { ids, proof } = await read(patients, rows, { instead, ownSize: 5 });
    expect([ids, proof]).toEqual([idsOf(rows), PROVED(20)]);
  });

  it('fails when fewer rows come than are counted', async () => {
    const instead: Habits['instead'] = (_query, path) =>
      path.endsWith('/totalcount') ? answer(200, { data: { totalCount: '21' } }) : undefined;
    await expect(read(patients, spread(20), { instead })).rejects.toMatchObject({
      code: 'pages.incomplete',
      exitCode: 8,
      message: 'The server counts 21 records, and 20 came.',
    });
  });

  it('compares nothing for a limit, and asks for what it needs', async () => {
    const { ids, proof, service } = await read(patients, spread(20), { since: '2025-11-22' }, { limit: 3 });
    expect([ids, proof]).toEqual([[1000, 1003, 1006], { by: 'none', counted: null, unproved: null }]);
    expect(service.queries).toHaveLength(1);
  });

  it('leaves it to the service with server defaults', async () => {
    const { ids, proof, service } = await read(patients, spread(50), { since: '2025-11-22' }, { serverDefaults: true });
    expect(ids.length).toBeLessThan(10);
    expect(proof?.by).toBe('none');
    expect(service.queries.every(({ filter }) => filter === undefined)).toBe(true);
  });

  it('has no place to resume from once rows are out of order', async () => {
    const { places } = await read(events, spread(120), { newestFirst: true });
    expect(new Set(places)).toEqual(new Set([undefined]));
  });

  it('throws the refusal itself when a filter on locations does not help', async () => {
    const instead: Habits['instead'] = ({ filter }) =>
      answer(400, { data: null, errors: [{ description: filter?.includes('ALL') ? 'second' : 'first' }] });
    await expect(read(patients, [], { instead })).rejects.toMatchObject({ status: 400, message: /first/ });
  });

  it('does not ask for all locations when the refusal names something else', async () => {
    const instead: Habits['instead'] = () => answer(400, { data: null, errors: [{ source: 'pageSize' }] });
    const failing = read(patients, [], { instead }, { limit: 5 });
    await expect(failing).rejects.toMatchObject({ status: 400 });
  });
});

describe('a walk by page numbers', () => {
  const HISTORIES = spread(60);
  const shuffled = HISTORIES.toSorted((a, b) => ((a.id * 31) % 67) - ((b.id * 31) % 67));

  it('loses nothing to a timeout in the middle: pages do not change their size without starting over', async () => {
    let asked = 0;
    const instead: Habits['instead'] = (_query, path) =>
      !path.endsWith('/totalcount') && asked++ === 3 ? answer(408, '') : undefined;
    const { ids, service } = await read(appointmentHistories, HISTORIES, { instead, ownSize: 10 });
    expect(ids).toEqual(idsOf(HISTORIES));
    expect(new Set(service.queries.flatMap(({ pageSize }) => pageSize ?? []))).toEqual(new Set(['50']));
  });

  it('starts over with smaller pages when one keeps timing out', async () => {
    const instead: Habits['instead'] = ({ pageSize, page }) =>
      Number(pageSize) > 20 && page === '2' ? answer(408, '') : undefined;
    const { ids, service } = await read(appointmentHistories, shuffled, { instead });
    expect(sorted(ids)).toEqual(idsOf(HISTORIES));
    expect(service.queries.filter(({ page }) => page === '1').map(({ pageSize }) => pageSize)).toEqual([
      '50',
      '25',
      '12',
    ]);
  });

  it('brings each row once, in any order, when rows are added in front', async () => {
    const rows = [...shuffled];
    const habits: Habits = {
      ownSize: 10,
      instead: ({ page }) => {
        if (page === '3' && service.rows.length === 60) service.rows = [{ id: 9, lastModified: '2026-01-01' }, ...rows];
        return undefined;
      },
    };
    const service = new FakeService(rows, habits);
    const ids: number[] = [];
    const client = clientOf({ send: service.send } as Script);
    const options = { now: () => NOW, signal: new AbortController().signal, pageSize: 50, parallel: 1 };
    const count = operationOf(appointmentHistories, 'count');
    const pages = readComplete(client, operationOf(appointmentHistories, 'list'), { ...options, count });
    for await (const page of pages) ids.push(...page.rows.map(({ id }) => Number(id)));
    expect(sorted(ids)).toEqual([9, ...idsOf(HISTORIES)]);
  });

  it('ends with an error when the service gives the same page for every number', async () => {
    const instead: Habits['instead'] = () => answer(200, { data: [{ id: 1 }] });
    const failing = read(appointmentHistories, [], { instead, counts: false });
    await expect(failing).rejects.toMatchObject({ code: 'pages.order' });
  });

  it('resumes behind the last id while rows come in ascending order', async () => {
    const first = await read(appointmentHistories, HISTORIES, { ownSize: 10 }, { limit: 20 });
    const from = first.places.at(-1);
    expect(from).toEqual({ lastId: String(HISTORIES[19]?.id), fetched: 20 });
    const { ids } = await read(appointmentHistories, HISTORIES, { ownSize: 10 }, { from });
    expect(ids).toEqual(idsOf(HISTORIES).slice(20));
  });
});
