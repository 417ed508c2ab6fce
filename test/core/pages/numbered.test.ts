import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import { appointmentHistories } from '../../../src/catalog/resources/appointmenthistories.ts';
import { readComplete } from '../../../src/core/pages/complete.ts';
import { answer, clientOf } from '../transport/script.ts';
import { FakeService, type Habits } from './fakeservice.ts';
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
    await expect(failing).rejects.toMatchObject({ code: 'pages.order' });
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
