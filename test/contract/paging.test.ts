import { describe, expect, it } from 'vitest';
import { type Called, type CallOptions, idsOf, refusalOf, warningSources } from '../support/calls.ts';
import type { ResourceFixture } from '../support/fixture.ts';
import { big } from '../support/ids.ts';
import { line, organizationRecords, tokenRecords } from '../support/practice.ts';
import { sharedService, testService } from '../support/service.ts';
import { callSample, filterWith, operations, operationsThat, type TestedOperation } from './operations.ts';

const service = sharedService();

const allIds = ({ records }: ResourceFixture) => records.map((record) => record.id as number);

function page(tested: TestedOperation, query: Readonly<Record<string, string | number>>): Promise<Called> {
  const filter = filterWith(tested);
  return service.call('GET', tested.operation.path, { query: { ...(filter !== '' && { filter }), ...query } });
}

/** Walks by `lastId` until a page is empty; answers the pages, the empty one included. */
async function walk(
  tested: TestedOperation,
  size: number,
  more: Readonly<Record<string, string>> = {},
): Promise<number[][]> {
  const pages: number[][] = [];
  for (let lastId = 0; pages.length < 100; lastId = pages.at(-1)?.at(-1) ?? 0) {
    pages.push(idsOf(await page(tested, { ...more, pageSize: size, lastId })) as number[]);
    if (pages.at(-1)?.length === 0) return pages;
  }
  throw new Error('The walk does not end.');
}

const cursorLists = operations('list').filter(([, { operation }]) => operation.paging?.style === 'cursor');

describe.each(cursorLists)('%s by lastId (D15)', (_id, tested) => {
  const ids = allIds(tested.fixture);

  it.each([1, 2, 3, 500])('walks to the end in pages of %i', async (size) => {
    const pages = await walk(tested, size);
    expect(pages.flat()).toEqual(ids);
    expect(pages.at(-1)).toEqual([]);
    // A page is short only when it is the last one that has records (D14).
    expect(pages.slice(0, -2).every((one) => one.length === size)).toBe(true);
  });

  it('repeats the filter on every page', async () => {
    const [some, ...others] = ids.slice(1, -1);
    const key = tested.operation.filters?.id;
    if (key === undefined || some === undefined) return;
    const filter = filterWith(tested, `id->[${[...others, some].join(',')}]`);
    expect((await walk(tested, 2, { filter })).flat()).toEqual(ids.slice(1, -1));
  });

  it('begins at the start for an empty lastId and for 0', async () => {
    for (const lastId of ['', '0', '000']) expect(idsOf(await page(tested, { lastId }))).toEqual(ids);
  });

  it('takes an id that no record has, and one after the last', async () => {
    expect(idsOf(await page(tested, { lastId: (ids[0] ?? 0) - 1 }))).toEqual(ids);
    expect(idsOf(await page(tested, { lastId: big(99_999_999) }))).toEqual([]);
    expect(idsOf(await page(tested, { lastId: Number.MAX_SAFE_INTEGER }))).toEqual([]);
  });

  it('lets lastId win over page', async () => {
    const called = await page(tested, { lastId: ids[0] ?? 0, page: 3, pageSize: 2 });
    expect(idsOf(called)).toEqual(ids.slice(1, 3));
  });

  it('keeps the cursor when the fields do not have the id', async () => {
    const [name = ''] = Object.keys(tested.operation.fields ?? {}).filter(
      (field) => field !== 'id' && field !== 'type',
    );
    const called = await page(tested, { lastId: 0, pageSize: 2, responseFields: name });
    expect(called.body.meta?.pagination.lastId).toBe(ids[1]);
  });

  it.each(['abc', '-1', '1.5', '1e3', '9007199254740992', '0x1', '5,6'])('refuses the lastId %j', async (lastId) => {
    expect(refusalOf(await page(tested, { lastId }))).toEqual({ status: 400, errors: ['query.last_id lastId'] });
  });
});

describe.each(cursorLists)('%s links to its next page (RFC 8288)', (_id, tested) => {
  const ids = allIds(tested.fixture);

  it('from every full page, with all that was asked', async () => {
    const query = { pageSize: 2, lastId: 0, responseFields: 'id' };
    const seen: unknown[] = [];
    for (let asked: CallOptions['query'] = query; seen.length < ids.length; ) {
      const called = await page(tested, asked as typeof query);
      seen.push(...idsOf(called));
      if (idsOf(called).length < 2) break;
      const [, search = ''] = /^<\?(.*)>; rel="next"$/.exec(called.headers.link ?? '') ?? [];
      const { filter, ...next } = Object.fromEntries(new URLSearchParams(search));
      expect(filter).toBe(filterWith(tested) || undefined);
      expect(next).toEqual({ pageSize: '2', responseFields: 'id', lastId: String(seen.at(-1)) });
      asked = next;
    }
    expect(seen).toEqual(ids);
  });

  it.each([
    ['is not full', { pageSize: 500, lastId: 0 }],
    ['is empty', { pageSize: 1, lastId: Number.MAX_SAFE_INTEGER }],
    ['was asked for by its number', { pageSize: 1, page: 1 }],
    ['was asked for without a cursor', { pageSize: 1 }],
  ])('but not where it %s', async (_what, query) => {
    expect((await page(tested, query)).headers).not.toHaveProperty('link');
  });
});

describe('the link to the next page', () => {
  const patients = cursorLists.find(([id]) => id === 'patients.list')?.[1] as TestedOperation;
  const linkOf = async (query: Readonly<Record<string, string>>) =>
    (await page(patients, { pageSize: 1, lastId: 0, ...query })).headers.link;

  it('holds nothing that would end it', async () => {
    const unknown = 'a>, <b>; rel="next"\r\nx: é 𠮷';
    const link = (await linkOf({ unknown })) ?? '';
    expect(link).toMatch(/^<\?[\w.%*&=+-]+>; rel="next"$/);
    expect(new URLSearchParams(link.slice(2, link.indexOf('>'))).get('unknown')).toBe(unknown);
  });

  it('is left out where the filter makes it long', async () => {
    const ids = allIds(patients.fixture);
    const filter = (length: number) =>
      `id->[${Array.from({ length }, (_, index) => ids[index % ids.length]).join(',')}]`;
    expect(await linkOf({ filter: filter(20) })).toContain('lastId=');
    expect(await linkOf({ filter: filter(200) })).toBeUndefined();
  });
});

describe.each(operations('list'))('%s', (_id, tested) => {
  const ids = allIds(tested.fixture);

  it('counts pages from 1, and ends with an empty one', async () => {
    const pages: unknown[] = [];
    for (let number = 1; number <= Math.ceil(ids.length / 3) + 1; number++) {
      pages.push(...idsOf(await page(tested, { page: number, pageSize: 3 })));
    }
    expect(pages).toEqual(ids);
    expect(idsOf(await page(tested, { page: Math.ceil(ids.length / 3) + 1, pageSize: 3 }))).toEqual([]);
    expect(idsOf(await page(tested, { page: Number.MAX_SAFE_INTEGER, pageSize: 500 }))).toEqual([]);
  });

  it.each(['0', '-1', 'abc', '1.5', '1e1', '9007199254740992'])('refuses the page %j', async (number) => {
    expect(refusalOf(await page(tested, { page: number }))).toEqual({ status: 400, errors: ['query.page page'] });
  });

  it.each(['0', '501', '-1', '1.5', 'abc', '1e2', '99999999999999999999', '+5 0'])(
    'refuses the pageSize %j (D14)',
    async (pageSize) => {
      const called = await page(tested, { pageSize });
      expect(refusalOf(called)).toEqual({ status: 400, errors: ['query.page_size pageSize'] });
      expect(called.body.errors[0]?.description).toContain('1 to 500');
    },
  );

  it('takes 1, 500 and an empty page size', async () => {
    expect(idsOf(await page(tested, { pageSize: 1 }))).toEqual(ids.slice(0, 1));
    expect((await page(tested, { pageSize: 500 })).status).toBe(200);
    expect((await page(tested, { pageSize: '' })).body.meta?.pagination.limit).toBe(100);
  });

  it('reports everything that is wrong with the query together', async () => {
    const lastId = tested.operation.paging?.style === 'cursor' ? { lastId: 'x' } : {};
    const called = await page(tested, {
      pageSize: 0,
      page: 0,
      responseFields: 'nosuch',
      filter: 'nosuch==1',
      ...lastId,
    });
    const sources = called.body.errors.map((error) => error.source);
    expect(sources).toEqual(
      expect.arrayContaining(['nosuch', 'responseFields', 'pageSize', 'page', ...Object.keys(lastId)]),
    );
  });

  it('warns of a parameter that it does not know', async () => {
    const called = await page(tested, { lastid: 5 });
    expect(called.status).toBe(200);
    expect(warningSources(called)).toContain('lastid');
  });
});

/** `meta.pagination` by the rules of D17, for a page of the fixture records. */
function metaRule(
  fixture: ResourceFixture,
  asked: { limit: number; page?: number; byCursor?: boolean },
  found: readonly unknown[],
) {
  const { limit, page: number, byCursor = false } = asked;
  const offset = number === undefined ? 0 : (number - 1) * limit;
  const last = found.length === 0 ? {} : { lastId: found.at(-1) };
  const total = fixture.records.length;
  switch (fixture.meta) {
    case 'documents':
      return { limit, offset: 0, total: 0, ...last };
    case 'patients':
      return { limit, ...last, ...(byCursor || number !== undefined ? {} : { total: 0 }) };
    case 'transactions':
      return { page: number ?? 1, pageSize: limit, total, limit, offset, ...last };
    case 'appointmenthistories':
      return { limit, offset, ...(number === undefined ? { total } : {}) };
    default:
      return { limit, offset, ...last };
  }
}

describe.each(operations('list'))('meta.pagination of %s (D17)', (_id, tested) => {
  it.each([
    ['a plain read', {}, { limit: 100 }],
    ['a page size', { pageSize: 2 }, { limit: 2 }],
    ['a first page', { page: 1, pageSize: 2 }, { limit: 2, page: 1 }],
    ['a second page', { page: 2, pageSize: 2 }, { limit: 2, page: 2 }],
    ['a page past the end', { page: 50, pageSize: 2 }, { limit: 2, page: 50 }],
  ])('of %s', async (_name, query, asked) => {
    const called = await page(tested, query);
    expect(called.body.meta).toEqual({ pagination: metaRule(tested.fixture, asked, idsOf(called)) });
    expect(warningSources(called)).toEqual(tested.fixture.meta === 'patients' && 'page' in query ? ['page'] : []);
  });

  it.each([
    ['the start', 0],
    ['the end', big(99_999_999)],
  ])('of a cursor at %s', async (_name, lastId) => {
    if (tested.operation.paging?.style !== 'cursor') return;
    const called = await page(tested, { lastId, pageSize: 2 });
    expect(called.body.meta).toEqual({
      pagination: metaRule(tested.fixture, { limit: 2, byCursor: true }, idsOf(called)),
    });
  });
});

describe('the default page', () => {
  it('has 100 records, and the largest has 500', async () => {
    const many = Array.from({ length: 501 }, (_, n) => ({ id: n + 1, firstName: 'Many', lastName: 'More' }));
    const crowded = await testService([
      ...organizationRecords(),
      ...tokenRecords(),
      ...many.map((one) => line('PatientV1', one)),
    ]);
    const sizes = async (query: Readonly<Record<string, number>>) =>
      idsOf(await crowded.call('GET', '/patients', { query })).length;
    expect([await sizes({}), await sizes({ pageSize: 500 }), await sizes({ pageSize: 500, page: 2 })]).toEqual([
      100, 500, 1,
    ]);
    await crowded.close();
  });
});

describe.each(operationsThat((operation) => operation.paging === undefined && operation.method === 'GET'))(
  '%s',
  (_id, tested) => {
    it('has no meta.pagination.lastId', async () => {
      const called = await callSample(service, tested);
      expect(called.body.meta?.pagination.lastId).toBeUndefined();
    });
  },
);
