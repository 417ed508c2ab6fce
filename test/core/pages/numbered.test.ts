import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import { appointmentHistories } from '../../../src/catalog/resources/appointmenthistories.ts';
import { readComplete } from '../../../src/core/pages/complete.ts';
import { walkNumbered } from '../../../src/core/pages/numbered.ts';
import type { WalkOptions } from '../../../src/core/pages/walkoptions.ts';
import { answer, clientOf } from '../transport/script.ts';
import { type FakeRow, FakeService, type Habits } from './fakeservice.ts';
import { idsOf, NOW, read, sorted, spread } from './reading.ts';

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
    const client = clientOf(service);
    const options = { now: () => NOW, signal: new AbortController().signal, pageSize: 50, parallel: 1 };
    const count = operationOf(appointmentHistories, 'count');
    const pages = readComplete(client, operationOf(appointmentHistories, 'list'), { ...options, count });
    for await (const page of pages) ids.push(...page.rows.map(({ id }) => Number(id)));
    expect(sorted(ids)).toEqual([9, ...idsOf(HISTORIES)]);
  });

  it('ends with an error when the service gives the same page for every number', async () => {
    const instead: Habits['instead'] = () => answer(200, { data: [{ id: 1 }] });
    const failing = read(appointmentHistories, [], { instead, counts: false });
    await expect(failing).rejects.toMatchObject({ code: 'pages.order', requestId: 'req-1' });
  });

  it('has no place to resume from: rows with lower ids may be on any later page', async () => {
    const { places } = await read(appointmentHistories, HISTORIES, { ownSize: 10 });
    expect(new Set(places)).toEqual(new Set([undefined]));
  });

  it.each([
    ['that is counted', true],
    ['that nothing counts', false],
  ])('brings a row that moved to a page already read, of a list %s', async (_name, counts) => {
    const rows = HISTORIES.toReversed();
    let pages = 0;
    const instead: Habits['instead'] = ({ page }) => {
      // Page 2 is asked for together with page 1, so page 3 is the first that a row can be lost from.
      if (page === '3' && ++pages === 1) service.rows = rows.slice(1);
      return undefined;
    };
    const service = new FakeService(rows, { ownSize: 10, instead, counts });
    const ids: number[] = [];
    const options = { now: () => NOW, signal: new AbortController().signal, pageSize: 50, parallel: 1 };
    const count = operationOf(appointmentHistories, 'count');
    const list = readComplete(clientOf(service), operationOf(appointmentHistories, 'list'), { ...options, count });
    for await (const page of list) ids.push(...page.rows.map(({ id }) => Number(id)));
    expect(sorted(ids)).toEqual(idsOf(HISTORIES));
  });
});

describe('walkNumbered alone', () => {
  const list = operationOf(appointmentHistories, 'list');
  const rowsOf = (...ids: number[]): FakeRow[] => ids.map((id) => ({ id }));

  async function walk(service: FakeService, options: Partial<WalkOptions>): Promise<number[]> {
    const ids: number[] = [];
    for await (const page of walkNumbered(clientOf(service), list, { pageSize: 4, ...options })) {
      expect(page.rows).not.toEqual([]);
      ids.push(...page.rows.map(({ id }) => Number(id)));
    }
    return ids;
  }

  it.each([5, 7])('asks for nothing where %d have arrived before of a limit of 5', async (fetched) => {
    const service = new FakeService(rowsOf(1, 2, 3, 4, 5, 6, 7, 8, 9));
    expect(await walk(service, { limit: 5, from: { lastId: '0', fetched } })).toEqual([]);
    expect(service.queries).toEqual([]);
  });

  it('brings each row once up to the limit, whatever is added in front of the others meanwhile', async () => {
    const given = fc.record({
      ids: fc.uniqueArray(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 30 }),
      // As many rows as a page holds move each page to the next number, which may happen twice on end.
      added: fc.array(fc.constantFrom(0, 1, 4), { maxLength: 2 }),
      pageSize: fc.integer({ min: 1, max: 6 }),
      floor: fc.constantFrom(0, 100),
      limit: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(given, async ({ ids, added, pageSize, floor, limit }) => {
        const instead: Habits['instead'] = ({ page }) => {
          const more = Number(page) > 2 ? added.splice(0, 1)[0] : 0;
          const first = 1000 + service.rows.length;
          service.rows = [...rowsOf(...Array.from({ length: more ?? 0 }, (_, at) => first + at)), ...service.rows];
          return undefined;
        };
        const service = new FakeService(rowsOf(...ids), { instead });
        const from = { lastId: String(floor), fetched: 2 };
        const most = limit === undefined ? undefined : limit + from.fetched;
        const found = await walk(service, { pageSize, from, limit: most });
        expect(new Set(found).size).toBe(found.length);
        const wanted = ids.filter((id) => id > floor);
        if (limit === undefined) expect(found.filter((id) => id < 1000)).toEqual(wanted);
        else expect(found.length).toBeLessThanOrEqual(limit);
        expect(found.length).toBeGreaterThanOrEqual(Math.min(wanted.length, limit ?? wanted.length));
      }),
    );
  });

  /** A service that has these pages. */
  function serviceOf(pages: readonly (readonly number[])[]): FakeService {
    const instead: Habits['instead'] = ({ page }) => answer(200, { data: rowsOf(...(pages[Number(page) - 1] ?? [])) });
    return new FakeService([], { instead });
  }

  it.each<[string, number[][], number[]]>([
    ['come twice each', [[1], [1], [2], [2], [3], [3], [4], [4]], [1, 2, 3, 4]],
    [
      'end with the same row',
      [
        [1, 9],
        [2, 9],
        [3, 9],
        [4, 9],
        [5, 9],
      ],
      [1, 9, 2, 3, 4, 5],
    ],
    [
      'begin with the same row',
      [
        [9, 1],
        [9, 2],
        [9, 3],
        [9, 4],
        [9, 5],
      ],
      [9, 1, 2, 3, 4, 5],
    ],
    [
      'begin and end with the same rows',
      [
        [1, 9],
        [1, 2, 9],
        [1, 9],
        [1, 3, 9],
        [1, 9],
      ],
      [1, 9, 2, 3],
    ],
  ])('goes on where pages %s', async (_name, pages, found) => {
    expect(await walk(serviceOf(pages), {})).toEqual(found);
  });

  it('counts only new rows for its limit, and ends there', async () => {
    const service = serviceOf([
      [1, 2],
      [2, 3],
      [4, 5],
      [6, 7],
    ]);
    expect(await walk(service, { limit: 3 })).toEqual([1, 2, 3]);
    // The third was asked for ahead.
    expect(service.queries.map(({ page }) => page)).toEqual(['1', '2', '3']);
  });

  it('does not take the first page for a repeated one when it starts over again and again', async () => {
    const instead: Habits['instead'] = ({ page, pageSize }) =>
      page === '2' && Number(pageSize) > 6 ? answer(408, '') : undefined;
    // Its own pages are small, so the first one is the same for every size.
    const service = new FakeService(rowsOf(1, 2, 3), { instead, ownSize: 2 });
    expect(await walk(service, { pageSize: 50 })).toEqual([1, 2, 3]);
  });

  it.each([
    [2, 'goes on'],
    [3, 'ends with an error'],
  ])('after a page that came %d times more it %s', async (times) => {
    const instead: Habits['instead'] = ({ page }) => {
      const number = Number(page);
      return answer(200, { data: number <= times + 1 ? rowsOf(1, 2) : number === times + 2 ? rowsOf(3) : [] });
    };
    const walked = walk(new FakeService([], { instead }), {});
    if (times === 2) expect(await walked).toEqual([1, 2, 3]);
    else
      await expect(walked).rejects.toMatchObject({ code: 'pages.order', message: expect.stringContaining('Page 4') });
  });

  it.each([
    [50, ['50', '25', '12', '6']],
    [2, ['2', '1']],
  ])('gives up a page that always times out, of %d rows at first', async (pageSize, sizes) => {
    const instead: Habits['instead'] = ({ page }) => (page === '2' ? answer(408, '') : undefined);
    const service = new FakeService(rowsOf(...Array.from({ length: 200 }, (_, at) => at + 1)), { instead });
    await expect(walk(service, { pageSize })).rejects.toMatchObject({ status: 408 });
    const firsts = service.queries.filter(({ page }) => page === '1');
    expect(firsts.map((query) => query.pageSize)).toEqual(sizes);
  });
});
