import { afterEach, describe, expect, it } from 'vitest';
import { refusalOf } from '../../support/calls.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { preparedSchema } from '../../support/preparedschemas.ts';
import { type TestService, testService } from '../../support/service.ts';
import { testPostgres } from '../../support/services.ts';
import { budgetMetrics } from './metrics.ts';

const OVER = { status: 429, errors: ['limit.budget async'] };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A service that accepts deliveries and completes none of them. */
async function halted(options: Parameters<typeof testService>[1] = {}, records = bareRecords()): Promise<TestService> {
  const service = await testService(records, { budgets: { deliveries: 4 }, ...options });
  closing.push(() => service.close());
  await service.app.ready();
  await service.service.deliveries.stop();
  return service;
}

const ask = (service: TestService, token: string = TOKENS.full, organization?: string) =>
  service.call('GET', '/patients/async', { token, ...(organization !== undefined && { organization }) });

/** How many of so many requests at the same time are answered. */
async function accepted(services: readonly TestService[], requests: number): Promise<number> {
  const turns = Array.from({ length: requests }, (_, n) => ask(services[n % services.length] as TestService));
  return (await Promise.all(turns)).filter(({ status }) => status === 200).length;
}

/** Rows that the store has, read past the code under test. */
async function stored({ service }: TestService): Promise<number> {
  const text = 'SELECT id FROM async_deliveries';
  return (await service.store.read.all({ sql: text, text, values: [] })).length;
}

describe('unfinished async deliveries (contract §8)', () => {
  it('are as many as the budget, and the next one is refused until one is complete', async () => {
    const service = await halted();
    for (let n = 0; n < 4; n++) expect((await ask(service)).status).toBe(200);
    const refused = await ask(service);
    expect(refusalOf(refused)).toEqual(OVER);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(await stored(service)).toBe(4);
    const text = 'DELETE FROM async_deliveries WHERE id = (SELECT MIN(id) FROM async_deliveries)';
    await service.service.store.write((tx) => tx.run({ sql: text, text, values: [] }));
    expect((await ask(service)).status).toBe(200);
    expect(refusalOf(await ask(service))).toEqual(OVER);
  });

  it('are as many as the budget when all ask at the same time', async () => {
    const service = await halted();
    expect(await accepted([service], 40)).toBe(4);
    expect(await stored(service)).toBe(4);
  });

  it('are those of one token and organization, of every async endpoint together', async () => {
    const service = await halted();
    for (const path of ['/patients/async', '/events/async', '/patients/async', '/events/async']) {
      expect((await service.call('GET', path)).status).toBe(200);
    }
    expect(refusalOf(await service.call('GET', '/events/async'))).toEqual(OVER);
    expect((await ask(service, TOKENS.read)).status).toBe(200);
    expect((await ask(service, TOKENS.other, OTHER_ORGANIZATION)).status).toBe(200);
    // What makes no delivery is not refused.
    expect((await service.call('GET', '/patients')).status).toBe(200);
  });

  it('are those of each organization, also where one token is for several', async () => {
    const service = await halted();
    for (const organization of [ORGANIZATION, OTHER_ORGANIZATION]) {
      for (let n = 0; n < 4; n++) expect((await ask(service, TOKENS.both, organization)).status).toBe(200);
      expect(refusalOf(await ask(service, TOKENS.both, organization))).toEqual(OVER);
    }
  });

  it('are those of an API client together, however many tokens it gets', async () => {
    const secret = { clientId: 'exporter', clientSecret: 'a secret of the exporter' };
    const client = { type: 'ApiClient', ...secret, organizations: [ORGANIZATION], scopes: ['model:read'] };
    const service = await halted({}, [...bareRecords(), client]);
    const askAnew = async () => {
      const body = new URLSearchParams({ client_id: secret.clientId, client_secret: secret.clientSecret }).toString();
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const path = '//oauth/client_credential/accesstoken?grant_type=client_credentials';
      const { text } = await service.call('POST', path, { body, headers, token: null, organization: null });
      return ask(service, (JSON.parse(text) as { access_token: string }).access_token);
    };
    for (let n = 0; n < 4; n++) expect((await askAnew()).status).toBe(200);
    expect(refusalOf(await askAnew())).toEqual(OVER);
  });

  it('count before the work, and a wrong request takes none', async () => {
    const service = await halted();
    for (let n = 0; n < 6; n++) {
      expect((await service.call('GET', '/patients/async', { query: { filter: 'nosuch==1' } })).status).toBe(400);
    }
    expect(await accepted([service], 6)).toBe(4);
  });

  it('stand in the metrics, with the limit and what was refused, and without a name', async () => {
    const service = await halted();
    // Of one organization and of one token together more are unfinished than anybody may have.
    for (const [times, token, organization] of [
      [3, TOKENS.full, ORGANIZATION],
      [2, TOKENS.both, ORGANIZATION],
      [7, TOKENS.both, OTHER_ORGANIZATION],
    ] as const) {
      for (let n = 0; n < times; n++) await ask(service, token, organization);
    }
    const { text, of } = await budgetMetrics(service);
    expect(of('async')).toEqual({ limit: 4, used: 4, refused: 3 });
    expect(text).not.toContain(OTHER_ORGANIZATION);
  });

  it('are finished when they are delivered, so that a patient caller is never refused', async () => {
    const service = await testService(bareRecords(), { budgets: { deliveries: 1 } });
    closing.push(() => service.close());
    for (let n = 0; n < 5; n++) {
      expect((await ask(service)).status).toBe(200);
      await service.service.deliveries.idle();
    }
  });
});

describe('the budget of deliveries', () => {
  it('holds for all servers of a database, and for those that start later', async (context) => {
    if ((await testPostgres()) === undefined) return context.skip('needs PostgreSQL');
    const database = await preparedSchema();
    closing.push(() => database.drop());
    const options = { database: database.url };
    const servers = [await halted(options), await halted(options, [])];
    expect(await accepted(servers, 30)).toBe(4);
    servers.push(await halted(options, []));
    for (const server of servers) expect(refusalOf(await ask(server))).toEqual(OVER);
  });
});
