import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CertificateFacts, judgeCertificate } from '../../../src/core/doctor/certificate.ts';
import { type Doctor, diagnose } from '../../../src/core/doctor/diagnose.ts';
import { exitCodeOfFindings, type Finding } from '../../../src/core/doctor/finding.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { clientOf, Script, success } from '../transport/script.ts';

const FACTS: CertificateFacts = {
  issuers: ['Some CA', 'Root of Trust'],
  validTo: 'Jan 1 00:00:00 2030 GMT',
  problem: undefined,
  wellKnown: true,
};

const ENV = { MOLAR_URL: 'https://api.example.com', MOLAR_ORGANIZATION: 'org-1', MOLAR_TOKEN: 'secret' };

async function found(changes: Partial<Doctor>): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const doctor: Doctor = {
    flags: {},
    env: ENV,
    versions: { molar: '1.0.0', node: '22.1.0' },
    lookup: async () => ['203.0.113.7'],
    inspect: async () => FACTS,
    connect: async () => clientOf(new Script(success([]), success([]))),
    heard: () => undefined,
    signal: new AbortController().signal,
    ...changes,
  };
  for await (const finding of diagnose(doctor)) findings.push(finding);
  return findings;
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
      message: 'There is no host api.example.com.',
      next: 'Check the spelling of the address (MOLAR_URL, --url), and whether a VPN is needed.',
      exitCode: 8,
    });
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
    const folder = await mkdtemp(join(tmpdir(), 'molar-doctor-'));
    const secret = { kind: 'token', token: 'hush' };
    const profiles = { a: { url: 'https://api.example.com', organization: 'org-1', secret } };
    await writeFile(join(folder, 'config.json'), JSON.stringify({ profile: 'a', profiles }));
    await chmod(join(folder, 'config.json'), mode);
    const findings = await found({ env: { MOLAR_CONFIG_DIR: folder } });
    expect(findings.find(({ check }) => check === 'profiles')?.level).toBe(level);
    expect(JSON.stringify(findings)).not.toContain('hush');
  });

  it('warns of an old Node', async () => {
    const [versions] = await found({ versions: { molar: '1.0.0', node: '20.18.3' } });
    expect(versions).toMatchObject({ level: 'warn', message: 'molar 1.0.0 on Node 20.18.3.' });
  });

  it('takes the code of the first failure', async () => {
    const connect = () => Promise.reject(localFailure('network.certificate', 'Not trusted.'));
    const findings = await found({ connect, inspect: async () => ({ ...FACTS, problem: 'CERT_HAS_EXPIRED' }) });
    expect(findings.filter(({ level }) => level === 'fail').map(({ check }) => check)).toEqual(['tls', 'server']);
    expect(exitCodeOfFindings(findings)).toBe(8);
  });

  it.each([
    ['local.file', 'configuration', 9],
    ['network.unreachable', 'server', 8],
  ] as const)('names what a failure is about: %s', async (code, check, exitCode) => {
    const connect = () => Promise.reject(localFailure(code, 'It failed.'));
    expect(await last({ connect })).toMatchObject({ check, level: 'fail', message: 'It failed.', exitCode });
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
    ['for another name', { problem: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'fail', 'not for api.example.com', 'MOLAR_URL'],
  ])('%s', (_name, facts, level, message, next) => {
    const finding = judgeCertificate('api.example.com', { ...FACTS, ...facts });
    expect(finding.level).toBe(level);
    expect(finding.message).toContain(message);
    expect(finding.next ?? '').toContain(next);
  });
});
