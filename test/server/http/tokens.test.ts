import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import sql from 'sql-template-tag';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CallOptions } from '../../support/calls.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { sharedService, testService } from '../../support/service.ts';

const SECRET = 'correct horse & battery=staple+ä';
const client = {
  type: 'ApiClient',
  clientId: 'client one',
  clientSecret: SECRET,
  organizations: [ORGANIZATION],
  scopes: ['model:read'],
};
const service = sharedService(() => [...bareRecords(), client]);

const FORM = 'application/x-www-form-urlencoded';
const PATH = '//oauth/client_credential/accesstoken';
const GRANT = { grant_type: 'client_credentials' };

function ask(
  form: Readonly<Record<string, string>>,
  query: CallOptions['query'] = GRANT,
  headers: CallOptions['headers'] = {},
) {
  const body = new URLSearchParams(form).toString();
  return service.call('POST', PATH, {
    body,
    token: null,
    organization: null,
    headers: { 'content-type': FORM, ...headers },
    ...(query && { query }),
  });
}

const RIGHT = { client_id: 'client one', client_secret: SECRET };
const issued = async () => JSON.parse((await ask(RIGHT)).text) as Record<string, unknown>;

describe('POST /oauth/client_credential/accesstoken (D4)', () => {
  it('gives a token for the organizations and scopes of the client, for an hour', async () => {
    const called = await ask(RIGHT);
    expect([called.status, called.headers['cache-control']]).toEqual([200, 'no-store']);
    const answer = JSON.parse(called.text) as Record<string, string>;
    expect(answer).toEqual({
      access_token: expect.stringMatching(/^[\x21-\x7e]{20,}$/),
      token_type: 'Bearer',
      expires_in: '3600',
    });
    const read = () => service.call('GET', '/patients', { token: answer.access_token ?? '' });
    expect((await read()).status).toBe(200);
    expect((await service.call('POST', '/patients', { token: answer.access_token ?? '', body: {} })).status).toBe(403);
    service.clock.advance(3_599_999);
    expect((await read()).status).toBe(200);
    service.clock.advance(1);
    expect((await read()).body.errors[0]?.code).toBe('auth.token_expired');
  });

  it('gives another token each time, and keeps none of them in the clear', async () => {
    const [first, second] = [await issued(), await issued()];
    expect(first.access_token).not.toBe(second.access_token);
    const kept = JSON.stringify([
      await service.service.store.read.all(sql`SELECT * FROM access_tokens`),
      await service.service.store.read.all(sql`SELECT * FROM api_clients`),
    ]);
    for (const secret of [first.access_token, second.access_token, SECRET, TOKENS.full])
      expect(kept).not.toContain(secret);
  });

  it('takes the grant type in the form too', async () => {
    expect((await ask({ ...RIGHT, ...GRANT }, {})).status).toBe(200);
  });

  it.each([
    ['a wrong secret', { ...RIGHT, client_secret: 'wrong' }],
    ['a secret in other letters', { ...RIGHT, client_secret: SECRET.toUpperCase() }],
    ['an unknown client', { ...RIGHT, client_id: 'nosuch' }],
  ])('refuses %s with 401', async (_name, form) => {
    const called = await ask(form);
    expect(called.status).toBe(401);
    expect(called.body).toMatchObject({ statusCode: 401, data: null, errors: [{ code: 'auth.client_refused' }] });
  });

  it('does not tell a wrong secret from an unknown client', async () => {
    const [secret, unknown] = [
      await ask({ ...RIGHT, client_secret: 'wrong' }),
      await ask({ ...RIGHT, client_id: 'nosuch' }),
    ];
    expect(secret.text).toBe(unknown.text);
  });

  it.each([
    ['no grant type', RIGHT, {}, ['grant_type']],
    ['another grant type', RIGHT, { grant_type: 'password' }, ['grant_type']],
    ['an empty grant type', RIGHT, { grant_type: '' }, ['grant_type']],
    ['no fields', {}, GRANT, ['client_id', 'client_secret']],
    ['no secret', { client_id: 'x' }, GRANT, ['client_secret']],
    ['an empty client', { ...RIGHT, client_id: '' }, GRANT, ['client_id']],
  ])('refuses %s with 400', async (_name, form, query, sources) => {
    const called = await ask(form as Record<string, string>, query);
    expect(called.status).toBe(400);
    expect(called.body.errors.map((error) => error.source)).toEqual(sources);
  });

  it.each([
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'nonsense' }, 403],
    [{ origin: 'http://localhost:81' }, 403],
    [{ origin: 'http://localhost.evil.example' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ origin: 'http://localhost', 'sec-fetch-site': 'cross-site' }, 403],
    [{ origin: 'http://localhost', 'sec-fetch-site': 'same-origin' }, 200],
    [{ origin: 'https://a.example:8443', host: 'a.example:8443' }, 200],
    [{ origin: 'https://a.example', host: 'a.example:443' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
  ])('of a page with %j: %i', async (headers, status) => {
    const called = await ask(RIGHT, GRANT, headers as Record<string, string>);
    expect(called.status).toBe(status);
    if (status === 403) expect(called.body.errors[0]?.code).toBe('auth.origin');
  });

  it('does not count what pages of other sites try', async () => {
    const limited = await testService([...bareRecords(), client], { failedAttempts: 10 });
    const signIn = (secret: string, headers: Record<string, string> = {}) =>
      limited.call('POST', PATH, {
        body: { ...GRANT, client_id: 'client one', client_secret: secret },
        token: null,
        organization: null,
        headers,
      });
    for (let turn = 0; turn < 20; turn++) {
      expect((await signIn('wrong', { origin: 'https://evil.example' })).status).toBe(403);
    }
    expect((await signIn(SECRET)).status).toBe(200);
    await limited.close();
  });

  it('does not count what failed for another reason than the secret', async () => {
    const limited = await testService([...bareRecords(), client], { failedAttempts: 10 });
    onTestFinished(() => limited.close());
    const body = { ...GRANT, client_id: 'client one', client_secret: SECRET };
    const signIn = async () => (await limited.call('POST', PATH, { body, token: null, organization: null })).status;
    const write = vi.spyOn(limited.service.store, 'write').mockRejectedValue(new Error('The database is away.'));
    for (let turn = 0; turn < 20; turn++) await expect(signIn()).rejects.toThrow('The database is away.');
    write.mockRestore();
    expect(await signIn()).toBe(200);
  });

  it('gives no token to a caller who has left while others were checked', async () => {
    const asked = await testService([...bareRecords(), client]);
    onTestFinished(() => asked.close());
    const url = await asked.app.listen({ host: '127.0.0.1', port: 0 });
    const body = JSON.stringify({ ...GRANT, client_id: 'client one', client_secret: SECRET });
    const post = () => {
      const headers = { 'content-type': 'application/json' };
      return request(url + PATH.slice(1), { method: 'POST', agent: false, headers })
        .on('error', () => {})
        .on('response', (response) => response.resume())
        .end(body);
    };
    const served = async () => ((await once(asked.app.server, 'request')) as [IncomingMessage])[0];
    const { store } = asked.service;
    const { write } = store;
    let goOn = () => {};
    const gone = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    // The check of the first lasts until the second has left.
    const begun = new Promise<void>((resolve) => {
      vi.spyOn(store, 'write').mockImplementationOnce(async (work, org) => {
        resolve();
        await gone;
        return write(work, org);
      });
    });
    const first = once(post(), 'response');
    await begun;
    const second = served();
    const leaving = post();
    const { socket } = await second;
    leaving.destroy();
    await once(socket, 'close');
    goOn();
    await first;
    const third = once(post(), 'response');
    expect(((await third) as [IncomingMessage])[0].statusCode).toBe(200);
    const tokens = await store.read.all(sql`SELECT id FROM access_tokens WHERE client_id = 'client one'`);
    expect(tokens).toHaveLength(2);
  });

  it('refuses other media types and methods', async () => {
    expect((await ask(RIGHT, GRANT, { 'content-type': 'text/plain' })).status).toBe(415);
    expect([404, 405]).toContain((await service.call('GET', PATH, { token: null, organization: null })).status);
  });

  it('forgets a client that an import deletes or changes', async () => {
    const clientId = 'client two';
    const status = async (secret: string) => (await ask({ client_id: clientId, client_secret: secret })).status;
    await service.import([{ ...client, clientId }]);
    expect(await status(SECRET)).toBe(200);
    await service.import([{ ...client, clientId, clientSecret: 'another secret than before' }]);
    expect([await status(SECRET), await status('another secret than before')]).toEqual([401, 200]);
    await service.import([{ type: 'ApiClient', clientId, deleted: true }]);
    expect(await status('another secret than before')).toBe(401);
  });
});

describe('imported tokens', () => {
  const MINE = 'a-token-of-my-own';
  const token = { type: 'AccessToken', token: MINE, organizations: [ORGANIZATION], scopes: ['model:read'] };
  const status = async () => (await service.call('GET', '/patients', { token: MINE })).status;

  it('work, change and go with imports', async () => {
    expect(await status()).toBe(401);
    await service.import([token]);
    expect(await status()).toBe(200);
    await service.import([{ ...token, scopes: ['model:write'] }]);
    expect(await status()).toBe(403);
    await service.import([{ ...token, expiresAt: '2020-01-01T00:00:00Z' }]);
    expect(await status()).toBe(401);
    await service.import([{ ...token, expiresAt: '2999-01-01T00:00:00Z' }]);
    expect(await status()).toBe(200);
    await service.import([{ type: 'AccessToken', token: MINE, deleted: true }]);
    expect(await status()).toBe(401);
  });
});
