import { afterEach, expect, it } from 'vitest';
import { onPostgres } from '../../support/postgres.ts';
import { preparedTest } from '../../support/preparedschemas.ts';
import { type TestService, testService } from '../../support/service.ts';
import { address, type Listener, listen } from './listening.ts';

const COUNT = 16;
const WRITES = 12;
const TOKEN = 'token-of-all-organizations';
const IDS = Array.from({ length: COUNT }, (_, n) => `practice-${n + 1}`);
const RECORDS = [
  ...IDS.map((id) => ({ type: 'Organization', id, name: id, timezone: 'UTC', createdDate: '2020-01-01' })),
  { type: 'AccessToken', token: TOKEN, organizations: IDS, scopes: ['model:read', 'model:write'] },
];

const listeners: Listener[] = [];
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});

async function post(service: TestService, organization: string, tagText: string): Promise<void> {
  const body = { tagText, isPredefined: false, tagType: 'PAYMENT_TAG' };
  const { status, text } = await service.call('POST', '/transactiontags', { body, organization, token: TOKEN });
  if (status !== 201) throw new Error(text);
}

/** Every organization writes on every server while all are listened to, on each server one half of them. */
async function expectEachItsOwn(servers: readonly TestService[]): Promise<void> {
  const serverOf = (n: number) => servers[n % servers.length] as TestService;
  for (const server of servers) await address(server);
  for (const [n, organization] of IDS.entries()) {
    listeners.push(await listen((await serverOf(n).app.listeningOrigin) ?? '', { organization, token: TOKEN }));
  }
  const writes = IDS.flatMap((organization) => Array.from({ length: WRITES }, (_, n) => ({ organization, n })));
  await Promise.all(writes.map(({ organization, n }) => post(serverOf(n), organization, `${organization} ${n}`)));
  for (const [at, organization] of IDS.entries()) {
    const events = await (listeners[at] as Listener).heard(WRITES);
    expect(events.map(({ message }) => message.id)).toEqual(Array.from({ length: WRITES }, (_, n) => n + 1));
    expect(new Set(events.map(({ message }) => message.organizationId))).toEqual(new Set([organization]));
    const texts = events.map(({ message }) => message.payload.tagText);
    expect(new Set(texts)).toEqual(new Set(Array.from({ length: WRITES }, (_, n) => `${organization} ${n}`)));
  }
}

it('sixteen organizations that write at once each hear their own messages, in order and without a gap', async () => {
  const service = await testService(RECORDS);
  await expectEachItsOwn([service]);
  await service.close();
});

preparedTest('so they do on two servers with one database', async ({ url }) => {
  const servers = [await testService(RECORDS, { database: url }), await testService([], { database: url })];
  await expectEachItsOwn(servers);
  for (const server of servers) await server.close();
});

preparedTest('an organization writes and is heard while the head of another one is locked', async ({ url, schema }) => {
  const service = await testService(RECORDS, { database: url });
  await address(service);
  const [blocked = '', free = ''] = IDS;
  const listener = await listen((await service.app.listeningOrigin) ?? '', { organization: free, token: TOKEN });
  listeners.push(listener);
  await post(service, blocked, 'first');
  let waiting: Promise<void> | undefined;
  await onPostgres(async (client) => {
    await client.query(`BEGIN; SELECT 1 FROM ${schema}.stream_heads h JOIN ${schema}.organizations o ON o.org = h.org
      WHERE o.id = '${blocked}' FOR UPDATE OF h`);
    waiting = post(service, blocked, 'second');
    await post(service, free, 'free');
    expect((await listener.heard(1)).map(({ message }) => message.payload.tagText)).toEqual(['free']);
    await client.query('COMMIT');
  });
  await waiting;
  await service.close();
});
