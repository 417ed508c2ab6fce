import { describe, expect, it } from 'vitest';
import { allOperations, operationOf } from '../../../src/catalog/catalog.ts';
import type { Resource } from '../../../src/catalog/define.ts';
import type { FilterKey } from '../../../src/catalog/filter/check.ts';
import { documents } from '../../../src/catalog/resources/documents.ts';
import { missedAppointments } from '../../../src/catalog/resources/missedappointments.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { transactions } from '../../../src/catalog/resources/transactions.ts';
import { PageTimeout } from '../../../src/core/pages/page.ts';
import { inSlices, sliceKey } from '../../../src/core/pages/slices.ts';
import { ApiFailure } from '../../../src/core/transport/apifailure.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const DAY = 86_400_000;

/** The filters that were read to the end, what could not be, and the days of each that was asked for. */
async function sliced(filter: string, widest: number | ((from: number) => number), resource: Resource = patients) {
  const read: string[] = [];
  const unread: string[] = [];
  const days: number[] = [];
  const key = sliceKey(operationOf(resource, 'list'));
  if (key === undefined) throw new Error('It cannot be sliced.');
  const one = async function* (slice: string) {
    const [from = '0001-01-01', to = '2026-11-22T12:00:00Z'] = ['>=?', '<=?'].map(
      (operator) => new RegExp(`${key.key}${operator}([^,]+)`).exec(slice)?.[1],
    );
    const most = typeof widest === 'number' ? widest : widest(Date.parse(from));
    days.push((Date.parse(to) - Date.parse(from)) / DAY);
    if (Date.parse(to) - Date.parse(from) > most) throw new PageTimeout();
    yield slice;
  };
  for await (const slice of inSlices(filter, key, NOW, one, (what) => unread.push(what))) read.push(slice);
  return { read, unread, days };
}

describe('inSlices', () => {
  it('leaves no gap, and ends open', async () => {
    const { read, unread } = await sliced('patientStatus==NEW,lastModified>=0001-01-01T00:00:00Z', 800 * DAY);
    expect(unread).toEqual([expect.stringContaining('lastModified before 1980-01-01')]);
    const bounds = read.map((slice) => [/>=([^,]+)/.exec(slice)?.[1], /<([^,]+)/.exec(slice)?.[1]]);
    expect(bounds[0]?.[0]).toBe('1980-01-01T00:00:00Z');
    expect(bounds.slice(1).map(([from]) => from)).toEqual(bounds.slice(0, -1).map(([, to]) => to));
    expect(bounds.at(-1)?.[1]).toBeUndefined();
    expect(read.every((slice) => slice.startsWith('patientStatus==NEW,'))).toBe(true);
  });

  const TO_1980 = 'lastModified<1980-01-01T00:00:00Z';
  const FROM_1980 = 'lastModified>=1980-01-01T00:00:00Z';

  it.each<[string, string[]]>([
    ['lastModified<1970-01-01T00:00:00Z', ['lastModified<1970-01-01T00:00:00Z']],
    [TO_1980, [TO_1980]],
    ['lastModified<1980-06-01T00:00:00Z', [TO_1980, `${FROM_1980},lastModified<1980-06-01T00:00:00Z`]],
    [`${FROM_1980},lastModified<1980-06-01T00:00:00Z`, [`${FROM_1980},lastModified<1980-06-01T00:00:00Z`]],
    [
      `lastModified>=1970-01-01T00:00:00Z,lastModified<1980-06-01T00:00:00Z`,
      [`lastModified>=1970-01-01T00:00:00Z,${TO_1980}`, `${FROM_1980},lastModified<1980-06-01T00:00:00Z`],
    ],
    // Whose day begins it is not known: the slices begin with that of UTC.
    [
      'lastModified>=2025-03-01T08:00:00',
      ['lastModified>=2025-03-01T08:00:00,lastModified<2026-03-01T00:00:00Z', 'lastModified>=2026-03-01T00:00:00Z'],
    ],
  ])('asks for nothing outside of %s', async (filter, slices) => {
    expect((await sliced(filter, Number.POSITIVE_INFINITY)).read).toEqual(slices);
  });

  it('keeps to the bounds that the filter has, whatever they include', async () => {
    const { read, unread } = await sliced(
      'lastModified>2025-01-01T00:00:00Z,lastModified<=2026-02-03T04:05:06Z',
      200 * DAY,
    );
    expect(unread).toEqual([]);
    expect(read[0]).toMatch(/^lastModified>2025-01-01T00:00:00Z,lastModified<2025-/);
    expect(read.at(-1)).toMatch(/,lastModified<=2026-02-03T04:05:06Z$/);
  });

  it('cuts dates at days, and no finer', async () => {
    const { read } = await sliced('transactionDate>=2026-11-19', DAY, transactions);
    expect(read).toEqual([
      'transactionDate>=2026-11-19,transactionDate<2026-11-20',
      'transactionDate>=2026-11-20,transactionDate<2026-11-21',
      'transactionDate>=2026-11-21,transactionDate<2026-11-22',
      'transactionDate>=2026-11-22',
    ]);
    const days: string[] = [];
    const tooSlow = (from: number) => {
      days.push(new Date(from).toISOString());
      return 0;
    };
    await expect(sliced('transactionDate>=2026-01-01', tooSlow, transactions)).rejects.toMatchObject({ status: 408 });
    // A year, and its halves down to one day.
    expect(days.length).toBeLessThan(11);
  });

  it('cuts times at minutes', async () => {
    const { read } = await sliced('lastModified>=2026-11-22T09:00:00Z', (from) =>
      from < NOW - 3_600_000 ? 600_000 : DAY,
    );
    expect(read.length).toBeGreaterThan(10);
    expect(
      read
        .join()
        .match(/T\d\d:\d\d:\d\d[^Z]*Z/g)
        ?.filter((time) => !time.endsWith(':00Z')),
    ).toEqual([]);
  });

  it.each([
    ['transactionDate==2026-11-10', transactions],
    ['firstVisitDate>=2026-01-01T00:00:00Z', patients],
    ['lastModified->[2026-01-01T00:00:00Z]', patients],
  ])('leaves in every slice what is no range of its key: %s', async (term, resource) => {
    const { read } = await sliced(term, 1000 * DAY, resource);
    expect(read.length).toBeGreaterThan(5);
    expect(read.filter((slice) => !slice.startsWith(`${term},`))).toEqual([]);
  });

  it('cuts starts at times', async () => {
    const { read } = await sliced('patient.id==5', 3 * 365 * DAY, missedAppointments);
    expect(read.at(-1)).toMatch(/^patient.id==5,start>=\d{4}-\d\d-\d\dT00:00:00Z$/);
  });

  it.each([
    ['wide ones where the service is quick', () => Number.POSITIVE_INFINITY, 8],
    // Each of a month would be some 550.
    ['wide ones again after a slow stretch', (from: number) => (from < Date.UTC(1982, 0) ? 30 * DAY : Infinity), 100],
  ])('asks for %s', async (_what, widest, most) => {
    const { read } = await sliced('lastModified>=1980-01-01T00:00:00Z', widest);
    expect(read.length).toBeLessThan(most);
  });

  it('tries what is twice as wide after each twelve that were quick, and no sooner', async () => {
    const { days } = await sliced('lastModified>=2000-01-01T00:00:00Z', (from) =>
      from < Date.UTC(2001, 0) ? 30 * DAY : Number.POSITIVE_INFINITY,
    );
    const of = (times: number, width: number) => Array.from({ length: times }, () => width);
    const [narrow, wider] = [22.8125, 45.625];
    const slow = [365, 182.5, 91.25, wider, ...of(12, narrow), wider];
    expect(days.slice(0, -1)).toEqual([
      ...slow,
      ...of(12, narrow),
      ...[wider, 91.25, 182.5, 365].flatMap((width) => of(12, width)),
      730,
    ]);
  });

  it('begins with the later of two lower bounds', async () => {
    const { read } = await sliced('lastModified>=2025-01-01T00:00:00Z,lastModified>=2020-01-01T00:00:00Z', 90 * DAY);
    expect(read.length).toBeGreaterThan(5);
    expect(read.filter((slice) => !/lastModified>=202[56]/.test(slice))).toEqual([]);
  });

  it('fails on anything but a timeout, of the oldest records, too', async () => {
    const key = sliceKey(operationOf(patients, 'list')) as FilterKey;
    for (const refused of ['<1980', '>=1980']) {
      const asked: string[] = [];
      const refusing = async function* (slice: string) {
        asked.push(slice);
        if (slice.includes(refused)) throw new ApiFailure(403, [], null);
        yield slice;
      };
      const reading = async () => {
        for await (const slice of inSlices('', key, NOW, refusing, () => undefined)) expect(slice).not.toMatch(refused);
      };
      await expect(reading()).rejects.toMatchObject({ status: 403 });
      // The refused one once.
      expect(asked.filter((slice) => slice.includes(refused))).toHaveLength(1);
    }
  });

  it('asks for nothing behind the end that the filter has, long ago', async () => {
    const bounds =
      'lastModified>=2000-01-01T00:00:00Z,lastModified<2003-02-01T00:00:00Z,lastModified<2010-01-01T00:00:00Z';
    const { read } = await sliced(bounds, 200 * DAY);
    const ends = read.map((slice) => /<([^,]+)/.exec(slice)?.[1] ?? '');
    expect(ends).toEqual(ends.toSorted());
    expect(ends.slice(0, -1).filter((end) => end >= '2003-02-01')).toEqual([]);
    expect(read.at(-1)).toMatch(/,lastModified<2003-02-01T00:00:00Z,lastModified<2010-01-01T00:00:00Z$/);
  });

  it('leaves the last slice open that would end just now', async () => {
    const filter = 'lastModified>=2025-11-22T12:00:00Z';
    expect((await sliced(filter, Number.POSITIVE_INFINITY)).read).toEqual([filter]);
  });

  it('fails when the narrowest slice times out', async () => {
    await expect(sliced('lastModified>=2026-11-01T00:00:00Z', 0)).rejects.toMatchObject({ status: 408, exitCode: 7 });
  });
});

it('slices have both of their bounds on every list that can be cut', () => {
  const keys = allOperations().flatMap(({ operation }) => sliceKey(operation) ?? []);
  expect(keys.length).toBeGreaterThan(9);
  expect(keys.filter(({ operators }) => !(operators.includes('>=') && operators.includes('<')))).toEqual([]);
});

it.each<[Resource, string | undefined]>([
  [patients, 'lastModified'],
  [transactions, 'transactionDate'],
  [missedAppointments, 'start'],
  [documents, undefined],
])('what can be sliced', (resource, key) => {
  expect(sliceKey(operationOf(resource, 'list'))?.key).toBe(key);
});
