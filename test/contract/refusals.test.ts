import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { NOWHERE, OTHER_ORGANIZATION, TOKENS } from '../support/ids.ts';
import { bareRecords, tokenRecords } from '../support/practice.ts';
import { sharedService, testService } from '../support/service.ts';
import { type Entry, entriesOf, storedEntries } from './trail.ts';

const service = sharedService(undefined, { behindProxy: true });

let addresses = 0;

/** An address that no other test sends from: of one only so many refusals a second have entries of their own. */
const nextAddress = () => `203.0.113.${++addresses}`;

/** The entries of a refused request, which need not be there when it is answered. */
async function refused(
  work: (
    headers: Record<string, string>,
  ) => Promise<{ status: number; headers: Readonly<Record<string, string | undefined>> }>,
) {
  const address = nextAddress();
  let answer = { status: 0, headers: {} as Readonly<Record<string, string | undefined>> };
  const entries = await entriesOf(service, async () => {
    answer = await work({ 'x-forwarded-for': address });
    await service.service.reads.flush();
  });
  expect(entries).toHaveLength(1);
  expect(entries[0]).toMatchObject({ operation: 'refused', address, ids: [], patients: [] });
  expect(entries[0]?.status).toBe(answer.status);
  expect(entries[0]?.request_id).toBe(answer.headers['x-request-id']);
  return entries[0] as Entry;
}

const NOBODY = { who: '', client: null, org: null };
const SOMEBODY = { who: expect.stringMatching(/^token [0-9a-f]{12}$/), client: null };

it.each([
  ['no token', 401, '/patients', { token: null }, NOBODY],
  ['an unknown token', 401, '/patients', { token: 'token-that-nobody-made' }, NOBODY],
  ['an expired token', 401, '/patients', { token: TOKENS.expired }, { ...SOMEBODY, org: null }],
  ['another organization', 403, '/patients', { organization: OTHER_ORGANIZATION }, { ...SOMEBODY, org: null }],
  ['no scope for it', 403, '/patients', { token: TOKENS.practice }, { ...SOMEBODY, org: 1 }],
  ['no scope for the stream', 403, '/stream', { token: TOKENS.practice }, { ...SOMEBODY, org: 1 }],
  ['no token for an unknown route', 401, '/nonsense', { token: null }, NOBODY],
  ['a link that is signed by nobody', 403, '//files/x/documents/1/original?expires=1&signature=x', {}, NOBODY],
])('a request with %s is an entry', async (_name, status, path, options, named) => {
  const entry = await refused((headers) => service.call('GET', path, { ...options, headers }));
  expect(entry).toMatchObject({ status, ...named });
  expect(JSON.stringify(entry)).not.toContain('token-');
});

const signIn = (client: string, from: Record<string, string>) => ({
  method: 'POST' as const,
  url: '/oauth/client_credential/accesstoken?grant_type=client_credentials',
  headers: { 'content-type': 'application/x-www-form-urlencoded', ...from },
  payload: new URLSearchParams({ client_id: client, client_secret: 'a-secret-that-must-not-be-told' }).toString(),
});

it('a client that is refused is named, without its secret and as the database keeps it', async () => {
  const client = `desk\u0000\u0007${'x'.repeat(300)}`;
  const entry = await refused(async (from) => {
    const { statusCode, headers } = await service.app.inject(signIn(client, from));
    return { status: statusCode, headers: headers as Record<string, string> };
  });
  expect(entry).toMatchObject({ status: 401, who: '', client: `desk\u{FFFD}\u{FFFD}${'x'.repeat(249)}` });
  expect(JSON.stringify(entry)).not.toContain('a-secret-that-must-not-be-told');
  const { verifyLog } = await import('../../src/server/audit/verify.ts');
  await service.service.store.sequenceEntries();
  expect((await verifyLog(service.service.store.read)).problems).toEqual([]);
});

it('what is not refused for who sent it is none', async () => {
  const entries = await entriesOf(service, async () => {
    expect((await service.call('GET', `/patients/${NOWHERE}`)).status).toBe(404);
    expect((await service.call('GET', '/patients', { query: { filter: 'x' } })).status).toBe(400);
    await service.service.reads.flush();
  });
  expect(entries).toEqual([]);
});

it('a request over the rate limit is one', async () => {
  const limited = await testService(bareRecords(), { rateLimit: 1 });
  for (let n = 0; n < 2; n++) expect((await limited.call('GET', '/patients')).status).toBe(200);
  const entries = await entriesOf(limited, async () => {
    expect((await limited.call('GET', '/patients')).status).toBe(429);
    await limited.service.reads.flush();
  });
  expect(entries).toMatchObject([{ operation: 'refused', status: 429, org: 1, ...SOMEBODY }]);
  await limited.close();
});

it('while nothing can be written is told of all the same, as soon as that is possible again', async () => {
  const attacked = await testService([...bareRecords(), ...tokenRecords()], { behindProxy: true });
  const { store } = attacked.service;
  const { appendLogs } = store;
  const attempt = (address: string, token: string = TOKENS.expired) =>
    attacked.call('GET', '/patients', { token, headers: { 'x-forwarded-for': address } });
  const entries = await entriesOf(attacked, async () => {
    store.appendLogs = () => Promise.reject(new Error('the disk is full'));
    expect((await attempt('192.0.2.1', TOKENS.full)).status).toBe(503);
    await Promise.all(Array.from({ length: 12 }, () => attempt('198.51.100.8')));
    await attempt('203.0.113.10');
    store.appendLogs = appendLogs;
    const summed = async () => (await storedEntries(attacked)).filter(({ record_count }) => record_count === 2);
    await expect.poll(async () => (await summed()).length).toBe(1);
  });
  const refusals = entries.filter(({ operation }) => operation === 'refused');
  const single = refusals.filter(({ record_count }) => record_count === null);
  const addresses = single.map(({ address }) => address).sort();
  expect(addresses).toEqual([...Array(10).fill('198.51.100.8'), '203.0.113.10']);
  for (const entry of single) expect(entry).toMatchObject({ status: 401, ...SOMEBODY });
  await attacked.close();
});

it('refusals that are counted together are told of when the server ends before the second does', async () => {
  const data = await mkdtemp(join(tmpdir(), 'molar-refusals-'));
  const attacked = await testService([...bareRecords(), ...tokenRecords()], { data });
  await Promise.all(Array.from({ length: 12 }, (_, n) => attacked.call('GET', '/patients', { token: `guess-${n}` })));
  await attacked.close();
  const again = await testService([], { data });
  const refusals = (await storedEntries(again)).filter(({ operation }) => operation === 'refused');
  expect(refusals.map(({ record_count }) => record_count)).toEqual([...Array(10).fill(null), 2]);
  await again.close();
  await rm(data, { recursive: true });
});

it('of many in a second ten of an address are single, and the others are counted in one entry', async () => {
  const attacked = await testService([...bareRecords(), ...tokenRecords()], { behindProxy: true });
  const attempt = (n: number, address: string) =>
    attacked.call('GET', '/patients', { token: `guess-${n}`, headers: { 'x-forwarded-for': address } });
  const entries = await entriesOf(attacked, async () => {
    const all = Array.from({ length: 64 }, (_, n) => attempt(n, n % 4 === 0 ? '198.51.100.7' : '203.0.113.9'));
    for (const { status } of await Promise.all(all)) expect(status).toBe(401);
    const summed = async () => (await storedEntries(attacked)).filter(({ record_count }) => record_count !== null);
    await expect.poll(async () => (await summed()).filter(({ operation }) => operation === 'refused').length).toBe(2);
  });
  for (const [address, count] of [
    ['198.51.100.7', 16],
    ['203.0.113.9', 48],
  ] as const) {
    const own = entries.filter((entry) => entry.address === address);
    expect(own.map(({ status }) => status)).toEqual(Array(own.length).fill(401));
    const single = own.filter(({ record_count }) => record_count === null);
    expect(single).toHaveLength(10);
    const sums = own.filter(({ record_count }) => record_count !== null);
    expect(sums.map(({ record_count }) => record_count)).toEqual([count - 10]);
  }
  await attacked.close();
});
