import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkFilter } from '../../../src/catalog/filter/check.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { countRecords } from '../../../src/server/store/counting.ts';
import { listRecords, putRecord, type Slice } from '../../../src/server/store/records.ts';
import type { Reader } from '../../../src/server/store/store.ts';
import { type TestService, testService } from '../../support/service.ts';

const ORG = 77;
const RECORDS = 5000;

/** Every second patient is a Smith, every tenth of which lives elsewhere; the others have a name of their own. */
const RECORD = (id: number) => ({
  id,
  lastName: id % 2 === 0 ? 'Smith' : `Name ${id}`,
  preferredLocation: { id: id % 20 === 0 ? 2 : 1 },
  lastModified: `20${10 + (id % 90)}-01-31T00:00:00.000Z`,
});
const idsWhere = (test: (record: ReturnType<typeof RECORD>) => boolean) =>
  Array.from({ length: RECORDS }, (_, at) => RECORD(at + 1))
    .filter(test)
    .map(({ id }) => id);

let service: TestService;
beforeAll(async () => {
  service = await testService([], { store: 'sqlite' });
  await service.service.store.write(async (tx) => {
    for (let id = 1; id <= RECORDS; id++) await putRecord(tx, ORG, patients, RECORD(id));
  });
});
afterAll(() => service.close());

/** The store's reader, and how often something was read aside. */
function watched(): { read: Reader; asides: () => number } {
  const { read } = service.service.store;
  let asides = 0;
  const aside = (owner: unknown) => {
    asides++;
    return (read.aside as NonNullable<Reader['aside']>)(owner);
  };
  return { read: { ...read, aside }, asides: () => asides };
}

const newest: Slice = { lastId: 0, offset: 0, limit: 5, order: { newestBy: 'lastModified' } };

it.each<[what: string, filter: string, slice: Partial<Slice>, expected: number[], aside: boolean]>([
  ['a first page', '', { limit: 3 }, [1, 2, 3], false],
  ['a page far on', '', { offset: 4000, limit: 3 }, [4001, 4002, 4003], true],
  ['a page far on of a range', 'lastModified>=2010-01-01T00:00:00Z', { offset: 4000, limit: 2 }, [4001, 4002], true],
  [
    'a page far on of many that share a value',
    'preferredLocation.id==1',
    { offset: 4000, limit: 1 },
    [idsWhere((one) => one.preferredLocation.id === 1)[4000] as number],
    true,
  ],
  ['a name of few', 'lastName==Name 7,preferredLocation.id==1', {}, [7], false],
  ['a name of many beside another term', 'lastName==Smith,preferredLocation.id==2', { limit: 2 }, [20, 40], true],
  ['an id', 'primaryGuarantor.id==5', {}, [], false],
  [
    'the newest',
    'lastModified>=2099-01-31T00:00:00Z',
    newest,
    idsWhere((one) => one.lastModified === '2099-01-31T00:00:00.000Z')
      .reverse()
      .slice(0, 5),
    true,
  ],
])('%s is read where it keeps nobody waiting', async (_what, filter, slice, expected, aside) => {
  const { read, asides } = watched();
  const terms = filter === '' ? [] : checkFilter(filter, patients.filters);
  const rows = await listRecords(read, { org: ORG }, patients, terms, { lastId: 0, offset: 0, limit: 100, ...slice });
  expect(rows.map(({ id }) => id)).toEqual(expected);
  expect(asides() > 0).toBe(aside);
});

it.each([
  ['lastName==Smith,preferredLocation.id==2', idsWhere((one) => one.preferredLocation.id === 2).length, true],
  ['lastName==Name 7', 1, false],
])('a count of %s', async (filter, expected, aside) => {
  const { read, asides } = watched();
  expect(await countRecords(read, { org: ORG }, patients, checkFilter(filter, patients.filters))).toBe(expected);
  expect(asides() > 0).toBe(aside);
});

it('what was written before is there, and what cannot be read is a fault', async () => {
  const { read } = service.service.store;
  const aside = (read.aside as NonNullable<Reader['aside']>)(ORG);
  await service.service.store.write((tx) => putRecord(tx, ORG, patients, { ...RECORD(1), lastName: 'Written' }));
  const text = (sql: string) => ({ sql, text: sql, values: [] });
  expect(await aside.get(text("SELECT id FROM patients WHERE last_name = 'Written'"))).toEqual({ id: 1 });
  await expect(aside.get(text('SELECT nothing FROM nowhere'))).rejects.toMatchObject({ code: 'SQLITE_ERROR' });
  const many = 'WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 2500) SELECT at FROM n';
  expect((await aside.all<{ at: number }>(text(many))).map(({ at }) => at)).toEqual(
    Array.from({ length: 2500 }, (_, at) => at + 1),
  );
  expect(await Promise.all(Array.from({ length: 20 }, (_, at) => aside.all(text(`SELECT ${at} AS at`))))).toEqual(
    Array.from({ length: 20 }, (_, at) => [{ at }]),
  );
});
