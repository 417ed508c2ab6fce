import { describe, expect, it } from 'vitest';
import Doctor from '../../src/commands/doctor.ts';
import type { Finding } from '../../src/core/doctor/finding.ts';
import type { Send } from '../../src/core/transport/send.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../support/ids.ts';
import { sharedService } from '../support/service.ts';
import { runCommand, sendTo } from './documents/run.ts';

const served = sharedService(undefined, { rateLimit: 100 });
const toServer = sendTo(() => served.app);

/** The server, with the headers that a test is about. */
const send =
  (headers: () => Record<string, string> = () => ({})): Send =>
  async (request) => {
    const response = await toServer(request);
    const { date: _, ...others } = response.headers;
    return { ...response, headers: { ...others, ...headers() } };
  };

async function doctor(env: Record<string, string>, argv: readonly string[] = [], way: Send = send()) {
  const ran = await runCommand(Doctor, [...argv, '--json'], { send: way, env });
  expect(ran.stderr).toBe('');
  const report = JSON.parse(ran.stdout.toString()) as { ok: boolean; exitCode: number; findings: Finding[] };
  expect(report.exitCode).toBe(ran.exitCode);
  expect(report.ok).toBe(ran.exitCode === 0);
  return { exitCode: ran.exitCode, findings: report.findings };
}

const levels = (findings: readonly Finding[]) => findings.map(({ check, level }) => `${check} ${level}`);

describe('molar doctor', () => {
  it('finds nothing wrong with a connection that works', async () => {
    const { exitCode, findings } = await doctor(
      {},
      [],
      send(() => ({ date: new Date().toUTCString() })),
    );
    expect(exitCode).toBe(0);
    expect(levels(findings)).toEqual([
      'versions ok',
      'configuration ok',
      'proxy ok',
      'name ok',
      'tls ok',
      'token ok',
      'organization ok',
      'scope ok',
      'scope ok',
      'clock ok',
      'rate limit ok',
    ]);
    expect(findings.find(({ check }) => check === 'configuration')?.message).toBe(
      `Server http://localhost (MOLAR_URL), organization ${ORGANIZATION} (MOLAR_ORGANIZATION), token from MOLAR_TOKEN.`,
    );
    expect(findings.at(-1)?.message).toMatch(/^\d+ of 200 requests are left\.$/);
    expect(JSON.stringify(findings)).not.toContain(TOKENS.full);
  });

  it.each<[string, Record<string, string>, number, string]>([
    ['no connection', { MOLAR_URL: '' }, 2, 'configuration fail'],
    ['an unknown token', { MOLAR_TOKEN: 'nosuch' }, 3, 'token fail'],
    ['an expired token', { MOLAR_TOKEN: TOKENS.expired }, 3, 'token fail'],
    ['another organization', { MOLAR_ORGANIZATION: OTHER_ORGANIZATION }, 3, 'organization fail'],
    ['no scope to read', { MOLAR_TOKEN: TOKENS.none }, 3, 'scope fail'],
    ['an address that is not the API', { MOLAR_URL: 'http://localhost/elsewhere' }, 4, 'server fail'],
    ['no scope for production', { MOLAR_TOKEN: TOKENS.read }, 0, 'scope warn'],
  ])('tells of %s', async (_name, env, expected, finding) => {
    const { exitCode, findings } = await doctor(env);
    expect(exitCode).toBe(expected);
    expect(levels(findings)).toContain(finding);
    expect(findings.filter(({ level, next }) => level !== 'ok' && next === null)).toEqual([]);
  });

  it('tells of a clock that is wrong, and of requests used up', async () => {
    const date = new Date(Date.now() + 600_000).toUTCString();
    const { exitCode, findings } = await doctor(
      {},
      [],
      send(() => ({ date, 'ratelimit-remaining': '0' })),
    );
    expect(exitCode).toBe(0);
    expect(levels(findings).slice(-2)).toEqual(['clock warn', 'rate limit warn']);
    expect(findings.at(-2)?.message).toMatch(/^This computer's clock is (9|10) minutes behind the server's\.$/);
  });

  it('prints a line for each check, and what to do below it', async () => {
    const ran = await runCommand(Doctor, [], { send: send(), env: { MOLAR_TOKEN: 'nosuch' } });
    expect(ran.exitCode).toBe(3);
    expect(ran.stdout.toString()).toContain('ok    proxy         None: the server is on this machine.\n');
    expect(ran.stdout.toString()).toMatch(/\nFAIL {2}token {9}The server rejected the token.*\n {20}\S/);
  });
});
