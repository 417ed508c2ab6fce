import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { molarIn } from '../inprocess.ts';
import { ORGANIZATION, PATIENT, serve } from '../molar.ts';
import { LOCATION, OTHER_LOCATION, type Practice, practice } from './audited.ts';

const DAY = 24 * 60 * 60 * 1000;

let tested: Practice;
beforeAll(async () => {
  tested = await practice('SQLite');
});
afterAll(() => tested.end());

/** `molar server …` that prints one JSON value. */
async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await tested.server(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

/** The status that the token endpoint answers a client with, and the token. */
async function signIn(clientId: string, clientSecret: string, headers = {}) {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const url = `${tested.served.url}/oauth/client_credential/accesstoken`;
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(form), headers });
  const { access_token: token } = (await answer.json()) as { access_token?: string };
  return { status: answer.status, token: token ?? '' };
}

const idsOf = async (token: string, path: string) => {
  const { status, body } = await tested.call(token, 'GET', path);
  expect(status).toBe(200);
  return (body.data as { id: number }[]).map(({ id }) => id);
};

describe('a token', () => {
  it('lasts 90 days when nothing is said', async () => {
    const { id } = await tested.token();
    const listed = await json<{ id: string; expiresAt: string; lastUsedAt: string | null }[]>('tokens', 'list');
    const made = listed.find((token) => token.id === id);
    expect(Math.abs(Date.parse(made?.expiresAt ?? '') - Date.now() - 90 * DAY)).toBeLessThan(DAY / 24);
    expect(made?.lastUsedAt).toBeNull();
  });

  it('that only reads changes nothing, whatever its scopes', async () => {
    const { token } = await tested.token('--scope', 'model:read', '--scope', 'model:write', '--read-only');
    expect((await tested.call(token, 'PUT', `/patients/${PATIENT}`, { city: 'X' })).status).toBe(403);
    expect((await tested.call(token, 'GET', `/patients/${PATIENT}`)).status).toBe(200);
  });

  it('that is bound to a location sees nothing else, as if it did not exist', async () => {
    const { token } = await tested.token(
      '--scope',
      'model:read',
      '--scope',
      'model:write',
      '--locations',
      String(OTHER_LOCATION),
    );
    const own = Array.from({ length: 20 }, (_, index) => PATIENT + 100 + index);
    expect(await idsOf(token, '/patients?pageSize=500')).toEqual(own);
    expect((await tested.call(token, 'GET', '/patients/totalcount')).body.data).toMatchObject({
      totalCount: 20,
      total: 20,
    });
    const hidden = await tested.call(token, 'GET', `/patients/${PATIENT}`);
    const invented = await tested.call(token, 'GET', '/patients/42');
    expect(hidden.status).toBe(404);
    expect(JSON.stringify(hidden.body.errors).replaceAll(String(PATIENT), '42')).toBe(
      JSON.stringify(invented.body.errors),
    );
    const move = await tested.call(token, 'PUT', `/patients/${PATIENT + 100}`, { preferredLocation: { id: LOCATION } });
    expect(move.status).toBe(400);
    const refused = await tested.server('tokens', 'create', '--for', ORGANIZATION, '--locations', '99');
    expect(refused.code).toBe(2);
  });

  it('is rotated: the old one ends after the overlap', async () => {
    const { id, token } = await tested.token('--scope', 'model:read');
    const later = await json<{ token: string }>('tokens', 'rotate', id);
    expect((await tested.call(token, 'GET', '/patients/totalcount')).status).toBe(200);
    expect((await tested.call(later.token, 'GET', '/patients/totalcount')).status).toBe(200);
    const again = await tested.token('--scope', 'model:read');
    await json('tokens', 'rotate', again.id, '--overlap', '0');
    expect((await tested.call(again.token, 'GET', '/patients/totalcount')).status).toBe(401);
  });
});

describe('a client', () => {
  it('signs in, is rotated with overlap, and ends with every token it got', async () => {
    const made = await json<{ clientId: string; clientSecret: string }>('clients', 'create', '--for', ORGANIZATION);
    const { token, status } = await signIn(made.clientId, made.clientSecret);
    expect(status).toBe(200);
    expect((await tested.call(token, 'GET', '/patients/totalcount')).status).toBe(200);
    const next = await json<{ clientSecret: string }>('clients', 'rotate', made.clientId);
    expect((await signIn(made.clientId, made.clientSecret)).status).toBe(200);
    expect((await signIn(made.clientId, next.clientSecret)).status).toBe(200);
    expect(JSON.stringify(await json('clients', 'list'))).not.toContain(next.clientSecret);
    await json('clients', 'revoke', made.clientId);
    expect((await tested.call(token, 'GET', '/patients/totalcount')).status).toBe(401);
    expect((await signIn(made.clientId, next.clientSecret)).status).toBe(401);
  });

  it('does not sign in from the page of another site', async () => {
    const made = await json<{ clientId: string; clientSecret: string }>('clients', 'create', '--for', ORGANIZATION);
    for (const headers of [{ origin: 'https://elsewhere.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      expect((await signIn(made.clientId, made.clientSecret, headers)).status).toBe(403);
    }
    expect((await signIn(made.clientId, made.clientSecret, { origin: tested.served.url })).status).toBe(200);
  });

  it('is not locked out by wrong secrets for another', async () => {
    const made = await json<{ clientId: string; clientSecret: string }>('clients', 'create', '--for', ORGANIZATION);
    let statuses: number[] = [];
    for (let n = 0; n < 60; n++) statuses.push((await signIn('somebody-else', `wrong-secret-number-${n}`)).status);
    statuses = [...new Set(statuses)];
    expect(statuses).toContain(429);
    expect((await signIn(made.clientId, made.clientSecret)).status).toBe(200);
  });
});

describe('an import', () => {
  const line = (token: string) =>
    `${JSON.stringify({ type: 'AccessToken', token, organizations: [ORGANIZATION], scopes: ['model:read'] })}\n`;

  it('carries credentials only when that is allowed, and never weak ones', async () => {
    await writeFile(join(tested.path, 'strong.ndjson'), line('a-token-that-is-long-enough'));
    await writeFile(join(tested.path, 'weak.ndjson'), line('x'));
    const refused = await tested.server('import', join(tested.path, 'strong.ndjson'));
    expect({ code: refused.code, named: refused.stderr.includes('--allow-credentials') }).toEqual({
      code: 2,
      named: true,
    });
    expect((await tested.call('a-token-that-is-long-enough', 'GET', '/patients/totalcount')).status).toBe(401);
    expect((await tested.server('import', join(tested.path, 'weak.ndjson'), '--allow-credentials')).code).not.toBe(0);
    expect((await tested.server('import', join(tested.path, 'strong.ndjson'), '--allow-credentials')).code).toBe(0);
    expect((await tested.call('a-token-that-is-long-enough', 'GET', '/patients/totalcount')).status).toBe(200);
    const made = (await tested.entries()).filter(
      ({ operation, who }) => operation === 'tokens.create' && who === 'import',
    );
    expect(made).toHaveLength(1);
  });
});

describe('a download link', () => {
  it('names its key and whoever asked for it, and ends with the key', async () => {
    const { id, token } = await tested.token('--scope', 'model:read', '--scope', 'model:write');
    const file = { content: Buffer.from('%PDF-1.7\n').toString('base64') };
    const body = { name: 'scan', mimeType: 'PDF', ownerType: 'Patient', ownerPatient: { id: PATIENT }, file };
    const made = await tested.call(token, 'POST', '/documents', body);
    expect(made.status).toBe(201);
    const link = (made.body.data as { storage: { original: string } }).storage.original;
    const keyId = new URL(link).searchParams.get('key');
    expect((await json<{ id: string }[]>('keys', 'list')).map((key) => key.id)).toContain(keyId);
    expect(link).not.toContain(id);
    const got = await fetch(link);
    expect(got.status).toBe(200);
    const requestId = got.headers.get('x-request-id');
    expect((await tested.entries()).filter((entry) => entry.requestId === requestId)).toMatchObject([
      { operation: 'files.get', who: `token ${id}`, via: 'link', patients: [PATIENT] },
    ]);
    const url = new URL(link);
    url.searchParams.set('expires', String(Math.floor(Date.now() / 1000) + 3600));
    expect((await fetch(url)).status).toBe(403);

    expect((await tested.server('backup', join(tested.path, 'backup'))).code).toBe(0);
    const restored = await molarIn(tested.path, ['server', 'restore', 'backup', '--data', 'restored']);
    expect(restored).toMatchObject({ code: 0 });
    const other = await serve(tested.path, ['--data', 'restored']);
    expect((await fetch(link.replace(tested.served.url, other.url))).status).toBe(403);
    await other.stop();

    await json('keys', 'rotate', '--now');
    await expect.poll(async () => (await fetch(link)).status, { interval: 200 }).toBe(403);
  });
});

describe('a request', () => {
  /** What a raw request is answered with, first line only. */
  const raw = (text: string) =>
    new Promise<string>((done, fail) => {
      const { hostname, port } = new URL(tested.served.url);
      const socket = connect(Number(port), hostname, () => socket.end(text));
      let answer = '';
      socket.on('data', (bytes) => {
        answer += bytes.toString();
      });
      socket.once('error', fail);
      socket.once('close', () => done(answer.split('\r\n', 1)[0] ?? ''));
    });

  it('with two hosts is refused', async () => {
    const line = 'GET /healthz HTTP/1.1\r\n';
    expect(await raw(`${line}Host: a\r\nConnection: close\r\n\r\n`)).toContain(' 200 ');
    expect(await raw(`${line}Host: a\r\nHost: b\r\nConnection: close\r\n\r\n`)).toContain(' 400 ');
  });

  it.each([
    ['text without end', { address1: 'x'.repeat(256) }, 'address1'],
    ['a control character', { firstName: 'A\u0007B' }, 'firstName'],
    ['a control character of the second set', { lastName: 'A\u009bB' }, 'lastName'],
  ])('with %s is refused, and the field is named', async (_name, body, field) => {
    const { token } = await tested.token('--scope', 'model:read', '--scope', 'model:write');
    const { status, body: answer } = await tested.call(token, 'PUT', `/patients/${PATIENT + 1}`, body);
    expect({ status, source: answer.errors?.[0]?.source }).toEqual({ status: 400, source: field });
  });

  it('is counted against budgets that /metrics tells', async () => {
    const text = await (await fetch(`${tested.served.url}/metrics`)).text();
    for (const budget of ['async', 'answer-bytes', 'images', 'connections']) {
      expect(text).toMatch(new RegExp(`^molar_budget_limit\\{budget="${budget}"\\} \\d+$`, 'm'));
      expect(text).toMatch(new RegExp(`^molar_budget_refused_total\\{budget="${budget}"\\} 0$`, 'm'));
    }
  });
});

it('a broker with a bad address is a mistake on the command line', async () => {
  const { code } = await molarIn(tested.path, ['serve', '--data', 'x', '--port', '0', '--amqp', 'http://nowhere']);
  expect(code).toBe(2);
});
