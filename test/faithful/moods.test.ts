import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, idsOf, rowsOf } from './asking.ts';
import { type Moods, moodsOf } from './moods.ts';
import type { Sizes } from './practice/practice.ts';
import { type Faithful, startFaithful } from './service.ts';

const DAY = 86_400_000;
const EARLY = 'lastModified>=2000-01-01T00:00:00Z';

describe('moods', () => {
  let service: Faithful;
  afterEach(() => service.close());

  async function start(moods: Partial<Moods>, practice: Partial<Sizes> = {}): Promise<Faithful> {
    service = await startFaithful({ seed: 'moods', moods, practice });
    return service;
  }

  it('are the same for a seed, others for another', async () => {
    await start({});
    expect(moodsOf('a')).toEqual(moodsOf('a'));
    expect(new Set(Array.from({ length: 20 }, (_, index) => JSON.stringify(moodsOf(`${index}`)))).size).toBe(20);
  });

  it('extraFields: records have fields that no document mentions', async () => {
    await start({ extraFields: true });
    expect(rowsOf(await ask(service, '/patients'))[0]).toMatchObject({ x_revision: 7, upcoming: {} });
  });

  it('unknownEnums: some records have values that are not listed', async () => {
    await start({ unknownEnums: true, pageCap: 500 });
    const statuses = rowsOf(await ask(service, '/patients?pageSize=500')).map(({ patientStatus }) => patientStatus);
    expect(statuses).toContain('ARCHIVED');
    expect(statuses).toContain('ACTIVE');
  });

  it('missingFields: nothing is null', async () => {
    await start({ missingFields: true });
    const rows = rowsOf(await ask(service, '/patients'));
    expect(rows.flatMap((row) => Object.values(row))).not.toContain(null);
    expect(rows.some((row) => !('chartNumber' in row))).toBe(true);
  });

  it('undatedRecords: a few have no lastModified, and no filter by it finds them', async () => {
    await start({ undatedRecords: true, missingFields: true, pageCap: 500 });
    const undated = rowsOf(await ask(service, '/patients')).filter((row) => !('lastModified' in row));
    expect(undated.length).toBeGreaterThan(0);
    expect(rowsOf(await ask(service, '/patients', EARLY))).toHaveLength(60 - undated.length);
  });

  it.each([
    ['none', 'number', 'number'],
    ['ids', 'string', 'number'],
    ['numbers', 'string', 'string'],
  ] as const)('strings: %s', async (strings, ofId, ofDuration) => {
    await start({ strings });
    const [row] = rowsOf(await ask(service, '/events'));
    const location = row?.location as { readonly id: unknown } | undefined;
    expect([typeof row?.id, typeof location?.id, typeof row?.duration]).toEqual([ofId, ofId, ofDuration]);
  });

  it('countName and countsAsStrings: the count of patients', async () => {
    await start({ countName: 'totalCount', countsAsStrings: true });
    expect((await ask(service, '/patients/totalcount')).body.data).toEqual({ totalCount: '60' });
    expect((await ask(service, '/events/totalcount')).body.data).toEqual({ total: '40' });
  });

  it('bareMeta: meta only where its fields are shown', async () => {
    await start({ bareMeta: true, totals: true });
    expect((await ask(service, '/patients')).body.meta).toBeUndefined();
    expect((await ask(service, '/missedappointments')).body.meta).toBeUndefined();
    expect((await ask(service, '/events')).body.meta?.pagination).toHaveProperty('lastId');
    expect((await ask(service, '/documents')).body.meta?.pagination).toEqual({ limit: 50, offset: 0, total: 12 });
    expect((await ask(service, '/appointmenthistories?page=1')).body.meta?.pagination).not.toHaveProperty('total');
    expect((await ask(service, '/agingbalances/report', 'location.id==ALL,page==1')).body.meta).toBeDefined();
    expect((await ask(service, '/agingbalances/report', 'location.id==ALL,page==2')).body.meta).toBeUndefined();
  });

  it('pageCap: pages are smaller than asked', async () => {
    await start({ pageCap: 7 });
    const first = idsOf(await ask(service, '/patients?pageSize=500'));
    const second = idsOf(await ask(service, `/patients?pageSize=500&lastId=${first[6]}`));
    expect([first.length, second.length]).toEqual([7, 7]);
    expect([...first, ...second]).toEqual(stored('patients').slice(0, 14));
  });

  it.each(['ascending', 'descending', 'shuffled'] as const)('historyOrder: %s', async (historyOrder) => {
    await start({ historyOrder, pageCap: 25 });
    const pages = [1, 2, 3, 4].map((page) => ask(service, `/appointmenthistories?page=${page}`, EARLY));
    const ids = (await Promise.all(pages)).flatMap(idsOf);
    const ascending = stored('appointmenthistories');
    expect([...ids].sort((a, b) => Number(a) - Number(b))).toEqual(ascending);
    expect(ids.join() === ascending.join()).toBe(historyOrder === 'ascending');
    expect(ids.join() === ascending.toReversed().join()).toBe(historyOrder === 'descending');
  });

  it.each([
    ['always', true, true],
    ['withoutLastId', true, false],
    ['withinPage', false, false],
  ] as const)('newestFirst: %s', async (newestFirst, first, later) => {
    await start({ newestFirst, pageCap: 10 });
    const newest = service.records('events').toSorted((a, b) => (String(a.start) < String(b.start) ? 1 : -1));
    const since = 'start>=2000-01-01T00:00:00Z';
    const head = newest.slice(0, 10).map(({ id }) => String(id));
    expect(idsOf(await ask(service, '/events', since)).join() === head.join()).toBe(first);
    expect(idsOf(await ask(service, '/events?lastId=0', since)).join() === head.join()).toBe(later);
    expect(idsOf(await ask(service, '/events?lastId=0'))).toEqual(stored('events').slice(0, 10));
  });

  it.each([
    ['gzip', 'gzip, br', 'gzip'],
    ['br', 'gzip, br', 'br'],
    ['br', 'gzip', undefined],
    ['identity', 'gzip, br', undefined],
  ] as const)('encoding %s for a client that takes %s: %s', async (encoding, accepted, sent) => {
    await start({ encoding, chunked: encoding === 'br' });
    const headers = await headersOf(accepted);
    expect(headers['content-encoding']).toBe(sent);
    expect(headers['transfer-encoding']).toBe(encoding === 'br' ? 'chunked' : undefined);
    expect(headers).not.toHaveProperty('x-request-id');
  });

  it.each([true, false])(
    'closesConnections %s: a connection is closed after its answer, or used again',
    async (closesConnections) => {
      service = await startFaithful({ seed: 'moods', moods: {}, closesConnections });
      expect((await headersOf('identity')).connection).toBe(closesConnections ? 'close' : 'keep-alive');
    },
  );

  it.each(['null', 'id'] as const)('deletes: data is %s', async (deletes) => {
    await start({ deletes });
    const [id] = stored('missedappointments');
    const got = await ask(service, `/missedappointments/${id}`, undefined, { method: 'DELETE' });
    expect(got.body.data).toEqual(deletes === 'null' ? null : { id: Number(id) });
    expect(stored('missedappointments')).not.toContain(id);
  });

  it.each([
    ['milliseconds', /\.\d{3}Z$/],
    ['seconds', /:\d\dZ$/],
    ['offset', /\+00:00$/],
    ['local', /-0[67]:00$/],
  ] as const)('instants: %s', async (instants, form) => {
    await start({ instants });
    const [row] = rowsOf(await ask(service, '/events'));
    const [own] = service.records('events');
    expect(row?.start).toMatch(form);
    expect(Date.parse(String(row?.start))).toBe(Date.parse(String(own?.start)));
  });

  it('clockAhead: the Date header and stamps are off', async () => {
    await start({ clockAhead: 3_600_000 });
    const { id } = service.addPatient();
    const got = await ask(service, `/patients/${id}`);
    const row = got.body.data as { lastModified: string };
    for (const time of [got.headers.get('date') ?? '', row.lastModified]) {
      expect(Math.abs(Date.parse(time) - Date.now() - 3_600_000)).toBeLessThan(120_000);
    }
  });

  it.each([
    ['rising', true, false],
    ['falling', false, true],
  ] as const)('newIds: %s', async (newIds, above, below) => {
    await start({ newIds });
    const before = service.records('patients').map(({ id }) => Number(id));
    const id = Number(service.addPatient().id);
    expect([id > Math.max(...before), id < Math.min(...before)]).toEqual([above, below]);
  });

  it('requireLocation: 400 that is no violation without the key, and every form of it is taken', async () => {
    await start({ requireLocation: true });
    expect((await ask(service, '/patients')).status).toBe(400);
    expect((await ask(service, '/events/totalcount')).status).toBe(400);
    expect((await ask(service, '/missedappointments')).status).toBe(400);
    for (const value of ['==ALL', '==*', '->[ALL]', '->["ALL"]']) {
      expect(rowsOf(await ask(service, '/patients', `preferredLocation.id${value}`))).toHaveLength(50);
    }
    expect(service.violations).toEqual([]);
  });

  it('automaticDates: most records are hidden from reads without a date filter, and from counts', async () => {
    await start({ automaticDates: true, totals: true, pageCap: 500 });
    const yearAgo = new Date(Date.now() - 365 * DAY).toISOString();
    const recent = (resource: 'patients' | 'events') =>
      service.records(resource).filter(({ lastModified }) => String(lastModified) >= yearAgo).length;
    expect(rowsOf(await ask(service, '/patients'))).toHaveLength(recent('patients'));
    expect(recent('patients')).toBeLessThan(30);
    expect((await ask(service, '/patients/totalcount')).body.data).toEqual({ total: recent('patients') });
    expect((await ask(service, '/patients/totalcount', EARLY)).body.data).toEqual({ total: 60 });
    expect((await ask(service, '/events/totalcount')).body.data).toEqual({ total: recent('events') });
    expect((await ask(service, '/events/totalcount', 'start>=2000-01-01T00:00:00Z')).body.data).toEqual({ total: 40 });
    expect(idsOf(await ask(service, '/missedappointments')).length).toBeLessThan(25);
    expect(idsOf(await ask(service, '/missedappointments', 'start>=2000-01-01T00:00:00Z'))).toHaveLength(25);
  });

  it.each([true, false])('automaticKeepsUndated: %s', async (automaticKeepsUndated) => {
    await start({ undatedRecords: true, automaticDates: true, automaticKeepsUndated, pageCap: 500 });
    const undated = service.records('events').filter(({ lastModified }) => lastModified === null);
    const ids = idsOf(await ask(service, '/events'));
    expect(undated.length).toBeGreaterThan(0);
    expect(undated.every(({ id }) => ids.includes(String(id)))).toBe(automaticKeepsUndated);
    expect(idsOf(await ask(service, '/events', 'start>=2000-01-01T00:00:00Z'))).toHaveLength(40);
    const reachable = service.records('patients').filter((row) => automaticKeepsUndated || row.lastModified !== null);
    expect(service.reachable('patients')).toEqual(reachable);
  });

  it('filters that the specification says are applied are applied in every mood', async () => {
    await start({ automaticDates: false, pageCap: 500, modifiedLimitsTransactions: false });
    expect(idsOf(await ask(service, '/transactiontags')).length).toBeLessThan(24);
    expect(idsOf(await ask(service, '/transactiontags', 'tagText<>=Tag'))).toHaveLength(24);
    expect(idsOf(await ask(service, '/appointmenthistories')).length).toBeLessThan(60);
    expect(idsOf(await ask(service, '/transactions', 'location.id==ALL')).length).toBeLessThan(80);
    expect(idsOf(await ask(service, '/transactions', EARLY)).length).toBeLessThan(80);
    expect(idsOf(await ask(service, '/transactions', 'transactionDate>=2000-01-01'))).toHaveLength(80);
  });

  it('modifiedLimitsTransactions: a lastModified filter keeps the automatic one away', async () => {
    await start({ modifiedLimitsTransactions: true, pageCap: 500 });
    expect(idsOf(await ask(service, '/transactions', EARLY))).toHaveLength(80);
  });

  it('wideDays: 408 for a wide lastModified range without other terms, whatever the page size', async () => {
    await start({ wideDays: 100 });
    const [from, to] = [30, 20].map((days) => new Date(Date.now() - days * DAY).toISOString());
    expect((await ask(service, '/patients?pageSize=1', EARLY)).status).toBe(408);
    expect((await ask(service, '/patients/totalcount', `${EARLY},preferredLocation.id==ALL`)).status).toBe(408);
    expect((await ask(service, '/patients', `${EARLY},gender==F`)).status).toBe(200);
    expect((await ask(service, '/patients', `lastModified>=${from},lastModified<${to}`)).status).toBe(200);
    expect((await ask(service, '/patients')).status).toBe(200);
    expect((await ask(service, '/events', EARLY)).status).toBe(200);
  });

  it.each([
    ['notFound', 404],
    ['empty', 200],
  ] as const)('emptyReports: %s', async (emptyReports, status) => {
    await start({ emptyReports });
    expect((await ask(service, '/agingbalances/report', 'location.id==1,page==1')).status).toBe(status);
    expect((await ask(service, '/locationproductionnetschedule', 'fromDate==1999-01-01')).status).toBe(status);
  });

  it.each([true, false])('correctionsAreDated: %s', async (correctionsAreDated) => {
    await start({ correctionsAreDated });
    const before = service.records('transactions').find(({ isActive }) => isActive);
    const { id, previousTransaction } = service.correct(Number(before?.id));
    const after = service.records('transactions').find((record) => record.id === before?.id);
    expect(previousTransaction).toEqual({ id: before?.id });
    expect(after).toMatchObject({ isActive: false, replacedByTransaction: { id } });
    expect(after?.lastModified !== before?.lastModified).toBe(correctionsAreDated);
  });

  function stored(resource: Parameters<Faithful['records']>[0]): string[] {
    return service.records(resource).map(({ id }) => String(id));
  }

  function headersOf(accepted: string): Promise<Readonly<Record<string, unknown>>> {
    const { token, organization, url } = service;
    const headers = { authorization: `Bearer ${token}`, 'organization-id': organization, 'accept-encoding': accepted };
    return new Promise((done, fail) => {
      const sent = request(`${url}/api/v1/patients`, { headers }, (response) => {
        response.resume().on('end', () => done(response.headers));
      });
      sent.on('error', fail).end();
    });
  }
});
