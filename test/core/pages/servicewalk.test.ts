import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../src/catalog/define.ts';
import { appointmentHistories } from '../../../src/catalog/resources/appointmenthistories.ts';
import { documents } from '../../../src/catalog/resources/documents.ts';
import { events } from '../../../src/catalog/resources/events.ts';
import { missedAppointments } from '../../../src/catalog/resources/missedappointments.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import type { CompleteOptions } from '../../../src/core/pages/complete.ts';
import { answer } from '../transport/script.ts';
import type { Habits } from './fakeservice.ts';
import { DAY, idsOf, read, sorted, spread } from './reading.ts';

const rows = spread(60);
const ALL = /ocation\.id->\["ALL"\]/;

describe('a walk that has to change its way', () => {
  it.each<[string, Resource, NonNullable<Habits['instead']>]>([
    [
      'the service times out on wide ranges from some page on',
      patients,
      ({ filter = '', lastId }) =>
        Number(lastId) > 1040 && !filter.includes('<') && filter.includes('>=0001') ? answer(408, '') : undefined,
    ],
    [
      'a filter on locations is required from some page on',
      patients,
      ({ filter = '', lastId }) => (Number(lastId) > 1040 && !ALL.test(filter) ? answer(400, '') : undefined),
    ],
    [
      'the service turns out to have another order on some page',
      events,
      ({ lastId }) => (Number(lastId) > 1040 ? answer(200, { data: rows.toReversed().slice(0, 9) }) : undefined),
    ],
  ])('brings each row once where %s', async (_name, resource, instead) => {
    const { ids, proof } = await read(resource, rows, {
      key: resource === events ? 'start' : 'lastModified',
      instead,
      ownSize: 9,
    });
    expect(sorted(ids)).toEqual(idsOf(rows));
    expect(proof).toMatchObject({ by: 'count', counted: 60 });
  });

  it('brings no row again that came before the slices, also when it looks for what is missing', async () => {
    let counts = 0;
    const instead: Habits['instead'] = ({ filter = '', lastId }, path) => {
      // One is deleted after all have been looked through twice.
      if (path.endsWith('/totalcount')) return answer(200, { data: { total: ++counts <= 4 ? 61 : 60 } });
      const isWide = !filter.includes('<') && filter.includes('>=0001');
      return Number(lastId) > 1040 && isWide ? answer(408, '') : undefined;
    };
    const { ids, proof } = await read(patients, rows, { instead, ownSize: 9 });
    expect(sorted(ids)).toEqual(idsOf(rows));
    expect(proof).toMatchObject({ by: 'count', counted: 60 });
  });

  it('brings no row again that came before the place that it resumes from, in whatever order', async () => {
    const from = { lastId: '1087', fetched: 30 };
    const { ids } = await read(events, rows, { key: 'start', newestFirst: true, ownSize: 9 }, { from });
    expect(sorted(ids)).toEqual(idsOf(rows).slice(30));
  });

  it('learns once that locations have to be named, for slices and counts, too', async () => {
    const { ids, service } = await read(patients, rows, { needsLocation: true, widest: 366 * DAY, ownSize: 9 });
    expect(sorted(ids)).toEqual(idsOf(rows));
    expect(service.queries.filter(({ filter = '' }) => !ALL.test(filter))).toHaveLength(1);
    const { service: quick } = await read(patients, rows, { needsLocation: true });
    expect(quick.queries.filter(({ filter = '' }) => !ALL.test(filter))).toHaveLength(1);
  });

  it.each([403, 500])('says what else went wrong once locations are named: %d', async (status) => {
    const instead: Habits['instead'] = ({ filter = '' }) => answer(ALL.test(filter) ? status : 400, '');
    await expect(read(patients, [], { instead })).rejects.toMatchObject({ status });
  });

  it('gives up a wide range after three timeouts, and a slice after two; no later run can resume there', async () => {
    const { service, places, ids } = await read(patients, rows, { widest: 366 * DAY, ownSize: 9 });
    expect(sorted(ids)).toEqual(idsOf(rows));
    expect(new Set(places)).toEqual(new Set([undefined]));
    const lists = service.queries.filter(({ path }) => path === 'patients').map(({ filter = '' }) => filter);
    const times = (filter: string) => lists.filter((other) => other === filter).length;
    expect(times('lastModified>=0001-01-01T00:00:00Z')).toBe(3);
    // Two years are too much for it.
    const tooWide = lists.filter((filter) => /^lastModified>=1980-12-31T00:00:00Z,lastModified<198[23]/.test(filter));
    expect(tooWide).toHaveLength(2);
    expect(times('lastModified>=0001-01-01T00:00:00Z,lastModified<1980-01-01T00:00:00Z')).toBe(2);
  });

  it('says nothing of records without a date where the filter asks for a date', async () => {
    const filter = 'lastModified>=1990-01-01T00:00:00Z';
    const { ids, proof } = await read(patients, rows, { widest: 366 * DAY, ownSize: 9 }, { filter });
    expect(sorted(ids)).toEqual(idsOf(rows));
    expect(proof?.unproved).toBeNull();
  });

  it('brings no more than its limit in slices', async () => {
    const { ids, proof } = await read(patients, rows, { widest: 366 * DAY, ownSize: 9 }, { limit: 20 });
    expect([ids.length, new Set(ids).size]).toEqual([20, 20]);
    expect(proof).toEqual({ by: 'none', counted: null, unproved: null });
  });

  it('goes on in slices after the place that it resumes from', async () => {
    const from = { lastId: '1087', fetched: 30 };
    const { ids, proof } = await read(patients, rows, { widest: 366 * DAY, ownSize: 9 }, { from });
    expect(sorted(ids)).toEqual(idsOf(rows).slice(30));
    expect(proof).toMatchObject({ by: 'count', counted: 60 });
  });

  it.each<[number, string, Resource, NonNullable<Habits['instead']>]>([
    [
      403,
      'events are refused from some page on',
      events,
      ({ lastId }) => (Number(lastId) > 1040 ? answer(403, '') : undefined),
    ],
    [408, 'documents, which no time cuts into slices, time out', documents, () => answer(408, '')],
  ])('fails with %d where %s', async (status, _name, resource, instead) => {
    const failing = read(resource, rows, { key: 'start', instead, ownSize: 9 });
    await expect(failing).rejects.toMatchObject({ status });
  });

  it('fails on patients out of order, whose pages have no numbers', async () => {
    const instead: Habits['instead'] = ({ lastId }) =>
      Number(lastId) > 1040 ? answer(200, { data: rows.toReversed().slice(0, 9) }) : undefined;
    await expect(read(patients, rows, { instead, ownSize: 9 })).rejects.toMatchObject({ code: 'pages.order' });
  });

  it('asks for documents that time out as often as retries allow', async () => {
    let timeouts = 0;
    const instead: Habits['instead'] = () => (++timeouts <= 4 ? answer(408, '') : undefined);
    expect((await read(documents, rows, { instead })).ids).toEqual(idsOf(rows));
  });
});

describe('a complete read asks for no page without a reason:', () => {
  const few = spread(20);
  const EVENTS: Habits = { key: 'start' };
  const UNCOUNTED: Habits = { counts: false };
  /** Where its pages begin: behind an id, or by number. */
  const WALK = ['0', '1057'];
  const ONE_BY_ONE = ['0', ...idsOf(few).map(String)];
  const PAGES = ['page 1', 'page 2'];

  it.each<[string, Resource, Habits, Partial<CompleteOptions>, readonly string[]]>([
    ['uncounted patients of a date, once', patients, UNCOUNTED, { filter: 'lastModified>=1990-01-01T00:00:00Z' }, WALK],
    ['documents, once', documents, UNCOUNTED, {}, WALK],
    ['documents one by one, once', documents, { ...UNCOUNTED, ownSize: 1 }, {}, ONE_BY_ONE],
    ['events in order, once', events, { ...EVENTS, ...UNCOUNTED }, {}, WALK],
    ['events one by one that are counted, once', events, { ...EVENTS, ownSize: 1 }, {}, ONE_BY_ONE],
    ['missed appointments, with a date and without', missedAppointments, EVENTS, {}, ['0', '0', '1057', '1057']],
    ['uncounted patients, with a date and then all', patients, UNCOUNTED, {}, [...WALK, ...WALK]],
    ['patients, from the start', patients, UNCOUNTED, { from: { lastId: '0', fetched: 0 } }, [...WALK, ...WALK]],
    ['uncounted histories, and again as pages may shift', appointmentHistories, UNCOUNTED, {}, [...PAGES, ...PAGES]],
    [
      'events out of order, by number',
      events,
      { ...EVENTS, ...UNCOUNTED, newestFirst: true },
      {},
      ['0', ...PAGES, ...PAGES],
    ],
  ])('%s', async (_name, resource, habits, options, places) => {
    const { ids, service } = await read(resource, few, habits, options);
    expect(sorted(ids)).toEqual(idsOf(few));
    const lists = service.queries.filter(({ path = '' }) => !path.endsWith('/totalcount'));
    expect(lists.map(({ page, lastId }) => lastId ?? `page ${page}`)).toEqual(places);
  });
});
