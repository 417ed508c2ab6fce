import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CertificateFacts, judgeCertificate } from '../../../src/core/doctor/certificate.ts';
import { type Doctor, diagnose } from '../../../src/core/doctor/diagnose.ts';
import { exitCodeOfFindings, type Finding } from '../../../src/core/doctor/finding.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { onWindows } from '../../support/othersystem.ts';
import { answer, clientOf, problem, Script, success } from '../transport/script.ts';

const FACTS: CertificateFacts = {
  issuers: ['Some CA', 'Root of Trust'],
  validTo: 'Jan 1 00:00:00 2030 GMT',
  problem: undefined,
  wellKnown: true,
};

const ENV = { MOLAR_URL: 'https://api.example.com', MOLAR_ORGANIZATION: 'org-1', MOLAR_TOKEN: 'secret' };

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 21, 12);

async function found(changes: Partial<Doctor>): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const doctor: Doctor = {
    flags: {},
    env: ENV,
    versions: { molar: '1.0.0', node: '22.1.0' },
    lookup: async () => ['203.0.113.7'],
    inspect: async () => FACTS,
    connect: async () => clientOf(new Script(success([]), success([]))),
    lastResponse: () => undefined,
    token: () => undefined,
    readKeyring: () => Promise.reject(new Error('It is not to be read.')),
    now: () => NOW,
    signal: new AbortController().signal,
    ...changes,
  };
  for await (const finding of diagnose(doctor)) findings.push(finding);
  return findings;
}

/** The environment of someone whose only profile has a secret. */
async function withConfig(secret: object): Promise<{ MOLAR_CONFIG_DIR: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'molar-doctor-'));
  const profiles = { a: { url: 'https://api.example.com', organization: 'org-1', secret } };
  await writeFile(join(folder, 'config.json'), JSON.stringify({ profile: 'a', profiles }));
  await chmod(join(folder, 'config.json'), 0o600);
  return { MOLAR_CONFIG_DIR: folder };
}

const last = async (changes: Partial<Doctor>) => (await found(changes)).at(-1);

describe('diagnose', () => {
  it('goes through everything', async () => {
    const findings = await found({});
    expect(findings.map(({ level }) => level)).toEqual(Array(9).fill('ok'));
    expect(exitCodeOfFindings(findings)).toBe(0);
  });

  it('ends where a name is not known', async () => {
    const lookup = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    expect(await last({ lookup })).toEqual({
      check: 'name',
      level: 'fail',
      message: 'Unknown host: api.example.com.',
      next: 'Check the spelling of the address (MOLAR_URL, --url), and whether a VPN is needed.',
      exitCode: 8,
    });
  });

  it('tells a DNS that does not answer from a name that is not known', async () => {
    const lookup = () => Promise.reject(Object.assign(new Error('no'), { code: 'EAI_AGAIN' }));
    expect(await last({ lookup })).toMatchObject({
      message: 'DNS lookup failed: api.example.com.',
      next: 'Check the network connection, VPN and DNS settings.',
      exitCode: 8,
    });
  });

  it('looks up an IPv6 address without its brackets', async () => {
    const lookup = async (host: string) => [host];
    const findings = await found({ env: { ...ENV, MOLAR_URL: 'https://[2001:db8::1]:8443' }, lookup });
    expect(findings.find(({ check }) => check === 'name')?.message).toBe('2001:db8::1 is 2001:db8::1.');
  });

  it.each([
    ['http://127.0.0.1:4010', 'ok', 'on this machine only', 'the server is on this machine'],
    ['http://[::1]:4010', 'ok', 'on this machine only', 'the server is on this machine'],
    ['http://api.example.com', 'warn', 'the token travels unencrypted', 'None.'],
  ])('takes plain http to %s as %s', async (MOLAR_URL, level, tls, proxy) => {
    const inspect = () => Promise.reject(new Error('It has no certificate.'));
    const findings = await found({ env: { ...ENV, MOLAR_URL }, flags: { allowHttp: true }, inspect });
    const finding = (check: string) => findings.find((each) => each.check === check);
    expect(finding('tls')).toMatchObject({ level, message: expect.stringContaining(tls) });
    expect(finding('proxy')?.message).toContain(proxy);
  });

  it('looks up the proxy where there is one, and does not show its password', async () => {
    const asked: string[] = [];
    const lookup = async (host: string) => {
      asked.push(host);
      return ['203.0.113.9'];
    };
    const findings = await found({ env: { ...ENV, HTTPS_PROXY: 'http://ann:hush@proxy.example.com:3128' }, lookup });
    expect(asked).toEqual(['proxy.example.com']);
    expect(findings[2]?.message).toBe('Requests go through proxy.example.com:3128 (HTTPS_PROXY).');
    expect(JSON.stringify(findings)).not.toContain('hush');
  });

  it.each([
    [0o600, 'ok'],
    [0o640, 'warn'],
    [0o604, 'warn'],
  ])('looks at who can read the profiles: mode %o', async (mode, level) => {
    const env = await withConfig({ kind: 'token', token: 'hush' });
    await chmod(join(env.MOLAR_CONFIG_DIR, 'config.json'), mode);
    const findings = await found({ env });
    expect(findings.find(({ check }) => check === 'profiles')?.level).toBe(level);
    expect(JSON.stringify(findings)).not.toContain('hush');
  });

  it('claims nothing on Windows about who can read the profiles', async () => {
    onWindows();
    const env = await withConfig({ kind: 'token', token: 'hush' });
    const path = join(env.MOLAR_CONFIG_DIR, 'config.json');
    expect((await found({ env })).find(({ check }) => check === 'profiles')).toMatchObject({
      level: 'ok',
      message: `The access list of ${path} says who can read it: icacls shows it.`,
    });
  });

  it.each<[string, Doctor['readKeyring'], string, number]>([
    ['is read', async () => 'hush', 'ok', 11],
    ['is locked', () => Promise.reject(localFailure('usage.connection', 'It is locked.')), 'fail', 4],
  ])('looks into the keyring where the secret %s', async (_name, readKeyring, level, count) => {
    const secret = { kind: 'keyring', account: 'a-1' };
    const findings = await found({ env: await withConfig(secret), readKeyring });
    expect(findings.find(({ check }) => check === 'keyring')?.level).toBe(level);
    expect(findings).toHaveLength(count);
    expect(JSON.stringify(findings)).not.toContain('hush');
  });

  it('refuses what is no address of a proxy, without its password', async () => {
    const finding = await last({ env: { ...ENV, HTTPS_PROXY: 'ftp://ann:hush@proxy.example.com' } });
    expect(finding).toMatchObject({ check: 'proxy', level: 'fail', exitCode: 2 });
    expect(JSON.stringify(finding)).not.toContain('hush');
  });

  it.each<[string, ReturnType<Doctor['token']>, string, string]>([
    ['not told', undefined, 'ok', 'Its expiry is unknown.'],
    [
      'past by the clock of this computer',
      { expiresAt: NOW - DAY, scopes: undefined, renewed: false },
      'warn',
      'It expired 2026-11-20 12:00 UTC.',
    ],
    ['far off', { expiresAt: NOW + 5 * DAY, scopes: undefined, renewed: false }, 'ok', 'in 5 days.'],
    [
      'near',
      { expiresAt: NOW + 7_200_000, scopes: undefined, renewed: false },
      'warn',
      '2026-11-21 14:00 UTC, in 2 hours.',
    ],
    [
      'near, but renewed',
      { expiresAt: NOW + 7_200_000, scopes: undefined, renewed: true },
      'ok',
      'renewed automatically.',
    ],
  ])('tells when the token expires: %s', async (_name, token, level, message) => {
    const findings = await found({ token: () => token });
    const finding = findings.find(({ check }) => check === 'token');
    expect(finding?.level).toBe(level);
    expect(finding?.message).toContain(message);
  });

  it.each([
    ['in step', 1000, 'ok', "agrees with the server's"],
    ['a little ahead', 45_000, 'ok', "45 seconds ahead of the server's"],
    ['behind', -3_600_000, 'warn', "60 minutes behind the server's"],
  ])('compares clocks: %s', async (_name, ahead, level, message) => {
    const lastResponse = () => ({ headers: { date: new Date(NOW).toUTCString() }, at: NOW + ahead });
    const finding = (await found({ lastResponse })).find(({ check }) => check === 'clock');
    expect(finding?.level).toBe(level);
    expect(finding?.message).toContain(message);
  });

  it.each([
    [{ 'ratelimit-remaining': '3', 'ratelimit-limit': '200' }, 'ok', '3 of 200 requests are left.'],
    [{ 'ratelimit-remaining': '0' }, 'warn', '0 requests are left.'],
    [{}, 'ok', 'does not report'],
  ])('tells what is left of the rate: %j', async (headers, level, message) => {
    const finding = await last({ lastResponse: () => ({ headers: headers as Record<string, string>, at: NOW }) });
    expect(finding).toMatchObject({ check: 'rate limit', level });
    expect(finding?.message).toContain(message);
  });

  it.each([
    ['a token that is refused', problem(401, 'auth.token_unknown', 'Authorization', 'No.'), 'token', 3, 'molar login'],
    [
      'another organization',
      problem(403, 'auth.organization_forbidden', 'Organization-ID', 'No.'),
      'organization',
      3,
      'MOLAR_ORGANIZATION',
    ],
    [
      'no scope at all',
      problem(403, 'auth.scope_missing', null, 'This needs the scope model:read.'),
      'scope',
      3,
      'scope',
    ],
    ['another service', answer(404, '<html>'), 'server', 4, 'before /api/v1'],
    ['a server that cannot do it', problem(501, 'x', null, 'No.'), 'server', 8, 'request id'],
  ])('says what to do about %s', async (_name, step, check, exitCode, next) => {
    const script = new Script(step, problem(403, 'auth.scope_missing', null, 'No.'));
    const findings = await found({ connect: async () => clientOf(script) });
    const finding = findings.find(({ level }) => level === 'fail');
    expect(finding).toMatchObject({ check, exitCode, next: expect.stringContaining(next) });
    expect(finding?.next).not.toContain('doctor');
    expect(exitCodeOfFindings(findings)).toBe(exitCode);
  });

  it('warns where a scope of lesser use is lacking', async () => {
    const script = new Script(success([]), problem(403, 'auth.scope_missing', null, 'This needs practice:read.'));
    const findings = await found({ connect: async () => clientOf(script) });
    expect(findings.filter(({ level }) => level === 'warn')).toMatchObject([
      { check: 'scope', message: expect.stringContaining('This needs practice:read.') },
    ]);
    expect(exitCodeOfFindings(findings)).toBe(0);
  });

  it.each([
    ['18.20.0', 'warn'],
    ['20.18.3', 'warn'],
    ['20.19.0', 'ok'],
    ['21.0.0', 'ok'],
  ])('judges Node %s: %s', async (node, level) => {
    const versions = { molar: '1.0.0', node };
    expect((await found({ versions }))[0]).toMatchObject({ level, message: `molar 1.0.0 on Node ${node}.` });
    const [packed] = await found({ versions: { ...versions, origin: 'archive molar-1.0.0-linux-x64' } });
    expect(packed?.message).toBe(`molar 1.0.0 on Node ${node}, of the archive molar-1.0.0-linux-x64.`);
  });

  it('takes the code of the first failure', async () => {
    const connect = () => Promise.reject(localFailure('network.certificate', 'Not trusted.'));
    const findings = await found({ connect, inspect: async () => ({ ...FACTS, problem: 'CERT_HAS_EXPIRED' }) });
    expect(findings.filter(({ level }) => level === 'fail').map(({ check }) => check)).toEqual(['tls', 'server']);
    expect(exitCodeOfFindings(findings)).toBe(8);
  });

  it.each([
    ['local.file', 'configuration', 9, ''],
    ['network.unreachable', 'server', 8, 'Check the address, the port, the firewall and the proxy.'],
    ['network.certificate', 'server', 8, 'See the tls check above.'],
  ] as const)('names what a failure is about: %s', async (code, check, exitCode, next) => {
    const connect = () => Promise.reject(localFailure(code, 'It failed.'));
    const finding = await last({ connect });
    expect(finding).toMatchObject({ check, level: 'fail', message: 'It failed.', exitCode });
    if (next !== '') expect(finding?.next).toBe(next);
  });

  it('goes on where the certificate cannot be seen', async () => {
    const findings = await found({ inspect: () => Promise.reject(new Error('cut')) });
    expect(findings.map(({ level }) => level).slice(4, 6)).toEqual(['warn', 'ok']);
  });
});

describe('a certificate', () => {
  it.each<[string, Partial<CertificateFacts>, string, string, string]>([
    ['trusted by all', {}, 'ok', 'issued under Root of Trust', ''],
    ['trusted by its own authority', { wellKnown: false }, 'ok', 'only through NODE_EXTRA_CA_CERTS or --ca-cert', ''],
    [
      'of a proxy that inspects',
      { problem: 'SELF_SIGNED_CERT_IN_CHAIN', wellKnown: false, issuers: ['Acme Inspection CA'] },
      'fail',
      'issued under "Acme Inspection CA", which is not trusted',
      'NODE_EXTRA_CA_CERTS=FILE, use --ca-cert FILE',
    ],
    ['expired', { problem: 'CERT_HAS_EXPIRED' }, 'fail', 'expired: it was valid to Jan 1', 'clock'],
    ['of tomorrow', { problem: 'CERT_NOT_YET_VALID' }, 'fail', 'is not valid yet', "this computer's clock"],
    ['for another name', { problem: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'fail', 'not for api.example.com', 'MOLAR_URL'],
  ])('%s', (_name, facts, level, message, next) => {
    const finding = judgeCertificate('api.example.com', { ...FACTS, ...facts });
    expect(finding.level).toBe(level);
    expect(finding.message).toContain(message);
    expect(finding.next ?? '').toContain(next);
  });
});
