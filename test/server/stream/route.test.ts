import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildApp } from '../../../src/server/http/app.ts';
import { findOrganization, type Organization } from '../../../src/server/organizations.ts';
import { appendMessage } from '../../../src/server/stream/outbox.ts';
import { revokeTokenText, saveToken } from '../../../src/server/tokens/tokens.ts';
import { refusalOf, sourcesOf } from '../../support/calls.ts';
import { LOCATIONS, ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { address, type Listener, listen, numberIn } from './listening.ts';
import { allMessages, ownMessages } from './told.ts';
import { messageBy } from './writing.ts';

let service: TestService;
let url: string;
const listeners: Listener[] = [];
beforeAll(async () => {
  service = await testService(bareRecords(), { listeners: { checkMs: 0, heartbeatMs: 60_000 } });
  url = await address(service);
});
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});
afterAll(() => service.close());

async function hear(options?: Parameters<typeof listen>[1]): Promise<Listener> {
  const listener = await listen(url, options);
  listeners.push(listener);
  return listener;
}

let tags = 0;
async function postTag(options: { token?: string; organization?: string } = {}): Promise<void> {
  const body = { tagText: `tag ${++tags}`, isPredefined: false, tagType: 'PAYMENT_TAG' };
  const { status, text } = await service.call('POST', '/transactiontags', { body, ...options });
  if (status !== 201) throw new Error(text);
}

describe('GET /api/v1/stream', () => {
  it('tells what is committed from now on, as Server-Sent Events (D42)', async () => {
    const listener = await hear();
    expect(listener.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    await postTag();
    const [event] = await listener.heard(1);
    const [message] = (await ownMessages(service)).slice(-1);
    const id = listener.begin.replace(/\d+$/, String(message?.id));
    expect(event).toEqual({ id, event: 'CREATE', message });
    expect(message?.id).toBeGreaterThan(listener.position);
  });

  it('tells what is committed right after it has looked for more, before a heartbeat', async () => {
    const { stream } = service.service;
    await expect.poll(() => stream.listeners).toBe(0);
    const page = stream.page.bind(stream);
    const looking = vi.spyOn(stream, 'page').mockImplementation(async (...asked) => {
      const found = await page(...asked);
      if (found.frames.length > 0) return found;
      looking.mockRestore();
      await postTag();
      await stream.refresh();
      return found;
    });
    await (await hear()).heard(1);
  });

  it('ends for nobody but those who left', async () => {
    await expect.poll(() => service.service.stream.listeners).toBe(0);
    const [one, other] = [await hear(), await hear()];
    one.close();
    await postTag();
    await other.heard(1);
    await expect.poll(() => service.service.stream.listeners).toBe(1);
  });
});

describe('what a listener asks for', () => {
  const heard = async (query: string, count: number) => {
    const listener = await hear({ query });
    return (await listener.heard(count)).map(({ message }) => message.routingKey);
  };

  it('is told apart by routing keys, any of them', async () => {
    await postTag();
    const keys = (await allMessages(service)).map(({ routingKey }) => routingKey);
    const of = (pattern: RegExp) => keys.filter((key) => key.startsWith(ORGANIZATION) && pattern.test(key));
    const patients = of(/PatientV1/);
    expect(patients.length).toBeGreaterThan(1);
    expect(await heard(`?lastEventId=0&routingKey=${ORGANIZATION}.*.PatientV1.*`, patients.length)).toEqual(patients);
    const both = `?lastEventId=0&routingKey=*.${LOCATIONS.east}.%23&routingKey=%23.TransactionTagV1.CREATE`;
    const either = of(new RegExp(`\\.${LOCATIONS.east}\\.|\\.TransactionTagV1\\.CREATE$`));
    for (const one of [/\.PatientV1\./, /\.TransactionTagV1\./])
      expect(either.filter((key) => one.test(key))).not.toEqual([]);
    expect(await heard(both, either.length)).toEqual(either);
  });

  it('is everything without one', async () => {
    const all = await ownMessages(service);
    expect(await heard('?lastEventId=0&routingKey=', all.length)).toEqual(all.map(({ routingKey }) => routingKey));
  });

  it('never is of another organization, whatever the routing key', async () => {
    const listener = await hear({
      query: `?routingKey=${OTHER_ORGANIZATION}.%23&routingKey=%23.TransactionTagV1.%23`,
    });
    await postTag({ token: TOKENS.other, organization: OTHER_ORGANIZATION });
    await postTag();
    const [event] = await listener.heard(1);
    expect(event?.message.organizationId).toBe(ORGANIZATION);
    expect(listener.events).toHaveLength(1);
  });
});

describe('a position', () => {
  it.each(['header', 'query'])('given by %s resumes behind it', async (where) => {
    const all = await ownMessages(service);
    const after = all[1]?.id ?? 0;
    const listener = await hear(
      where === 'header' ? { headers: { 'last-event-id': String(after) } } : { query: `?lastEventId=${after}` },
    );
    const events = await listener.heard(all.length - 2);
    expect(events.map(({ message }) => message)).toEqual(all.slice(2));
    expect(listener.position).toBe(after);
  });

  it('in the header wins, since a browser sends it when it comes again', async () => {
    const newest = (await ownMessages(service)).at(-1)?.id ?? 0;
    const listener = await hear({ headers: { 'last-event-id': String(newest) }, query: '?lastEventId=0' });
    expect(listener.position).toBe(newest);
  });

  it('that was never reached is told, and the stream goes on from now', async () => {
    const newest = (await ownMessages(service)).at(-1)?.id ?? 0;
    const listener = await hear({ query: `?lastEventId=${newest + 7}` });
    await postTag();
    const [resync, event] = await listener.heard(2);
    expect(resync).toEqual({
      id: listener.begin,
      event: 'resync',
      message: {
        id: newest,
        routingKey: `${ORGANIZATION}.*.*.resync`,
        organizationId: ORGANIZATION,
        locationId: '*',
        domainType: '*',
        operation: 'resync',
        sendTime: service.clock.text(),
        correlationId: null,
        payload: { requested: newest + 7, resumedAfter: newest },
      },
    });
    expect(event?.message.operation).toBe('CREATE');
  });

  it.each(['-1', '1.5', 'x', '1e3', '99999999999999999', '0a1b2c3d', '0a1b2c3d-', '0A1B2C3D-1', '0a1b2c3d-1-1'])(
    'is not %s',
    async (position) => {
      const byQuery = await service.call('GET', '/stream', { query: { lastEventId: position } });
      expect(refusalOf(byQuery)).toEqual({ status: 400, errors: ['stream.position lastEventId'] });
      const byHeader = await service.call('GET', '/stream', { headers: { 'last-event-id': position } });
      expect(sourcesOf(byHeader)).toEqual(['Last-Event-ID']);
    },
  );
});

describe('a request of the stream', () => {
  it.each([
    ['without a token', { token: null }, 401, 'Authorization'],
    ['with an unknown token', { token: 'x' }, 401, 'Authorization'],
    ['with an expired token', { token: TOKENS.expired }, 401, 'Authorization'],
    ['without an organization', { organization: null }, 400, 'Organization-ID'],
    ['for another organization', { organization: OTHER_ORGANIZATION }, 403, 'Organization-ID'],
    ['without the scope', { token: TOKENS.write }, 403, 'Authorization'],
    ['with a routing key that is none', { query: { routingKey: 'a..b' } }, 400, 'routingKey'],
  ])('%s is refused', async (_name, options, status, source) => {
    const called = await service.call('GET', '/stream', options);
    expect([called.status, ...sourcesOf(called)]).toEqual([status, source]);
  });

  it('is warned of a parameter that is none, in a comment that stays one', async () => {
    const listener = await hear({ query: '?routingkey=x&a%0Ab=1' });
    await postTag();
    await listener.heard(1);
    const rest = 'is not a parameter here and was ignored. Parameters: routingKey, lastEventId.';
    expect(listener.comments).toEqual([
      `from ${listener.begin}`,
      `warning: "routingkey" ${rest}`,
      `warning: "a\\nb" ${rest}`,
    ]);
  });

  it.each(['HEAD', 'POST', 'PUT', 'DELETE'])('by %s is told the method', async (method) => {
    const called = await service.call(method, '/stream', method === 'POST' ? { body: {} } : {});
    expect([called.status, called.headers.allow]).toEqual([405, 'GET']);
  });
});

describe('a token', () => {
  const grant = (changes: object) => ({
    organizations: [ORGANIZATION],
    scopes: ['model:read'],
    label: null,
    createdAt: service.clock.text(),
    expiresAt: null,
    ...changes,
  });
  const save = (changes: object = {}) => service.service.store.write((tx) => saveToken(tx, 'short', grant(changes)));

  it.each<[string, string, () => Promise<unknown>]>([
    ['is revoked', 'is unknown', () => service.service.store.write((tx) => revokeTokenText(tx, 'short'))],
    ['loses its scope', 'scope', () => save({ scopes: ['model:write'] })],
    ['is for another organization', 'not for this organization', () => save({ organizations: [OTHER_ORGANIZATION] })],
    ['is for fewer locations', 'for other locations', () => save({ locations: [LOCATIONS.home] })],
    ['expires', 'expired', async () => service.clock.advance(3_600_000)],
  ])('that %s ends the stream before the next message', async (_name, why, change) => {
    await save({ expiresAt: new Date(service.clock.now() + 3_600_000).toISOString() });
    const listener = await hear({ token: 'short' });
    await postTag();
    await listener.heard(1);
    await change();
    await postTag();
    await listener.ended;
    expect(listener.events).toHaveLength(1);
    expect(listener.comments.at(-1)).toContain(why);
  });
});

describe('silence', () => {
  it('is filled with heartbeats that tell the position', async () => {
    const quick = await testService(bareRecords(), { listeners: { heartbeatMs: 20 } });
    const listener = await listen(await address(quick));
    await expect.poll(() => listener.comments.length).toBeGreaterThan(2);
    expect(listener.comments.slice(0, 2)).toEqual([`from ${listener.begin}`, `heartbeat ${listener.begin}`]);
    listener.close();
    await quick.close();
  });

  it('is also what a listener hears while others get messages, and needs not be told of again', {
    timeout: 60_000,
  }, async () => {
    const quick = await testService(bareRecords(), { listeners: { heartbeatMs: 500 } });
    const listener = await listen(await address(quick), { query: '?routingKey=*.*.DocumentV1.*' });
    let posted = 0;
    const told = () => listener.comments.map((comment) => numberIn(comment.replace(/^heartbeat /, '')));
    // Heartbeats come while there is no pause, and tell how far it has come.
    while (!told().some((number) => number > listener.position)) {
      const body = { tagText: `other ${++posted}`, isPredefined: false, tagType: 'PAYMENT_TAG' };
      await quick.call('POST', '/transactiontags', { body });
    }
    expect(listener.events).toEqual([]);
    listener.close();
    await quick.close();
  });

  it('does not end when another process writes', async () => {
    const listener = await hear();
    const { openFolder } = await import('../../../src/server/datafolder.ts');
    const database = service.database === undefined ? {} : { database: service.database };
    const other = await openFolder(service.path, { serving: false, ...database });
    const own = (await findOrganization(other.service.store.read, ORGANIZATION)) as Organization;
    await other.service.store.write((tx) => appendMessage(tx, messageBy(own)));
    await other.close();
    expect((await listener.heard(1))[0]?.message.sendTime).toBe('now');
  });
});

describe('a stream', () => {
  it('is no request that takes too long (D43)', async () => {
    const app = await buildApp(service.service, {
      log: { answered() {}, failed() {} },
      timeouts: { requestMs: 1000 },
      rateLimit: 0,
      behindProxy: false,
      listeners: { heartbeatMs: 20 },
    });
    const listener = await listen(await address({ app }));
    await expect.poll(() => listener.comments.length).toBeGreaterThan(2);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const heard = listener.comments.length;
    await expect.poll(() => listener.comments.length).toBeGreaterThan(heard);
    listener.close();
    await app.close();
  });
});

describe('a server that is closed', () => {
  it('ends its streams at once', async () => {
    const short = await testService([]);
    await short.import(bareRecords());
    const listener = await listen(await address(short));
    await short.close();
    await listener.ended;
    expect(listener.response.complete).toBe(true);
  });
});
