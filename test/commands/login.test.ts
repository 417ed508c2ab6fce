import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Question } from '../../src/cli/terminal/streams.ts';
import Login from '../../src/commands/login.ts';
import Logout from '../../src/commands/logout.ts';
import PatientsCount from '../../src/commands/patients/count.ts';
import Whoami from '../../src/commands/whoami.ts';
import { OWNER_ONLY } from '../support/capabilities.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../support/ids.ts';
import { sharedService } from '../support/service.ts';
import { configFolder } from './connecting.ts';
import { runCommand, sendTo } from './documents/run.ts';

const served = sharedService();
const send = sendTo(() => served.app);
const config = configFolder();
const CLIENT = { clientId: 'reports', clientSecret: 's3cret value of the reports' };

beforeAll(() =>
  served.import([{ type: 'ApiClient', ...CLIENT, organizations: [ORGANIZATION], scopes: ['model:read'] }]),
);

const PLACE = ['--url', 'http://localhost/api/v1/', '--organization', ORGANIZATION];
const login = (argv: readonly string[], stdin: string = TOKENS.full, env: Record<string, string> = {}) =>
  runCommand(Login, argv, { send, stdin, env: config.env(env) });

describe('molar login', () => {
  it('keeps a token in a file for its owner only, and commands use it', async () => {
    const ran = await login([...PLACE, '--token-stdin'], `${TOKENS.full}\n`);
    expect(ran).toMatchObject({ exitCode: 0, stdout: Buffer.from('') });
    expect(ran.stderr).toContain(`Logged in to http://localhost as organization ${ORGANIZATION}. Profile default`);
    expect(ran.stderr).toContain(config.file());
    expect(ran.stderr).not.toContain(TOKENS.full);
    expect(await config.mode()).toBe(OWNER_ONLY.file);
    expect(await config.read()).toEqual({
      profile: 'default',
      profiles: {
        default: {
          url: 'http://localhost',
          organization: ORGANIZATION,
          secret: { kind: 'token', token: TOKENS.full },
        },
      },
      defaults: {},
    });
    const used = await runCommand(PatientsCount, [], { send, env: config.env() });
    expect(used).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('takes everything from the environment', async () => {
    const env = { MOLAR_URL: 'http://localhost', MOLAR_ORGANIZATION: ORGANIZATION, MOLAR_TOKEN: TOKENS.read };
    const ran = await login(['--profile', 'reader'], '', env);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain('Warning: the token lacks the scope practice:read.');
    expect(ran.stderr).toContain('the environment takes precedence: MOLAR_URL, MOLAR_ORGANIZATION, MOLAR_TOKEN');
    expect(Object.keys((await config.read()).profiles)).toEqual(['reader']);
  });

  it('keeps a command, not what it prints', async () => {
    const ran = await login([...PLACE, '--token-command', `echo ${TOKENS.full}`, '--json']);
    expect(JSON.parse(ran.stdout.toString())).toEqual({
      profile: 'default',
      server: 'http://localhost',
      organization: ORGANIZATION,
      kept: 'command',
      where: null,
      path: config.file(),
      access: { 'model:read': true, 'practice:read': true },
    });
    expect((await config.read()).profiles.default.secret).toEqual({
      kind: 'command',
      command: `echo ${TOKENS.full}`,
    });
  });

  it('keeps client id and secret, and tells when the token expires', async () => {
    const ran = await login([...PLACE, '--client-id', CLIENT.clientId, '--client-secret-stdin'], CLIENT.clientSecret);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).not.toContain(CLIENT.clientSecret);
    const asked = Date.now();
    const who = await runCommand(Whoami, ['--json'], { send, env: config.env() });
    const told = JSON.parse(who.stdout.toString());
    // The server gives out tokens for an hour (D4).
    expect(Date.parse(told.tokenExpires)).toBeGreaterThanOrEqual(asked + 3_600_000);
    expect(Date.parse(told.tokenExpires)).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect(told).toMatchObject({
      server: 'http://localhost',
      serverSource: 'profile default',
      organization: ORGANIZATION,
      organizationSource: 'profile default',
      profile: 'default',
      tokenSource: 'profile default',
      tokenKeptIn: config.file(),
      clientId: CLIENT.clientId,
      tokenScopes: null,
      access: { 'model:read': true, 'practice:read': false },
    });
  });

  it('reads a token file', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'molar-token-')), 'token');
    await writeFile(file, `${TOKENS.full}\n`);
    expect((await login([...PLACE, '--token-file', file])).exitCode).toBe(0);
    expect((await config.read()).profiles.default.secret.token).toBe(TOKENS.full);
  });

  it.each<[string, string[], string, number, string]>([
    ['a wrong token', [...PLACE, '--token-stdin'], 'wrong', 3, 'Nothing was saved.'],
    ['it with what to do', [...PLACE, '--token-stdin'], 'wrong', 3, 'and run molar login again.'],
    ['another organization', [...PLACE.slice(0, 3), OTHER_ORGANIZATION, '--token-stdin'], TOKENS.full, 3, 'Nothing'],
    ['no token', [...PLACE, '--token-stdin'], ' ', 2, '--token-stdin gave no token'],
    ['nothing to log in with', PLACE, '', 2, 'no terminal to ask on'],
    ['no address', ['--organization', ORGANIZATION, '--token-stdin'], TOKENS.full, 2, 'MOLAR_URL is not set'],
    ['plain http', ['--url', 'http://example.com', '--organization', 'a', '--token-stdin'], 'x', 2, 'plain http://'],
    ['two secrets', [...PLACE, '--token-stdin', '--token-file', 'x'], '', 2, 'Use only one of'],
    ['a missing file', [...PLACE, '--token-file', '/nonexistent/token'], '', 9, 'no such file'],
    ['a secret without an id', [...PLACE, '--client-secret-stdin'], 'x', 2, 'no client id'],
    ['a wrong client', [...PLACE, '--client-id', 'x', '--client-secret-stdin'], 'hush', 3, 'No token was issued'],
    ['a name that is none', [...PLACE, '--profile', 'a b', '--token-stdin'], '', 2, 'A profile name is'],
  ])('keeps nothing for %s', async (_name, argv, stdin, exitCode, message) => {
    const ran = await login(argv, stdin);
    expect(ran).toMatchObject({ exitCode, stderr: expect.stringContaining(message) });
    expect(ran.stderr).not.toContain('hush');
    expect(await config.exists()).toBe(false);
  });

  it('asks on a terminal for what is not given', async () => {
    const asked: Question[] = [];
    const answers: Record<string, string> = {
      'Name of the profile': 'work',
      'Address of the server': 'http://localhost',
      'Organization id': ORGANIZATION,
      'Log in with': 'Access token',
      'Access token': TOKENS.full,
    };
    const ask = async (question: Question) => {
      asked.push(question);
      return answers[question.message] ?? '';
    };
    const ran = await runCommand(Login, [], { send, env: config.env(), ask });
    expect(ran.exitCode).toBe(0);
    expect(asked.map(({ message }) => message)).toEqual(Object.keys(answers));
    expect(asked.filter(({ secret }) => secret).map(({ message }) => message)).toEqual(['Access token']);
    expect(asked[1]?.check?.('example')).toContain('is not a URL');
    expect(asked[2]?.check?.('a b')).toContain('letters');
    expect((await config.read()).profile).toBe('work');
  });

  it('asks again for what was wrong only, and ends with what to try', async () => {
    const asked: Question[] = [];
    const answers: Record<string, string[]> = {
      'Name of the profile': ['work'],
      'Address of the server': ['http://localhost/elsewhere', 'http://localhost'],
      'Organization id': [OTHER_ORGANIZATION, ORGANIZATION],
      'Log in with': ['Access token', 'Access token'],
      'Access token': ['mistyped', TOKENS.full],
    };
    const ask = async (question: Question) => {
      asked.push(question);
      return answers[question.message]?.shift() ?? 'too much';
    };
    const confirm = async () => true;
    const ran = await runCommand(Login, [], { send, env: config.env(), ask, confirm });
    expect([ran.exitCode, answers]).toEqual([
      0,
      expect.objectContaining({ 'Organization id': [], 'Access token': [] }),
    ]);
    expect(asked.map(({ message }) => message)).toEqual([
      'Name of the profile',
      ...['Address of the server', 'Address of the server'],
      ...['Organization id', 'Log in with', 'Access token'],
      ...['Log in with', 'Access token'],
      'Organization id',
    ]);
    expect(asked.filter(({ initial }) => initial).map(({ initial }) => initial)).toEqual([
      'default',
      'http://localhost/elsewhere',
      OTHER_ORGANIZATION,
    ]);
    expect(ran.stderr).toMatch(/Correct the address.*Give the secret again.*Correct the organization/s);
    expect(ran.stderr).toMatch(/Try:\n {2}molar patients list\n.*\n {2}molar help\n$/);
    expect((await config.read()).profiles.work).toMatchObject({ organization: ORGANIZATION });
  });

  it('keeps nothing when a question is interrupted', async () => {
    const ask = () => Promise.reject(new Error('ExitPromptError'));
    const ran = await runCommand(Login, [], { send, env: config.env(), ask });
    expect(ran).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('Nothing was saved.') });
    expect(await config.exists()).toBe(false);
  });
});

describe('molar logout', () => {
  it('removes the profile in use and its secret', async () => {
    await login([...PLACE, '--token-stdin']);
    const ran = await runCommand(Logout, [], { send, env: config.env() });
    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Removed profile default') });
    expect(await config.read()).toEqual({ profiles: {}, defaults: {} });
    const again = await runCommand(Logout, [], { send, env: config.env() });
    expect(again).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('You are not logged in') });
  });
});
