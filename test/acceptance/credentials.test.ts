import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { molarIn } from './inprocess.ts';
import { ORGANIZATION, PATIENT, TOKEN } from './molar.ts';
import { servedPractice } from './servedpractice.ts';

const practice = servedPractice(3);

const DATA = ['--data', 'd'];
const FOR = ['--for', ORGANIZATION];
const server = (...args: readonly string[]) => molarIn(practice.path, ['server', ...args, ...DATA]);

/** What a command prints with `--json`. */
async function json<T>(...args: readonly string[]): Promise<T> {
  const ended = await server(...args, '--json');
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(ended.stdout) as T;
}

const headers = (token: string) => ({ authorization: `Bearer ${token}`, 'organization-id': ORGANIZATION });
const status = async (token: string, method = 'GET') =>
  (await fetch(`${practice.served.url}/api/v1/patients/${PATIENT}`, { method, headers: headers(token) })).status;

async function grant(id: string, secret: string): Promise<{ status: number; token: string }> {
  const body = new URLSearchParams({ client_id: id, client_secret: secret });
  const path = '/oauth/client_credential/accesstoken?grant_type=client_credentials';
  const response = await fetch(`${practice.served.url}${path}`, { method: 'POST', body });
  const { access_token = '' } = (await response.json()) as { access_token?: string };
  return { status: response.status, token: access_token };
}

interface Token {
  readonly id: string;
  readonly token: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

test('a token ends after 90 days, tells when it was used, and is replaced while the server runs', async () => {
  const made = await json<Token>('tokens', 'create', ...FOR, '--read-only', '--locations', '7000000000005');
  expect(Date.parse(made.expiresAt) - Date.parse(made.createdAt)).toBe(90 * 86_400_000);
  expect([await status(made.token), await status(made.token, 'DELETE')]).toEqual([200, 405]);
  const row = async () =>
    (await json<{ id: string; lastUsedAt: string }[]>('tokens', 'list')).find(({ id }) => id === made.id);
  await expect.poll(row).toMatchObject({
    readOnly: true,
    locations: [7000000000005],
    lastUsedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/),
  });
  const next = await server('tokens', 'rotate', made.id, '--overlap', '0');
  expect(next).toMatchObject({ code: 0, stdout: expect.stringMatching(/^molar_[\w-]{43}\n$/) });
  expect([await status(made.token), await status(next.stdout.trim())]).toEqual([401, 200]);
});

test.each([
  [['tokens', 'create', ...FOR, '--locations', '4711'], 2, '--locations'],
  [['tokens', 'create', ...FOR, '--expires', 'soon'], 2, '--expires'],
  [['clients', 'create', '--for', 'nobody'], 2, '--for'],
  [['tokens', 'rotate', 'nosuch'], 4, 'nosuch'],
  [['clients', 'rotate', 'nosuch'], 4, 'nosuch'],
  [['clients', 'revoke', 'nosuch'], 4, 'nosuch'],
])('%j exits with %i', async (args, code, said) => {
  expect(await server(...args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(said) });
});

test('a client signs in with either secret during the overlap, and ends with its tokens when it is revoked', async () => {
  const made = await json<{ clientId: string; clientSecret: string }>('clients', 'create', ...FOR, '--label', 'app');
  const { token } = await grant(made.clientId, made.clientSecret);
  expect(await status(token)).toBe(200);
  const next = await json<{ clientSecret: string }>('clients', 'rotate', made.clientId, '--overlap', '1h');
  const both = [made, next].map(({ clientSecret }) => grant(made.clientId, clientSecret));
  expect((await Promise.all(both)).map((each) => each.status)).toEqual([200, 200]);
  const listed = await server('clients', 'list', '--json');
  expect(listed.stdout).toContain(made.clientId);
  expect(listed.stdout).not.toContain(made.clientSecret);
  expect((await server('clients', 'revoke', made.clientId)).code).toBe(0);
  expect([await status(token), (await grant(made.clientId, next.clientSecret)).status]).toEqual([401, 401]);
});

test('a key of links is replaced on a running server, and withdrawn at once', async () => {
  const body = JSON.stringify({ name: 'scan', mimeType: 'PDF', file: { content: 'JVBERi0xLjQ=' } });
  const post = await fetch(`${practice.served.url}/api/v1/documents`, {
    ...{ method: 'POST', body },
    headers: { ...headers(TOKEN), 'content-type': 'application/json' },
  });
  const { data } = (await post.json()) as { data: { id: number; storage: { original: string } } };
  const opens = async (url: string) => (await fetch(url)).status;
  const link = async () => {
    const got = await fetch(`${practice.served.url}/api/v1/documents/${data.id}`, { headers: headers(TOKEN) });
    return ((await got.json()) as typeof post & { data: { storage: { original: string } } }).data.storage.original;
  };
  const early = data.storage.original;
  const { id } = await json<{ id: string }>('keys', 'rotate');
  await expect.poll(link).toContain(`key=${id}&`);
  const later = await link();
  expect([await opens(early), await opens(later)]).toEqual([200, 200]);
  const keys = await json<Record<string, unknown>[]>('keys', 'list');
  expect(keys.map(({ endsAt }) => endsAt === null)).toEqual([true, false]);
  expect(keys.every((key) => Object.keys(key).join() === 'id,createdAt,endsAt')).toBe(true);
  expect((await server('keys', 'rotate', '--now')).code).toBe(0);
  expect([await opens(early), await opens(later)]).toEqual([403, 403]);
});

test('an import takes credentials only with the flag', async () => {
  const token = 'sixteen-letters!';
  const line = { type: 'AccessToken', token, organizations: [ORGANIZATION], scopes: ['model:read'] };
  await writeFile(join(practice.path, 'token.ndjson'), JSON.stringify(line));
  const refused = await server('import', 'token.ndjson');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/line 1.*--allow-credentials/s);
  expect(await status(token)).toBe(401);
  expect((await server('import', 'token.ndjson', '--allow-credentials')).code).toBe(0);
  expect(await status(token)).toBe(200);
  await writeFile(join(practice.path, 'weak.ndjson'), JSON.stringify({ ...line, token: 'x' }));
  const weak = await server('import', 'weak.ndjson', '--allow-credentials');
  expect(weak).toMatchObject({ code: 2, stderr: expect.stringContaining('line 1, token') });
});
