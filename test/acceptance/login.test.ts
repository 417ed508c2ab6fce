import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { OWNER_ONLY } from '../support/capabilities.ts';
import { molarIn } from './inprocess.ts';
import { molar, ORGANIZATION, TOKEN } from './molar.ts';
import { practiceHere } from './servedpractice.ts';

const CLIENT = {
  type: 'ApiClient',
  clientId: 'reports',
  clientSecret: 'acceptance secret',
  organizations: [ORGANIZATION],
  scopes: ['model:read', 'practice:read'],
};

// A limit, since doctor tells of it.
const practice = practiceHere(5, [CLIENT], { rateLimit: 100 });
let config: string;

beforeAll(() => {
  config = join(practice.path, 'config');
});

afterEach(() => rm(config, { recursive: true, force: true }));

const run = (args: readonly string[], input = '', env: Record<string, string> = {}) =>
  molarIn(practice.path, args, { MOLAR_CONFIG_DIR: config, ...env }, input);
/** By the built program, which asks a keyring in a process of its own. */
const runBuilt = (args: readonly string[], input: string, env: Record<string, string>) =>
  molar(practice.path, args, { MOLAR_CONFIG_DIR: config, ...env }, input);

const toServer = () => ['--url', practice.url, '--organization', ORGANIZATION];

describe('login', () => {
  test('with a token from standard input: kept for its owner only, used from then on, gone after logout', async () => {
    const login = await run(['login', ...toServer(), '--token-stdin'], TOKEN);
    expect({ code: login.code, stdout: login.stdout }).toEqual({ code: 0, stdout: '' });
    expect(login.stderr).toContain(`The token is stored in ${join(config, 'config.json')}`);
    expect(login.stderr).not.toContain(TOKEN);
    expect((await stat(join(config, 'config.json'))).mode & 0o777).toBe(OWNER_ONLY.file);
    expect((await stat(config)).mode & 0o077).toBe(0);
    expect(await run(['patients', 'count'])).toEqual({ code: 0, stdout: '5\n', stderr: '' });
    expect((await run(['logout'])).code).toBe(0);
    expect(await readFile(join(config, 'config.json'), 'utf8')).not.toContain(TOKEN);
    const after = await run(['patients', 'count']);
    expect(after).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('molar login') });
  });

  test('with client id and secret: whoami tells when the token expires, and that it is renewed', async () => {
    const before = Date.now();
    const given = ['--client-id', 'reports', '--client-secret-stdin'];
    const login = await run(['login', ...toServer(), '--profile', 'work', ...given, '--json'], CLIENT.clientSecret);
    expect(JSON.parse(login.stdout)).toMatchObject({ profile: 'work', kept: 'client', where: 'file' });
    const told = JSON.parse((await run(['whoami', '--json'])).stdout);
    expect(told).toMatchObject({
      server: practice.url,
      organization: ORGANIZATION,
      tokenSource: 'profile work',
      clientId: 'reports',
      access: { 'model:read': true, 'practice:read': true },
    });
    // The server gives out tokens for an hour (D4).
    expect(Date.parse(told.tokenExpires)).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(Date.parse(told.tokenExpires)).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect((await run(['whoami'])).stdout).toMatch(
      /^Expires {7}\d{4}-\d\d-\d\d \d\d:\d\d UTC, in .+; renewed automatically$/m,
    );
    expect(login.stdout + login.stderr).not.toContain(CLIENT.clientSecret);
  });

  test('a flag beats the environment, which beats the profile', async () => {
    await run(['login', ...toServer(), '--token-stdin'], TOKEN);
    const organization = async (args: readonly string[], env: Record<string, string>) => {
      const ended = await run(['patients', 'count', ...args, '--json'], '', env);
      return ended.code === 0 ? ORGANIZATION : JSON.parse(ended.stderr).error.errors[0].source;
    };
    expect(await organization([], {})).toBe(ORGANIZATION);
    expect(await organization([], { MOLAR_ORGANIZATION: 'other' })).toBe('Organization-ID');
    expect(await organization(['--organization', ORGANIZATION], { MOLAR_ORGANIZATION: 'other' })).toBe(ORGANIZATION);
  });
});

describe('doctor', () => {
  test('finds nothing wrong where nothing is', async () => {
    await run(['login', ...toServer(), '--token-stdin'], TOKEN);
    const ended = await run(['doctor', '--json']);
    const { ok, findings } = JSON.parse(ended.stdout);
    expect({ code: ended.code, ok, stderr: ended.stderr }).toEqual({ code: 0, ok: true, stderr: '' });
    expect(findings.map(({ check }: { check: string }) => check)).toEqual([
      'versions',
      'configuration',
      'profiles',
      'proxy',
      'name',
      'tls',
      'token',
      'organization',
      'scope',
      'scope',
      'clock',
      'rate limit',
    ]);
  });

  test('exits with the code of what fails first, and says what to do', async () => {
    const env = { MOLAR_URL: practice.url, MOLAR_ORGANIZATION: ORGANIZATION, MOLAR_TOKEN: 'wrong-token' };
    const ended = await run(['doctor'], '', env);
    expect(ended.code).toBe(3);
    expect(ended.stdout).toMatch(/^FAIL {2}token .+\n {20}Run molar login/m);
    expect(ended.stdout).not.toContain('wrong-token');
  });
});

// Where the keyring is another than the Secret Service of a session bus, a test would write into a person's own.
describe('a keyring that hangs', () => {
  let bus: Server | undefined;
  const callers: Socket[] = [];

  beforeEach(async (context) => {
    if (process.platform !== 'linux') return context.skip('there is no session bus here');
    const server = createServer((caller) => callers.push(caller.on('error', () => undefined)));
    bus = server;
    await new Promise<void>((done) => server.listen(join(practice.path, 'bus'), done));
  });

  afterEach(async () => {
    for (const caller of callers.splice(0)) caller.destroy();
    bus?.close();
  });

  test('is not needed, nor is one that is not there', async () => {
    const env = { MOLAR_KEYRING: 'on', DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(practice.path, 'no-bus')}` };
    const login = await runBuilt(['login', ...toServer(), '--token-stdin'], TOKEN, env);
    expect(login.code).toBe(0);
    expect(login.stderr).toMatch(/stored in .+config\.json.+ was not used: it .+\.$/m);
    expect(login.stderr).not.toContain(TOKEN);
  });

  test('costs some seconds, and the secret is kept in the file', async () => {
    const env = { MOLAR_KEYRING: 'on', DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(practice.path, 'bus')}` };
    const login = await runBuilt(['login', ...toServer(), '--token-stdin'], TOKEN, env);
    expect(login.code).toBe(0);
    expect(login.stderr).toMatch(/stored in .+config\.json.+ was not used: it does not respond within 3 s\.$/m);
    expect(await runBuilt(['patients', 'count'], '', env)).toEqual({ code: 0, stdout: '5\n', stderr: '' });
  });

  test('fails a command whose secret it has, with a way forward', async () => {
    await run(['login', ...toServer(), '--token-stdin'], TOKEN);
    const path = join(config, 'config.json');
    const stored = JSON.parse(await readFile(path, 'utf8'));
    stored.profiles.default.secret = { kind: 'keyring', account: 'default 1' };
    await writeFile(path, JSON.stringify(stored));
    const env = { MOLAR_KEYRING: 'on', DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(practice.path, 'bus')}` };
    const ended = await runBuilt(['patients', 'count'], '', env);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('it does not respond within 3 s');
    expect(ended.stderr).toContain('Next: Unlock the keyring');
  });
});
