import sql from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { pageOf } from '../../../../src/server/reports/aging/pages.ts';
import type { OperationRequest } from '../../../../src/server/service.ts';
import type { Statement } from '../../../../src/server/store/store.ts';
import { sharedService } from '../../../support/service.ts';
import { type Line, location, newPractice, type Practice, patient } from '../support.ts';
import { row } from './rows.ts';

const service = sharedService(() => []);

/** Eight transactions: two each of guarantors 1 and 4, one of 2 and of 3, and two of 6. Limit 2 makes four pages. */
const LINES: readonly Line[] = [
  ...[5, 7].map((id) => location(id)),
  ...[1, 2, 3, 4, 6].map((id) => patient(id)),
  ...[1, 1, 2, 3, 4, 4, 6, 6].map((guarantor, n) => row(n + 1, 1, { patient: { id: guarantor } })),
];

const isVersion = (text: string) => text.includes('FROM ledger_versions');
/** The statement that finds all pages at once, by reading the whole ledger. */
const isWhole = (text: string) => text.includes('OVER (');

interface Asked {
  readonly limit?: number;
  readonly place?: number | 'ALL';
  readonly locations?: readonly number[];
}

/** Asks for pages of a practice by a store of its own; `read` has the statements of the last one, and `meanwhile` runs before each. */
async function asker(practice?: Practice) {
  const { store } = service.service;
  const id = practice?.organization ?? '';
  const found = await store.read.get<{ org: number }>(sql`SELECT org FROM organizations WHERE id = ${id}`);
  const told = {
    read: [] as string[],
    meanwhile: async (_text: string): Promise<unknown> => undefined,
    async page(number: number, { limit = 2, place = 5, locations }: Asked = {}) {
      told.read = [];
      const organization = { org: found?.org ?? 0, ...(locations && { locations }) };
      const request = { organization, service: { store: watched, agingPageLimit: limit } };
      const { guarantors, total } = await pageOf(request as unknown as OperationRequest, place, number);
      return { total, first: guarantors?.first, last: guarantors?.last };
    },
  };
  const watch =
    (method: 'all' | 'get') =>
    async (statement: Statement): Promise<unknown> => {
      await told.meanwhile(statement.sql);
      told.read.push(statement.sql);
      return store.read[method](statement);
    };
  const watched = Object.create(store, { read: { value: { all: watch('all'), get: watch('get') } } });
  return told;
}

/** The guarantors that are on a page. */
const on = ({ first = 1, last = 0 }: { first: number | undefined; last: number | undefined }) =>
  [1, 2, 3, 4, 6].filter((id) => first <= id && id <= last);

const PAGES = [[1], [2, 3], [4], [6]];

describe('a page of the aging report', () => {
  it('is known until the ledger changes, and then found by its blocks', async () => {
    const practice = await newPractice(service, LINES);
    const asked = await asker(practice);
    for (const [index, guarantors] of PAGES.entries()) {
      for (const place of [5, 'ALL'] as const) {
        expect(on(await asked.page(index + 1, { place }))).toEqual(guarantors);
        expect(asked.read.length).toBeGreaterThan(2);
        expect(asked.read.filter(isWhole)).toEqual([]);
        expect(on(await asked.page(index + 1, { place }))).toEqual(guarantors);
        expect(asked.read.map(isVersion)).toEqual([true]);
      }
    }
    await practice.import([row(9, 1, { patient: { id: 2 } })]);
    expect(on(await asked.page(2))).toEqual([2]);
    expect(await asked.page(1)).toMatchObject({ total: 9 });
    await practice.import([{ type: 'Transaction', id: 9, deleted: true }]);
    expect(on(await asked.page(2))).toEqual([2, 3]);
  });

  it('behind the last one has nobody, and is not kept', async () => {
    const asked = await asker(await newPractice(service, LINES));
    for (const number of [5, 6, 1000]) {
      expect(await asked.page(number)).toEqual({ total: 8, first: undefined, last: undefined });
    }
    expect(await asked.page(9, { limit: 1 })).toEqual({ total: 8, first: undefined, last: undefined });
    expect(await asked.page(3, { limit: 4 })).toEqual({ total: 8, first: undefined, last: undefined });
    expect(await (await asker()).page(1)).toEqual({ total: 0, first: undefined, last: undefined });
  });

  it('of a caller who is bound to locations is found by blocks for one of them, and with all others for ALL', async () => {
    const asked = await asker(await newPractice(service, [...LINES, row(9, 1, { location: { id: 7 } })]));
    const bound = { locations: [5] };
    expect(await asked.page(1, bound)).toMatchObject({ total: 8 });
    expect(asked.read.filter(isWhole)).toEqual([]);
    expect(await asked.page(1, { ...bound, place: 'ALL' })).toEqual({ total: 8, first: 1, last: 1 });
    expect(asked.read.filter(isWhole)).toHaveLength(1);
    // PostgreSQL may still be telling of what was imported.
    const reads = async () => {
      await asked.page(1, { ...bound, place: 'ALL' });
      return asked.read;
    };
    await expect.poll(reads).toEqual([]);
    for (const [number, guarantors] of [...PAGES, []].entries()) {
      expect(on(await asked.page(number + 1, { ...bound, place: 'ALL' }))).toEqual(guarantors);
      expect(asked.read).toEqual([]);
    }
    expect(await asked.page(1, { locations: [5, 7], place: 'ALL' })).toMatchObject({ total: 9 });
    expect(await asked.page(1, { place: 'ALL' })).toMatchObject({ total: 9 });
    expect(await asked.page(1, { place: 7 })).toMatchObject({ total: 1 });
  });

  it.each([
    ['twice is looked for again', 2, [2, 3], 0],
    ['all the time is found in one statement', 100, [2], 1],
  ])('whose ledger changes %s, and is that of the last state', async (_name, changes, guarantors, whole) => {
    const practice = await newPractice(service, LINES);
    const asked = await asker(practice);
    let [made, looks] = [0, 0];
    asked.meanwhile = async (text) => {
      // Not before the first look: nothing has been found by then.
      if (!isVersion(text) || looks++ === 0 || made >= changes) return;
      await practice.import([row(100 + made++, 1, { patient: { id: 1 } })]);
    };
    expect(on(await asked.page(2, { limit: 3 }))).toEqual(guarantors);
    expect(asked.read.filter(isVersion)).toHaveLength(4);
    expect(asked.read.filter(isWhole)).toHaveLength(whole);
    if (whole === 0) return;
    // What was found by one statement is all that there is.
    asked.meanwhile = async () => undefined;
    expect(await asked.page(99, { limit: 3 })).toMatchObject({ first: undefined });
    expect(asked.read.map(isVersion)).toEqual([true]);
  });

  it('is forgotten when 256 lists of pages were used since', async () => {
    const asked = await asker(await newPractice(service, LINES));
    const isKnown = async (limit: number) => {
      await asked.page(1, { limit });
      return asked.read.length === 1;
    };
    for (let limit = 1; limit <= 256; limit++) expect(await isKnown(limit)).toBe(false);
    expect(await isKnown(1)).toBe(true);
    expect(await isKnown(257)).toBe(false);
    expect([await isKnown(1), await isKnown(3), await isKnown(257), await isKnown(2)]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});
