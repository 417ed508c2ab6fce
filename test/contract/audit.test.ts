import { describe, expect, it } from 'vitest';
import { type AuditRow, auditPages } from '../../src/server/audit/export.ts';
import { verifyLog } from '../../src/server/audit/verify.ts';
import { rowsOf } from '../support/calls.ts';
import { sharedService, type TestService, testService } from '../support/service.ts';
import { callSample, operationsThat } from './operations.ts';

const shared = sharedService();

/** What the log has once every read has been written to it. */
async function entriesOf(service: TestService): Promise<AuditRow[]> {
  await service.service.reads.flush();
  const rows: AuditRow[] = [];
  for await (const page of auditPages(service.service.store.read)) rows.push(...page);
  return rows;
}

/** The entries that a piece of work adds. */
async function added(service: TestService, work: () => Promise<unknown>): Promise<AuditRow[]> {
  const last = (await entriesOf(service)).at(-1)?.id ?? 0;
  await work();
  return (await entriesOf(service)).filter(({ id }) => id > last);
}

const FROM_A_TOKEN = { who: expect.stringMatching(/^token [0-9a-f]{12}$/), address: '127.0.0.1' };

describe.each(operationsThat(({ method }) => method === 'GET'))('%s', (id, tested) => {
  it('is told in the audit log', async () => {
    let answer: Awaited<ReturnType<typeof callSample>> | undefined;
    const found = await added(shared, async () => {
      answer = await callSample(shared, tested);
      await shared.service.deliveries.idle();
    });
    const read = found.find(({ operation, who }) => operation === id && who !== 'delivery');
    expect(read).toMatchObject({ ...FROM_A_TOKEN, request_id: answer?.headers['x-request-id'] });
    expect(read?.org).toBeGreaterThan(0);
    if (tested.operation.shape === 'list') expect(read?.record_count).toBe(rowsOf(answer as never).length);
    if (tested.operation.shape === 'get') expect(read?.ids).toMatch(/^\d+$/);
  });
});

describe.each(operationsThat(({ method }) => method !== 'GET'))('%s', (_id, tested) => {
  it('is in the audit log when it is answered, with the id of the record', async () => {
    const service = await testService();
    const found = await added(service, () => callSample(service, tested));
    expect(found.length).toBeGreaterThan(0);
    for (const entry of found) {
      expect(entry).toMatchObject(FROM_A_TOKEN);
      expect(entry.operation).toMatch(/\.(create|update|delete)$/);
      expect(entry.ids).toMatch(/^\d+$/);
    }
    expect((await verifyLog(service.service.store.read)).problems).toEqual([]);
    await service.close();
  });
});

describe('an entry', () => {
  it('has the keys of a filter and none of its values', async () => {
    const filter = 'lastName==Canaryvalue,dateOfBirth==1913-07-09';
    const found = await added(shared, () => shared.call('GET', '/patients', { query: { filter } }));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      operation: 'patients.list',
      filter_keys: 'lastName,dateOfBirth',
      record_count: 0,
    });
    expect(JSON.stringify(found)).not.toMatch(/Canaryvalue|1913/);
  });

  it('is not made by a request that was refused', async () => {
    expect(await added(shared, () => shared.call('GET', '/patients', { query: { filter: 'nonsense==1' } }))).toEqual(
      [],
    );
    expect(await added(shared, () => shared.call('GET', '/patients', { token: null }))).toEqual([]);
  });

  it('tells of a file that is downloaded by its link', async () => {
    const service = await testService();
    const body = { name: 'scan', mimeType: 'PDF', file: { content: Buffer.from('%PDF-1.7').toString('base64') } };
    const made = await service.call('POST', '/documents', { body });
    const { id, storage } = made.body.data as { id: number; storage: { original: string } };
    const found = await added(service, () => service.call('GET', storage.original));
    expect(found).toMatchObject([{ operation: 'documents.original', ...FROM_A_TOKEN, via: 'link', ids: String(id) }]);
    await service.close();
  });
});

describe('while the audit log cannot be written', () => {
  it('reads go on for a while, then none is answered until it can be again', async () => {
    const service = await testService();
    const { store, reads } = service.service;
    const { appendLogs } = store;
    store.appendLogs = () => Promise.reject(new Error('the disk is full'));
    const entry = {
      org: 1,
      at: service.clock.text(),
      actor: { who: 'x', address: null, requestId: null },
      operation: 'x',
    };
    expect((await service.call('GET', '/patients')).status).toBe(200);
    for (let n = 0; n < 10_000; n++) reads.note(entry);
    const refused = await service.call('GET', '/patients');
    expect(refused.status).toBe(503);
    expect(refused.body.errors[0]?.code).toBe('server.unavailable');
    store.appendLogs = appendLogs;
    await reads.flush();
    expect((await service.call('GET', '/patients')).status).toBe(200);
    await service.close();
  });
});
