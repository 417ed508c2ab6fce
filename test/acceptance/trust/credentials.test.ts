import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { molarIn } from '../inprocess.ts';
import { ORGANIZATION, PATIENT } from '../molar.ts';
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
  it('lasts 90 days when nothing is said, and tells the minute when it was used', async () => {
    const { id, token } = await tested.token('--scope', 'model:read');
    const listed = async () => {
      const all = await json<{ id: string; createdAt: string; expiresAt: string; lastUsedAt: string | null }[]>(
        ...['tokens', 'list'],
      );
      return all.find((one) => one.id === id);
    };
    const made = await listed();
    expect(Date.parse(made?.expiresAt ?? '') - Date.parse(made?.createdAt ?? '')).toBe(90 * DAY);
    expect(made?.lastUsedAt).toBeNull();
    await tested.call(token, 'GET', '/patients/totalcount');
    const minute = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/);
    await expect.poll(listed).toMatchObject({ lastUsedAt: minute });
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
  });

  it('is rotated: the old one ends after the overlap', async () => {
    const { id, token } = await tested.token('--scope', 'model:read');
    const later = await json<{ token: string }>('tokens', 'rotate', id);
    expect((await tested.call(token, 'GET', '/patients/totalcount')).status).toBe(200);
    expect((await tested.call(later.token, 'GET', '/patients/totalcount')).status).toBe(200);
    const again = await tested.token('--scope', 'model:read');
    const next = await tested.server('tokens', 'rotate', again.id, '--overlap', '0');
    expect(next).toMatchObject({ code: 0, stdout: expect.stringMatching(/^molar_[\w-]{43}\n$/) });
    expect((await tested.call(again.token, 'GET', '/patients/totalcount')).status).toBe(401);
    expect((await tested.call(next.stdout.trim(), 'GET', '/patients/totalcount')).status).toBe(200);
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
});

it.each([
  [['tokens', 'create', '--for', ORGANIZATION, '--locations', '99'], 2, '--locations'],
  [['tokens', 'create', '--for', ORGANIZATION, '--expires', 'soon'], 2, '--expires'],
  [['clients', 'create', '--for', 'nobody'], 2, '--for'],
  [['tokens', 'rotate', 'nosuch'], 4, 'nosuch'],
  [['clients', 'rotate', 'nosuch'], 4, 'nosuch'],
  [['clients', 'revoke', 'nosuch'], 4, 'nosuch'],
])('%j exits with %i', async (args, code, said) => {
  expect(await tested.server(...args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(said) });
});

describe('an import', () => {
  const line = (token: string) =>
    `${JSON.stringify({ type: 'AccessToken', token, organizations: [ORGANIZATION], scopes: ['model:read'] })}\n`;

  it('carries credentials only when that is allowed, and never weak ones', async () => {
    await writeFile(join(tested.path, 'strong.ndjson'), line('a-token-that-is-long-enough'));
    await writeFile(join(tested.path, 'weak.ndjson'), line('x'));
    const refused = await tested.server('import', join(tested.path, 'strong.ndjson'));
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/line 1.*--allow-credentials/s);
    expect((await tested.call('a-token-that-is-long-enough', 'GET', '/patients/totalcount')).status).toBe(401);
    const weak = await tested.server('import', join(tested.path, 'weak.ndjson'), '--allow-credentials');
    expect(weak).toMatchObject({ code: 2, stderr: expect.stringContaining('line 1, token') });
    expect((await tested.server('import', join(tested.path, 'strong.ndjson'), '--allow-credentials')).code).toBe(0);
    expect((await tested.call('a-token-that-is-long-enough', 'GET', '/patients/totalcount')).status).toBe(200);
    const made = (await tested.entries()).filter(
      ({ operation, who }) => operation === 'tokens.create' && who === 'import',
    );
    expect(made).toHaveLength(1);
  });
});

describe('a download link', () => {
  it('names its key and whoever asked for it, and ends with the key, later or at once', async () => {
    const { id, token } = await tested.token('--scope', 'model:read', '--scope', 'model:write');
    const file = { content: Buffer.from('%PDF-1.7\n').toString('base64') };
    const body = { name: 'scan', mimeType: 'PDF', ownerType: 'Patient', ownerPatient: { id: PATIENT }, file };
    const made = await tested.call(token, 'POST', '/documents', body);
    expect(made.status).toBe(201);
    const document = made.body.data as { id: number; storage: { original: string } };
    const link = document.storage.original;
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

    const rotated = await json<{ id: string }>('keys', 'rotate');
    const another = async () =>
      ((await tested.call(token, 'GET', `/documents/${document.id}`)).body.data as typeof document).storage.original;
    await expect.poll(another).toContain(`key=${rotated.id}&`);
    const later = await another();
    const opens = () => Promise.all([link, later].map(async (one) => (await fetch(one)).status));
    expect(await opens()).toEqual([200, 200]);
    const keys = await json<Record<string, unknown>[]>('keys', 'list');
    expect(keys.map(({ endsAt }) => endsAt === null)).toEqual([true, false]);
    expect(keys.every((key) => Object.keys(key).join() === 'id,createdAt,endsAt')).toBe(true);
    await json('keys', 'rotate', '--now');
    await expect.poll(opens, { interval: 200 }).toEqual([403, 403]);
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
