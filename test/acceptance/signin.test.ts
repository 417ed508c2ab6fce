import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issuerKey, TestIssuer } from '../support/issuer.ts';
import { molarIn } from './inprocess.ts';
import { connection, ORGANIZATION, type Served, serve, workplace, writeFixture } from './molar.ts';

const AUDIENCE = 'molar';

let place: Awaited<ReturnType<typeof workplace>>;
let issuer: TestIssuer;
let served: Served;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, 5);
  const rule = { when: { groups: 'front desk' }, organizations: [ORGANIZATION], scopes: ['model:read'] };
  await writeFile(join(place.path, 'claims.json'), JSON.stringify({ rules: [rule] }));
  await writeFile(join(place.path, 'bad.json'), JSON.stringify({ rules: [{ ...rule, location: [5] }] }));
  issuer = await TestIssuer.open('/realms/practice');
  issuer.keys = [issuerKey('RS256')];
  served = await serve(place.path, ['--data', 'd', '--import', 'fixture.ndjson', ...oidc(issuer.url)]);
});

afterAll(async () => {
  await served?.stop();
  await issuer?.close().catch(() => {});
  await place?.remove();
});

function oidc(url: string): string[] {
  return ['--oidc-issuer', url, '--oidc-audience', AUDIENCE, '--oidc-claims', 'claims.json'];
}

/** A token of the size that issuers make when somebody is in many groups: well above 2 KB. */
function person(more: Readonly<Record<string, unknown>> = {}): string {
  const groups = ['front desk', ...Array.from({ length: 120 }, (_, n) => `practice-group-${n}`)];
  const exp = Math.floor(Date.now() / 1000) + 300;
  return issuer.token({ aud: [AUDIENCE], sub: 'auth0|ann', exp, groups, ...more });
}

// The last one ends the server, so that its log is whole.
describe('a person with a long token of the issuer', { shuffle: false }, () => {
  test('uses it from the environment, a file, standard input and a command', async () => {
    const token = person();
    expect(token.length).toBeGreaterThan(2048);
    await writeFile(join(place.path, 'token'), `${token}\n`, { mode: 0o600 });
    const { MOLAR_TOKEN: _token, ...env } = connection(served.url);
    const counted = { code: 0, stdout: '5\n', stderr: '' };
    const count = ['patients', 'count'];
    expect(await molarIn(place.path, count, connection(served.url, token))).toEqual(counted);
    expect(await molarIn(place.path, [...count, '--token-file', 'token'], env)).toEqual(counted);
    expect(await molarIn(place.path, [...count, '--token-stdin'], env, token)).toEqual(counted);
    expect(await molarIn(place.path, [...count, '--token-command', 'cat token'], env)).toEqual(counted);
  });

  test('keeps it in a profile, and whoami and doctor work with it', async () => {
    const token = person();
    const env = { MOLAR_CONFIG_DIR: join(place.path, 'config') };
    const to = ['--url', served.url, '--organization', ORGANIZATION];
    expect((await molarIn(place.path, ['login', ...to, '--token-stdin'], env, token)).code).toBe(0);
    const told = JSON.parse((await molarIn(place.path, ['whoami', '--json'], env)).stdout);
    expect(told).toMatchObject({ organization: ORGANIZATION, access: { 'model:read': true } });
    const doctor = await molarIn(place.path, ['doctor'], env);
    expect({ code: doctor.code, told: doctor.stdout.includes(token) }).toEqual({ code: 0, told: false });
  });

  test('is refused without rights, and when the token has expired', async () => {
    const exit = async (token: string) =>
      (await molarIn(place.path, ['patients', 'count'], connection(served.url, token))).code;
    expect(await exit(person({ groups: ['kitchen'] }))).toBe(3);
    expect(await exit(person({ exp: Math.floor(Date.now() / 1000) - 61 }))).toBe(3);
  });

  test('stands in the audit log under the subject', async () => {
    await molarIn(place.path, ['patients', 'count'], connection(served.url, person()));
    const audit = await molarIn(place.path, ['server', 'audit', 'export', '--format', 'ndjson', '--data', 'd']);
    const whos = audit.stdout.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line).who));
    expect(whos).toContain('person auth0|ann');
  });

  test('is not in the log, which tells of the issuer', async () => {
    const token = person();
    await molarIn(place.path, ['patients', 'count'], connection(served.url, token));
    expect(await served.stop()).toBe(0);
    const log = await served.errors;
    expect(log).toContain('keys of the issuer are known');
    expect(log).not.toContain(token.split('.')[1]);
  });
});

test('a server whose issuer is away starts, takes its own tokens, and ends', async () => {
  const away = await TestIssuer.open();
  await away.close();
  const own = await serve(place.path, ['--data', 'away', '--import', 'fixture.ndjson', ...oidc(away.url)]);
  expect(await molarIn(place.path, ['patients', 'count'], connection(own.url))).toMatchObject({
    code: 0,
    stdout: '5\n',
  });
  expect(await own.stop()).toBe(0);
  expect(await own.errors).toContain('the issuer does not answer as it should');
});

describe('what cannot be used is refused before the server starts', () => {
  const [url, audience, claims] = ['https://login.example', 'molar', 'claims.json'];
  const all = ['--oidc-issuer', url, '--oidc-audience', audience];
  const tls = ['--tls-client-ca', 'ca.pem', '--tls-client-claims', 'claims.json'];
  test.each<[string, readonly string[], RegExp]>([
    ['an issuer alone', ['--oidc-issuer', url], /--oidc-audience is missing/],
    ['rules alone', ['--oidc-claims', claims], /--oidc-issuer is missing/],
    [
      'an empty audience',
      ['--oidc-issuer', url, '--oidc-audience', '', '--oidc-claims', claims],
      /audience is missing/,
    ],
    ['rules that are not there', [...all, '--oidc-claims', 'none.json'], /none\.json cannot be read/],
    ['rules that are no JSON', [...all, '--oidc-claims', 'fixture.ndjson'], /not one JSON document/],
    ['rules with a mistyped key', [...all, '--oidc-claims', 'bad.json'], /rules\[0\] has the unknown key "location"/],
    ['an issuer over plain HTTP', oidc('http://login.example'), /must be an https: address/],
    ['an issuer that is no address', oidc('login.example'), /must be an https: address/],
    ['an issuer with a query', oidc('https://login.example/?tenant=1'), /must be an https: address/],
    ['certificates without TLS', tls, /needs --tls-cert and --tls-key/],
    ['an authority alone', tls.slice(0, 2), /--tls-client-claims is missing/],
  ])('%s', async (_name, flags, reason) => {
    const ended = await molarIn(place.path, ['serve', '--port', '0', '--data', 'never', ...flags]);
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(reason) });
  });
});
