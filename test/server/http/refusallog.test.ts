import { expect, it } from 'vitest';
import { buildApp } from '../../../src/server/http/app.ts';
import { openLog } from '../../../src/server/log.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { sharedService } from '../../support/service.ts';

const SECRET = 'a secret that nobody must see';
const CLIENT = {
  type: 'ApiClient',
  clientId: 'known',
  clientSecret: SECRET,
  organizations: [ORGANIZATION],
  scopes: [],
};
const opened = sharedService(() => [...bareRecords(), CLIENT]);

/** The lines that a server behind a proxy logs of some requests. */
async function linesOf(...requests: readonly object[]): Promise<Record<string, unknown>[]> {
  const written: string[] = [];
  const app = await buildApp(opened.service, {
    log: openLog('info', { write: (text) => written.push(text) }),
    timeouts: { requestMs: 10_000 },
    behindProxy: true,
    rateLimit: 1,
    failedAttempts: 10,
  });
  for (const request of requests) await app.inject({ remoteAddress: '192.0.2.1', ...request });
  await app.close();
  const all = written.join('');
  for (const secret of [SECRET, 'token-invented', ...Object.values(TOKENS)]) expect(all).not.toContain(secret);
  expect(
    written.every((line) => /^[ -~]+\n$/.test(line)),
    all,
  ).toBe(true);
  return written.map((line) => JSON.parse(line));
}

const read = (token: string, more: object = {}) => ({
  url: '/api/v1/patients',
  headers: { authorization: `Bearer ${token}`, 'organization-id': ORGANIZATION, ...more },
});
const signIn = (clientId: string, clientSecret: string) => ({
  method: 'POST',
  url: '/oauth/client_credential/accesstoken',
  payload: { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
});
/** The id of a token: the first twelve digits of its SHA-256. */
const named = async (token: string) =>
  Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(token)))
    .toString('hex')
    .slice(0, 12);

it('the line of a refusal has the address, and the token or client that was named', async () => {
  const lines = await linesOf(
    read('token-invented', { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' }),
    read(TOKENS.none),
    read(TOKENS.expired),
    signIn('known', 'wrong'),
    signIn('known', SECRET),
    ...Array.from({ length: 3 }, () => read(TOKENS.read)),
  );
  const own = { address: '192.0.2.1' };
  expect(lines).toMatchObject([
    { status: 401, address: '198.51.100.7' },
    { status: 403, ...own, token: await named(TOKENS.none) },
    { status: 401, ...own, token: await named(TOKENS.expired) },
    { status: 401, ...own, client: 'known' },
    { status: 429, ...own, client: 'known' },
    { status: 200 },
    { status: 200 },
    { status: 429, ...own, token: await named(TOKENS.read) },
  ]);
  expect(lines[0]).not.toHaveProperty('token');
  expect(lines[5]).not.toHaveProperty('address');
});

it('a client id cannot write a line of its own, nor drive a terminal', async () => {
  const [line] = await linesOf(signIn(`a\n{"level":30}\u001b[2J\u009b\u202e\u2028${'x'.repeat(5000)}`, 'wrong'));
  expect(line).toMatchObject({ status: 401, client: expect.stringMatching(/^a\\u\{a\}\{"level":30\}\\u\{1b\}\[2J/) });
  expect(String(line?.client).length).toBeLessThan(300);
});
