import { createHash, scryptSync } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { DEFAULT_ATTEMPTS } from '../../../src/server/http/attempts.ts';
import { matchingHash, secretHash } from '../../../src/server/tokens/secrets.ts';
import { findGrantByHash, tokenHash } from '../../../src/server/tokens/tokens.ts';
import { type Called, refusalOf } from '../../support/calls.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { hashingSlowly } from '../../support/quickhashes.ts';
import { sharedService, type TestService, testService } from '../../support/service.ts';

const SECRET = 'a client secret of its own';
const CLIENT = {
  type: 'ApiClient',
  clientId: 'client',
  clientSecret: SECRET,
  organizations: [ORGANIZATION],
  scopes: ['model:read'],
};
const records = () => [...bareRecords(), CLIENT];
const service = sharedService(records);

function grant(
  at: TestService,
  secret: string,
  headers: Readonly<Record<string, string>> = {},
  clientId = 'client',
): Promise<Called> {
  const body = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret };
  const path = '//oauth/client_credential/accesstoken';
  return at.call('POST', path, { token: null, organization: null, headers, body });
}

describe('what is stored', () => {
  it('is the SHA-256 of a token, which it is found by, and no token', async () => {
    const rows = await service.service.store.read.all<{ hash: string }>(sql`SELECT hash FROM access_tokens`);
    const hashes = Object.values(TOKENS).map((token) => createHash('sha256').update(token).digest('hex'));
    expect(rows.map(({ hash }) => hash).toSorted()).toEqual(hashes.toSorted());
    expect((await findGrantByHash(service.service.store.read, tokenHash(TOKENS.read)))?.scopes).toEqual(['model:read']);
  });

  it('is asked for by the whole hash, so that no comparison tells how much of a token was right', async () => {
    const asked: unknown[][] = [];
    const read = {
      get: async (query: { values: unknown[]; text: string }) => void asked.push([query.text, ...query.values]),
    };
    await findGrantByHash(read as unknown as Parameters<typeof findGrantByHash>[0], tokenHash('any-token'));
    const hash = createHash('sha256').update('any-token').digest('hex');
    expect(asked).toEqual([[expect.stringMatching(/WHERE hash = \$1$/), hash]]);
  });

  it('is a token or a secret in no file of the data folder', async () => {
    const at = await testService(records(), { store: 'sqlite' });
    const issued = JSON.parse((await grant(at, SECRET)).text) as { access_token: string };
    const found = await readdir(at.path, { recursive: true, withFileTypes: true });
    const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(files.some((file) => file.endsWith('-wal'))).toBe(true);
    const secrets = [issued.access_token, SECRET, ...Object.values(TOKENS)];
    const bytes = await Promise.all(files.map((file) => readFile(file)));
    expect(bytes.some((each) => each.includes('model:read'))).toBe(true);
    expect(secrets.filter((secret) => bytes.some((each) => each.includes(secret)))).toEqual([]);
    await at.close();
  });

  it('is a salted hash of a client secret that is slow to make', async () => {
    const [, salt = '', hash] = (await hashingSlowly(() => secretHash(SECRET))).split('$');
    const slow = scryptSync(SECRET, Buffer.from(salt, 'base64url'), 32, { N: 16_384, r: 8, p: 1 });
    expect(hash).toBe(slow.toString('base64url'));
  });

  it('is another hash of a client secret each time', async () => {
    const [first, second] = [await secretHash(SECRET), await secretHash(SECRET)];
    expect(first).toMatch(/^scrypt\$[\w-]{22}\$[\w-]{43}$/);
    expect(first).not.toBe(second);
    expect([await matchingHash(SECRET, [first]), await matchingHash(SECRET, [second])]).toEqual([first, second]);
    for (const wrong of ['', `${SECRET} `, SECRET.slice(1), SECRET.toUpperCase()])
      expect(await matchingHash(wrong, [first])).toBeUndefined();
    for (const broken of ['', 'scrypt$', 'scrypt$AAAA$', 'plain'])
      expect([await matchingHash(SECRET, [broken]), await matchingHash('', [broken])]).toEqual([undefined, undefined]);
  });
});

describe('failed authentication', () => {
  const MOST = 4;
  // Most of these tests ask nothing of a client, whose slow hash would be made for each of them.
  const limited = (records?: Parameters<typeof testService>[0]) => testService(records, { failedAttempts: MOST });
  const bad = (at: TestService, n: number | string, headers: Readonly<Record<string, string>> = {}) =>
    at.call('GET', '/patients', { token: `bad-${n}`, headers });
  const spend = async (at: TestService) => {
    for (let n = 0; n < MOST; n++) expect((await bad(at, n)).status).toBe(401);
  };

  it('is refused with 429 when an address fails too often', async () => {
    const at = await limited();
    await spend(at);
    const called = await bad(at, 'again');
    expect(refusalOf(called)).toEqual({ status: 429, errors: ['limit.rate null'] });
    expect(called.headers['retry-after']).toBe('1');
    await at.close();
  });

  it('never keeps a valid token out, not even a new one', async () => {
    const at = await limited(records());
    await spend(at);
    for (let turn = 0; turn < 3; turn++) {
      expect((await at.call('GET', '/patients')).status).toBe(200);
      expect((await bad(at, 'more')).status).toBe(429);
    }
    const { access_token: token } = JSON.parse((await grant(at, SECRET)).text) as { access_token: string };
    expect((await bad(at, 'more')).status).toBe(429);
    expect((await at.call('GET', '/patients', { token })).status).toBe(200);
    await at.close();
  });

  it('is not what lacks a token, has an expired one or no right: none of them is a guess', async () => {
    const at = await limited();
    for (let turn = 0; turn < MOST * 3; turn++) {
      for (const token of [null, TOKENS.expired, 'two words']) {
        expect((await at.call('GET', '/patients', { token })).status).toBe(401);
      }
      expect((await at.call('GET', '/patients', { token: TOKENS.other })).status).toBe(403);
    }
    expect((await bad(at, 1)).status).toBe(401);
    await at.close();
  });

  it('is limited on every route that takes a token, known or not, and on none that takes none', async () => {
    const at = await limited();
    await spend(at);
    const paths = ['/documents/1', '/stream', '/nosuch', '/agingbalances/report', '/patients/async'];
    for (const path of paths)
      expect([path, (await at.call('GET', path, { token: 'bad-0' })).status]).toEqual([path, 429]);
    for (const path of ['//healthz', '//docs', '//nosuch'])
      expect((await at.call('GET', path)).headers['retry-after']).toBeUndefined();
    await at.close();
  });

  it('ends a token that was revoked like any other', async () => {
    const at = await limited();
    expect((await at.call('GET', '/patients')).status).toBe(200);
    await at.import([{ type: 'AccessToken', token: TOKENS.full, deleted: true }]);
    for (let turn = 0; turn < MOST; turn++) expect((await at.call('GET', '/patients')).status).toBe(401);
    expect((await at.call('GET', '/patients')).status).toBe(429);
    await at.close();
  });

  it('counts a wrong client secret ten times, and a right one not at all', async () => {
    const at = await testService(records(), { failedAttempts: 25 });
    for (let turn = 0; turn < 4; turn++) expect((await grant(at, SECRET)).status).toBe(200);
    const found: number[] = [];
    for (let turn = 0; turn < 4; turn++) found.push((await grant(at, 'wrong')).status);
    expect(found).toEqual([401, 401, 429, 429]);
    const refused = await grant(at, SECRET);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
    at.clock.advance(5000);
    expect((await grant(at, SECRET)).status).toBe(200);
    await at.close();
  });

  it('of a client is of that client from that address: everybody else signs in', async () => {
    const at = await testService([...records(), { ...CLIENT, clientId: 'other' }], {
      failedAttempts: 25,
      behindProxy: true,
    });
    const sign = async (secret: string, clientId: string, address: string) =>
      (await grant(at, secret, { 'x-forwarded-for': address }, clientId)).status;
    const guesses = Array.from({ length: 20 }, () => sign('wrong', 'client', '192.0.2.1'));
    expect((await Promise.all(guesses)).toSorted()).toEqual([401, 401, ...Array(18).fill(429)]);
    expect(await sign(SECRET, 'client', '192.0.2.1')).toBe(429);
    expect(await sign(SECRET, 'other', '192.0.2.1')).toBe(200);
    expect(await sign(SECRET, 'client', '192.0.2.2')).toBe(200);
    for (let n = 0; n < 3; n++) expect(await sign('wrong', `invented ${n}`, '192.0.2.3')).toBe(401);
    expect(await sign(SECRET, 'client', '192.0.2.3')).toBe(200);
    const token = { headers: { 'x-forwarded-for': '192.0.2.1' } };
    expect((await at.call('GET', '/patients', token)).status).toBe(200);
    await at.close();
  });

  it('is told by the address that the proxy in front adds, not by what a caller writes there', async () => {
    const at = await testService(undefined, { failedAttempts: MOST, behindProxy: true });
    const from = (chain: string) => ({ 'x-forwarded-for': chain });
    const found: number[] = [];
    for (let n = 0; n <= MOST; n++) found.push((await bad(at, n, from(`203.0.113.${n}, 198.51.100.7`))).status);
    expect(found).toEqual([401, 401, 401, 401, 429]);
    expect((await bad(at, 'x', from('198.51.100.7, 198.51.100.8'))).status).toBe(401);
    await at.close();
  });

  it('is not told by a header when no proxy is in front', async () => {
    const at = await limited();
    const found: number[] = [];
    for (let n = 0; n <= MOST; n++) found.push((await bad(at, n, { 'x-forwarded-for': `203.0.113.${n}` })).status);
    expect(found).toEqual([401, 401, 401, 401, 429]);
    await at.close();
  });

  it('is limited unless something else is said', async () => {
    expect(DEFAULT_ATTEMPTS).toBe(300);
  });
});

describe('the audit log behind a proxy', () => {
  it('has the address that the proxy added', async () => {
    const at = await testService(undefined, { behindProxy: true });
    await at.call('GET', '/patients', { headers: { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' } });
    await at.service.reads.flush();
    const rows = await at.service.store.read.all<{ address: string }>(
      sql`SELECT address FROM audit_entries WHERE operation = 'patients.list'`,
    );
    expect(rows).toEqual([{ address: '198.51.100.7' }]);
    await at.close();
  });
});
