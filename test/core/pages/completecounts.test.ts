import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import type { Resource } from '../../../src/catalog/define.ts';
import { appointmentHistories } from '../../../src/catalog/resources/appointmenthistories.ts';
import { missedAppointments } from '../../../src/catalog/resources/missedappointments.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { transactionTags } from '../../../src/catalog/resources/transactiontags.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { type CompleteOptions, type Proof, readComplete } from '../../../src/core/pages/complete.ts';
import { answer, clientOf } from '../transport/script.ts';
import { FakeService, type Habits } from './fakeservice.ts';
import { idsOf, NOW, PROVED, read, sorted, spread } from './reading.ts';

/** Reads a list of a service that is changed meanwhile. */
async function readFrom(service: FakeService, resource: Resource, options: Partial<CompleteOptions> = {}) {
  const ids: number[] = [];
  let proof: Proof | undefined;
  const pages = readComplete(clientOf(service), operationOf(resource, 'list'), {
    count: resource.operations.count,
    ...{ now: () => NOW, signal: new AbortController().signal, pageSize: 50, parallel: 1 },
    onProof: (made) => {
      proof = made;
    },
    ...options,
  });
  for await (const page of pages) ids.push(...page.rows.map(({ id }) => Number(id)));
  return { ids, proof };
}

const isCount = (path: string) => path.endsWith('/totalcount');
const added = (id: number) => ({ id, lastModified: '2026-11-22T11:00:00Z' });

describe('a read that is compared with the count', () => {
  it('is complete where a record was deleted between its count and the next one', async () => {
    let counts = 0;
    const instead: Habits['instead'] = (_query, path) =>
      isCount(path) ? answer(200, { data: { total: ++counts <= 2 ? 21 : 20 } }) : undefined;
    const { ids, proof, service } = await read(patients, spread(20), { instead });
    expect([ids, proof]).toEqual([idsOf(spread(20)), PROVED(20)]);
    // No page numbers, which a list by cursor need not know.
    expect(service.queries.filter(({ page }) => page !== undefined)).toEqual([]);
  });

  it.each([
    ['behind the last one', 4, [9001, 9002, 9003, 9004]],
    ['anywhere', 4, [11, 9001, 12, 9002]],
  ])('is complete where records are added %s just before each of %i counts', async (_where, most, ids) => {
    const rows = spread(20);
    let counts = 0;
    const instead: Habits['instead'] = ({ filter = '' }, path) => {
      if (isCount(path) && filter.includes('lastModified') && counts < most)
        service.rows = [...service.rows, added(ids[counts++] ?? 0)];
      return undefined;
    };
    const service = new FakeService(rows, { instead });
    const { ids: found, proof } = await readFrom(service, patients);
    expect([sorted(found), proof]).toEqual([sorted([...idsOf(rows), ...ids]), PROVED(24)]);
  });

  it('fails where a record is hidden, however many others are added', async () => {
    let counts = 0;
    const instead: Habits['instead'] = ({ filter = '' }, path) => {
      if (!isCount(path)) return undefined;
      if (filter.includes('lastModified')) service.rows = [...service.rows, added(9000 + ++counts)];
      return answer(200, { data: { total: service.rows.length + 1 } });
    };
    const service = new FakeService(spread(20), { instead });
    await expect(readFrom(service, patients)).rejects.toMatchObject({ code: 'pages.incomplete' });
    // Each of both ways is gone three times at most.
    expect(counts).toBe(7);
  });

  it('ends with its signal, also while it counts', async () => {
    const stop = new AbortController();
    const reason = localFailure('run.interrupted', 'Interrupted.');
    const instead: Habits['instead'] = (_query, path) => {
      if (isCount(path)) stop.abort(reason);
      return undefined;
    };
    await expect(read(patients, spread(5), { instead }, { signal: stop.signal })).rejects.toBe(reason);
  });

  it('does not take an error of molar for a service that does not count', async () => {
    const service = new FakeService(spread(5));
    const client = clientOf(service);
    const mistake = new TypeError('Cannot read properties of undefined');
    const { request } = client;
    client.request = async (asked) => {
      if (isCount(asked.path)) throw mistake;
      return request.call(client, asked);
    };
    const options = { now: () => NOW, signal: new AbortController().signal, pageSize: 50, parallel: 1 };
    const count = operationOf(patients, 'count');
    const reading = async () => {
      for await (const _page of readComplete(client, operationOf(patients, 'list'), { ...options, count }));
    };
    await expect(reading()).rejects.toBe(mistake);
  });

  it('brings what has no date where the service counts fewer without a bound than with one', async () => {
    const rows = spread(30);
    const recent = [...rows.filter(({ lastModified = '' }) => lastModified > '2025-11-22'), { id: 5000 }];
    const instead: Habits['instead'] = ({ filter = '', lastId = '0' }, path) => {
      if (filter.includes('lastModified')) return undefined;
      if (isCount(path)) return answer(200, { data: { total: recent.length } });
      return answer(200, { data: recent.filter(({ id }) => id > Number(lastId)) });
    };
    const { ids } = await read(patients, rows, { instead });
    expect(ids).toEqual([...idsOf(rows), 5000]);
  });
});

describe('a read by page numbers', () => {
  const HISTORIES = spread(60);

  it('goes on until a pass brings nothing new', async () => {
    const passes = { '2': 0, '3': 0 };
    const instead: Habits['instead'] = ({ page }) => {
      // Two rows of page 3 move to page 2, which has been read; one of them then to page 1, which has been read again.
      if (page === '3' && ++passes['3'] === 1) service.rows = service.rows.slice(2);
      if (page === '2' && ++passes['2'] === 2) service.rows = service.rows.slice(9);
      return undefined;
    };
    const service = new FakeService(HISTORIES, { ownSize: 10, instead });
    expect(sorted((await readFrom(service, appointmentHistories)).ids)).toEqual(idsOf(HISTORIES));
  });

  it('of which nothing tells the count looks for rows that moved, too', async () => {
    let pages = 0;
    const instead: Habits['instead'] = ({ page }) => {
      if (page === '3' && ++pages === 1) service.rows = HISTORIES.slice(1);
      return undefined;
    };
    const service = new FakeService(HISTORIES, { ownSize: 10, instead });
    const { ids, proof } = await readFrom(service, appointmentHistories, { count: undefined });
    expect(sorted(ids)).toEqual(idsOf(HISTORIES));
    expect(proof).toEqual({ by: 'bound', counted: null, unproved: null });
  });

  it('is compared with what is counted at its end', async () => {
    let counts = 0;
    const instead: Habits['instead'] = (_query, path) => {
      // A record more each time, but for the first.
      if (isCount(path) && ++counts > 1 && counts <= 3) service.rows = [...service.rows, added(8000 + counts)];
      return undefined;
    };
    const service = new FakeService(HISTORIES, { instead });
    const { ids, proof } = await readFrom(service, appointmentHistories);
    expect([ids, proof]).toEqual([[...idsOf(HISTORIES), 8002, 8003], PROVED(62)]);
  });
});

describe('a read of several parts', () => {
  const tags = ['PAYMENT_TAG', 'ADJUSTMENT_TAG', 'ADJUSTMENT_TAG', 'PAYMENT_TAG', 'OTHER_TAG'].map((tagType, at) => ({
    id: at + 1,
    tagType,
  }));

  it.each([
    [1, 2, [1, 2], ['1', '2']],
    [2, 4, [1, 2, 3, 4], ['3', '4']],
  ])('of pages of %d ends at its limit of %d', async (pageSize, limit, found, lasts) => {
    const { ids, places } = await read(transactionTags, tags, {}, { limit, pageSize });
    expect(ids).toEqual(found);
    expect(places.map((place) => place?.lastId)).toEqual(lasts);
  });

  it('has no place to go on from behind a page that was cut off', async () => {
    const { ids, places } = await read(transactionTags, tags, {}, { limit: 2, pageSize: 2 });
    expect(ids).toEqual([1, 2]);
    expect(places).toEqual([undefined]);
  });

  it('brings each row once where they time out, also when it looks for what is missing', async () => {
    // No list of the API has parts and a count yet.
    const dateLimit = { parts: ['tagType==PAYMENT_TAG', 'tagType!=PAYMENT_TAG'] };
    const list = { ...operationOf(patients, 'list'), dateLimit };
    const resource = { ...patients, operations: { ...patients.operations, list } };
    const rows = tags.map((tag) => ({ ...tag, lastModified: `200${tag.id}-01-01T00:00:00Z` }));
    let counts = 0;
    const instead: Habits['instead'] = ({ filter = '' }, path) => {
      // One of the first part is deleted after all were counted once.
      if (isCount(path)) return answer(200, { data: { total: ++counts === 1 ? 6 : 5 } });
      return filter.includes('lastModified') ? undefined : answer(408, '');
    };
    const { ids, proof } = await readFrom(new FakeService(rows, { instead }), resource);
    expect(sorted(ids)).toEqual([1, 2, 3, 4, 5]);
    expect(proof).toEqual({ by: 'count', counted: 5, unproved: null });
  });

  it('fails at once where they are refused', async () => {
    let requests = 0;
    const instead: Habits['instead'] = () => {
      requests++;
      return answer(403, '');
    };
    await expect(read(missedAppointments, [], { instead })).rejects.toMatchObject({ status: 403 });
    expect(requests).toBe(2);
  });
});
