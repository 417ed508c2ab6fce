import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openFolder } from '../../../src/server/datafolder.ts';
import { importRecords } from '../../../src/server/import/importer.ts';
import { numberRecords } from '../../../src/server/import/lines.ts';
import { type Called, idsOf, type WireRecord } from '../../support/calls.ts';
import { ELSEWHERE, LOCATIONS, OTHER_ORGANIZATION, PATIENTS, TOKENS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

const EVERYTHING = 'transactionDate>=0001-01-01';
const HISTORY = 'lastModified>=0001-01-01';
const modified = '2026-02-01T10:00:00.000Z';

const row = (id: number, location: number = LOCATIONS.east) =>
  line('Transaction', {
    id,
    ledgerType: 'PatientProcedurePayment',
    amount: -10,
    transactionDate: '2026-02-01',
    patient: { id: PATIENTS.ann },
    location: { id: location },
    lastModified: modified,
  });
const history = (id: number) => line('AppointmentHistoryV1', { id, action: 'UPDATE', lastModified: modified });
const gone = (type: string, id: number) => line(type, { id, deleted: true });
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

let folder: string;
let service: TestService;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-repeats-'));
  service = await testService([...bareRecords(), ...range(1, 50).flatMap((id) => [row(id), history(id)])], {
    data: folder,
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await service.close();
  await rm(folder, { recursive: true });
});

const ask = (path: string, filter: string, query: Record<string, string>) =>
  service.call('GET', path, { query: { filter, pageSize: '10', ...query } });
const transactions = (query: Record<string, string>, filter = EVERYTHING) => ask('/transactions', filter, query);
const histories = (query: Record<string, string>, filter = HISTORY) => ask('/appointmenthistories', filter, query);

const pagination = ({ body }: Called) => body.meta?.pagination ?? {};

/** Whether each statement that some work reads with counts every record, and whether it passes over any. */
async function read(work: () => Promise<unknown>): Promise<{ counts: number; passes: number }> {
  const { read: reader } = service.service.store;
  const statements: string[] = [];
  for (const name of ['all', 'get'] as const) {
    const original = reader[name].bind(reader) as (statement: { sql: string }) => Promise<never>;
    vi.spyOn(reader, name).mockImplementation((statement) => {
      statements.push(statement.sql);
      return original(statement);
    });
  }
  await work();
  vi.restoreAllMocks();
  const holding = (text: string) => statements.filter((statement) => statement.includes(text)).length;
  return { counts: holding('COUNT(*) AS total'), passes: holding('OFFSET') };
}

describe('the total of transactions (D17)', () => {
  const totals = async () => {
    const pages = [await transactions({ lastId: '0' }), await transactions({ lastId: '20' })];
    const counted = await service.call('GET', '/transactions/totalcount', { query: { filter: EVERYTHING } });
    return [...pages.map((page) => pagination(page).total), (counted.body.data as { total: number }).total];
  };

  it('is counted once for all pages of a walk', async () => {
    expect(await read(async () => expect(await totals()).toEqual([50, 50, 50]))).toEqual({ counts: 1, passes: 0 });
  });

  it('is right after every write of this server', async () => {
    expect(await totals()).toEqual([50, 50, 50]);
    await service.import([row(51), row(52)]);
    expect(await totals()).toEqual([52, 52, 52]);
    await service.import([gone('Transaction', 3)]);
    expect(await totals()).toEqual([51, 51, 51]);
  });

  it('is right after what another process writes', async () => {
    expect(await totals()).toEqual([50, 50, 50]);
    const other = await openFolder(folder, { serving: false, clock: service.clock.now });
    await importRecords(other.service, () => numberRecords([row(90)]));
    await other.close();
    expect(await totals()).toEqual([51, 51, 51]);
  });

  it('is kept apart for each filter and organization', async () => {
    const elsewhere = { organizationId: OTHER_ORGANIZATION, patient: { id: ELSEWHERE.patient } };
    await service.import([row(60, LOCATIONS.west), { ...row(61), ...elsewhere }]);
    const filters: [string, number][] = [
      [EVERYTHING, 51],
      [`${EVERYTHING},location.id==${LOCATIONS.west}`, 1],
      [`${EVERYTHING},location.id==${LOCATIONS.east}`, 50],
      [`${EVERYTHING},location.id==ALL`, 51],
      [`${EVERYTHING},id->[7]`, 1],
      [`${EVERYTHING},id->[7,8]`, 2],
    ];
    for (const [filter, total] of [...filters, ...filters]) {
      expect([filter, pagination(await transactions({}, filter)).total]).toEqual([filter, total]);
    }
    const there = { query: { filter: EVERYTHING }, organization: OTHER_ORGANIZATION, token: TOKENS.other };
    expect(pagination(await service.call('GET', '/transactions', there)).total).toBe(1);
  });
});

describe('numbered pages', () => {
  it('of appointment histories are counted only while their meta tells it, and pass over nothing', async () => {
    expect(pagination(await histories({})).total).toBe(50);
    const walk = async () => {
      const ids: number[] = [];
      for (let page = 1; page <= 6; page++) {
        const answer = await histories({ page: String(page) });
        expect(pagination(answer)).not.toHaveProperty('total');
        ids.push(...idsOf(answer).map(Number));
      }
      expect(ids).toEqual(range(1, 50));
    };
    expect(await read(walk)).toEqual({ counts: 0, passes: 0 });
  });

  it('start where they should when asked for without the page before them', async () => {
    expect(idsOf(await histories({ page: '4' }))).toEqual(range(31, 40));
    expect(idsOf(await histories({ page: '5' }))).toEqual(range(41, 50));
    expect(idsOf(await histories({ page: '5', pageSize: '8' }))).toEqual(range(33, 40));
    expect(idsOf(await histories({ page: '2', pageSize: '40' }))).toEqual(range(41, 50));
    expect(idsOf(await histories({ page: '7' }))).toEqual([]);
  });

  it.each<[string, typeof histories, (id: number) => WireRecord]>([
    ['appointment histories', histories, history],
    ['transactions', transactions, row],
  ])('of %s move when something is written between them', async (_name, page, record) => {
    const second = async () => idsOf(await page({ page: '2' }));
    await page({ page: '1' });
    expect(await second()).toEqual(range(11, 20));
    await page({ page: '1' });
    await service.import([gone(String(record(1).type), 5)]);
    expect(await second()).toEqual(range(12, 21));
    await page({ page: '1' });
    expect(await second()).toEqual(range(12, 21));
    await service.import([record(5)]);
    expect(await second()).toEqual(range(11, 20));
  });

  it('are those of the filter and the fields asked for', async () => {
    await service.import([row(60, LOCATIONS.west), row(61, LOCATIONS.west), row(62, LOCATIONS.west)]);
    const west = `${EVERYTHING},location.id==${LOCATIONS.west}`;
    for (const responseFields of ['id', 'ALL']) {
      const two = (page: string, filter: string) => transactions({ page, pageSize: '2', responseFields }, filter);
      expect(idsOf(await two('1', EVERYTHING))).toEqual([1, 2]);
      expect(idsOf(await two('1', west))).toEqual([60, 61]);
      expect(idsOf(await two('2', west))).toEqual([62]);
      expect(idsOf(await two('2', EVERYTHING))).toEqual([3, 4]);
    }
  });
});
