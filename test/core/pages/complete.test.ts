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
import { readComplete } from '../../../src/core/pages/complete.ts';
import { countOperationOf } from '../../../src/core/pages/countall.ts';
import { answer, clientOf } from '../transport/script.ts';
import { type FakeRow, FakeService, type Habits } from './fakeservice.ts';
import { DAY, idsOf, NOW, PROVED, read, sorted, spread } from './reading.ts';

describe('readComplete', () => {
  it.each<[string, Resource, Habits]>([
    ['patients of a service that limits by change', patients, { since: '2025-11-22' }],
    ['patients of one with small pages of its own', patients, { since: '2025-11-22', ownSize: 7 }],
    ['events of a service that limits by change', events, { key: 'start', since: '2025-11-22' }],
    [
      'events that come newest first, whatever the cursor',
      events,
      { key: 'start', since: '2025-11-22', newestFirst: true },
    ],
    [
      'events newest first, one to a page',
      events,
      { key: 'start', since: '2025-11-22', newestFirst: true, ownSize: 1 },
    ],
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
    expect(ids).toEqual([...idsOf(spread(30)), 1001, 5000]);
    expect(proof).toEqual(PROVED(32));
    expect(places.at(-1)).toBeUndefined();
  });

  it('brings what has no change time before the place that it resumes from', async () => {
    const rows: FakeRow[] = [...spread(30), { id: 1001 }, { id: 5000 }];
    const { ids, proof } = await read(patients, rows, {}, { from: { lastId: '1027', fetched: 10 }, pageSize: 3 });
    expect(ids).toEqual([...idsOf(spread(30)).slice(10), 1001, 5000]);
    expect(proof).toEqual(PROVED(32));
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

  it('brings what has no change time where nothing is counted, and for a limit that is not reached', async () => {
    const rows: FakeRow[] = [...spread(30), { id: 1001 }, { id: 5000 }];
    const uncounted = await read(patients, rows, { counts: false });
    expect(sorted(uncounted.ids)).toEqual(sorted(idsOf(rows)));
    expect(uncounted.proof).toEqual({ by: 'bound', counted: null, unproved: null });
    const limited = await read(patients, rows, {}, { limit: 100 });
    expect([sorted(limited.ids), limited.proof]).toEqual([sorted(idsOf(rows)), PROVED(32)]);
    expect((await read(patients, rows, {}, { limit: 31 })).ids).toHaveLength(31);
  });

  it('says that missed appointments without a start may lack where all of them time out', async () => {
    const rows: FakeRow[] = [...spread(20), { id: 2 }];
    const instead: Habits['instead'] = ({ filter }) => (filter === undefined ? answer(408, '') : undefined);
    const { ids, proof, places } = await read(missedAppointments, rows, { key: 'start', instead });
    expect([ids, new Set(places)]).toEqual([idsOf(spread(20)), new Set([undefined])]);
    expect(proof).toMatchObject({ by: 'bound', unproved: expect.stringContaining('without a date') });
  });

  it('does not take pages of one row for a list in order', async () => {
    const rows = spread(20);
    const habits: Habits = { key: 'start', newestFirst: true, ownSize: 1, counts: false };
    expect(sorted((await read(events, rows, habits)).ids)).toEqual(idsOf(rows));
  });

  it('is known to be complete by its end where nothing is counted or limited', async () => {
    const { ids, proof } = await read(documents, spread(20), { counts: false });
    expect([ids, proof]).toEqual([idsOf(spread(20)), { by: 'walk', counted: null, unproved: null }]);
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
    for (const end of [1010, -1]) {
      let asked = 0;
      // A page that ends the list too early, once.
      const instead: Habits['instead'] = ({ lastId }) =>
        Number(lastId) > end && asked++ === 0 ? answer(200, { data: [] }) : undefined;
      const { ids, proof } = await read(patients, rows, { instead, ownSize: 5 });
      expect([ids, proof]).toEqual([idsOf(rows), PROVED(20)]);
    }
  });

  it('brings a record that was added behind its back once, with a lower id than those that came', async () => {
    const rows = spread(20);
    const instead: Habits['instead'] = ({ lastId = '0' }) => {
      if (Number(lastId) > 1050 && service.rows.length === 20)
        service.rows = [...rows, { id: 1007, lastModified: '2026-11-22T11:00:00Z' }];
      return undefined;
    };
    const service = new FakeService(rows, { instead, ownSize: 3 });
    const ids: number[] = [];
    const client = clientOf(service);
    const signal = new AbortController().signal;
    const options = { count: countOperationOf(patients, undefined), now: () => NOW, signal, pageSize: 50, parallel: 1 };
    for await (const page of readComplete(client, operationOf(patients, 'list'), options))
      ids.push(...page.rows.map(({ id }) => Number(id)));
    expect(ids).toEqual([...idsOf(rows), 1007]);
  });

  it('brings a record once that was added after the end while another is missing', async () => {
    const rows = spread(20);
    let counts = 0;
    const instead: Habits['instead'] = (_query, path) => {
      if (!path.endsWith('/totalcount')) return undefined;
      if (++counts === 1) service.rows = [...rows, { id: 9000, lastModified: '2026-11-22T11:00:00Z' }];
      return answer(200, { data: { total: 22 } });
    };
    const service = new FakeService(rows, { instead });
    const ids: number[] = [];
    const client = clientOf(service);
    const signal = new AbortController().signal;
    const options = { count: countOperationOf(patients, undefined), now: () => NOW, signal, pageSize: 50, parallel: 1 };
    const reading = async () => {
      for await (const page of readComplete(client, operationOf(patients, 'list'), options))
        ids.push(...page.rows.map(({ id }) => Number(id)));
    };
    await expect(reading()).rejects.toMatchObject({ code: 'pages.incomplete' });
    expect(ids).toEqual([...idsOf(rows), 9000]);
  });

  it('narrows what times out among other faults', async () => {
    let asked = 0;
    const instead: Habits['instead'] = ({ filter = '' }, path) => {
      if (path.endsWith('/totalcount') || !filter.includes('0001') || filter.includes('<')) return undefined;
      return asked++ === 0 ? answer(408, '') : answer(500, '');
    };
    const { ids } = await read(patients, spread(20), { instead });
    expect(sorted(ids)).toEqual(idsOf(spread(20)));
  });

  it('fails when fewer rows come than are counted', async () => {
    const instead: Habits['instead'] = (_query, path) =>
      path.endsWith('/totalcount') ? answer(200, { data: { totalCount: '21' } }) : undefined;
    await expect(read(patients, spread(20), { instead })).rejects.toMatchObject({
      code: 'pages.incomplete',
      exitCode: 8,
      message: 'The server counts 21 records, but 20 arrived.',
    });
  });

  it('compares nothing for a limit, and asks for what it needs', async () => {
    const { ids, proof, service } = await read(patients, spread(20), { since: '2025-11-22' }, { limit: 3 });
    expect([ids, proof]).toEqual([[1000, 1003, 1006], { by: 'none', counted: null, unproved: null }]);
    expect(service.queries).toHaveLength(1);
  });

  it('leaves it to the service with server defaults', async () => {
    const { ids, proof, service } = await read(patients, spread(50), { since: '2025-11-22' }, { serverDefaults: true });
    expect(ids).toEqual(idsOf(spread(50).filter(({ lastModified = '' }) => lastModified >= '2025-11-22')));
    expect(ids).not.toEqual([]);
    expect(proof?.by).toBe('none');
    expect(service.queries.every(({ filter }) => filter === undefined)).toBe(true);
  });

  it('has no place to resume from once rows are out of order', async () => {
    const { places } = await read(events, spread(120), { key: 'start', newestFirst: true });
    expect(new Set(places)).toEqual(new Set([undefined]));
  });

  it('throws the refusal itself when a filter on locations does not help', async () => {
    const instead: Habits['instead'] = ({ filter }) =>
      answer(400, { data: null, errors: [{ description: filter?.includes('ALL') ? 'second' : 'first' }] });
    await expect(read(patients, [], { instead })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('first'),
    });
  });

  it('does not ask for all locations when the refusal names something else', async () => {
    const instead: Habits['instead'] = () => answer(400, { data: null, errors: [{ source: 'pageSize' }] });
    const failing = read(patients, [], { instead }, { limit: 5 });
    await expect(failing).rejects.toMatchObject({ status: 400 });
  });
});
