import { mkdtemp, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Question } from '../../../src/cli/terminal/streams.ts';
import Login from '../../../src/commands/login.ts';
import Logout from '../../../src/commands/logout.ts';
import ProfilesList from '../../../src/commands/profiles/list.ts';
import ProfilesRemove from '../../../src/commands/profiles/remove.ts';
import ProfilesUse from '../../../src/commands/profiles/use.ts';
import Whoami from '../../../src/commands/whoami.ts';
import { FakeKeyring, HeldClock } from '../../core/profiles/fakekeyring.ts';
import { answer, broken, problem, Script, success } from '../../core/transport/script.ts';
import { OWNER_ONLY } from '../../support/capabilities.ts';
import { runCommand, type World } from '../runcommand.ts';

const NOBODY = { MOLAR_URL: '', MOLAR_ORGANIZATION: '', MOLAR_TOKEN: '' };
const PLACE = ['--url', 'https://api.example.com', '--organization', 'org-1'];

/** A shell of somebody who has no config yet. */
async function shell(keyring = new FakeKeyring()) {
  const folder = await mkdtemp(join(tmpdir(), 'molar-login-'));
  const path = join(folder, 'config.json');
  const run = (id: string, command: unknown, argv: readonly string[], world: World = {}) => {
    const clock = new HeldClock();
    clock.hurries = true;
    const env = { ...NOBODY, MOLAR_CONFIG_DIR: folder, ...world.env };
    return runCommand(id, command, argv, { clock, ...world, keyring, env });
  };
  const login = (argv: readonly string[], world: World = {}) =>
    run('login', Login, argv, { script: new Script(success([]), success([])), ...world });
  const config = async () => JSON.parse(await readFile(path, 'utf8'));
  return { path, keyring, run, login, config };
}

describe('logout', () => {
  it('removes the profile that MOLAR_PROFILE names, not the one that the config has in use', async () => {
    const { run, login, config } = await shell();
    for (const name of ['kept', 'gone'])
      await login([...PLACE, '--token-stdin', '--profile', name], { stdin: `token-of-${name}\n` });
    await run('profiles:use', ProfilesUse, ['kept']);
    expect(await run('logout', Logout, [], { env: { MOLAR_PROFILE: 'gone' } })).toMatchObject({ exitCode: 0 });
    expect(Object.keys((await config()).profiles)).toEqual(['kept']);
  });

  it.each([
    [{ MOLAR_TOKEN: 'hush' }, 'MOLAR_TOKEN in the environment still work'],
    [{ MOLAR_TOKEN: 'hush', MOLAR_CLIENT_SECRET: 'hush' }, 'MOLAR_TOKEN and MOLAR_CLIENT_SECRET in the environment'],
    [{}, ''],
  ])('says what still logs in: %j', async (env, says) => {
    const { run, login } = await shell();
    await login([...PLACE, '--token-stdin'], { stdin: 'one\n' });
    const { stderr } = await run('logout', Logout, [], { env });
    expect(stderr).toContain(says || 'The token itself stays valid until it expires');
    expect(stderr.includes('in the environment')).toBe(says !== '');
    expect(stderr).not.toContain('hush');
  });
});

describe('login', () => {
  it('keeps a token in the keyring, and says so', async () => {
    const { path, keyring, login, config } = await shell();
    const ran = await login([...PLACE, '--token-stdin'], { stdin: 'hush\n' });
    expect(ran).toEqual({
      exitCode: 0,
      stdout: '',
      stderr:
        'Logged in to https://api.example.com as organization org-1. Profile default is now in use.\n' +
        `The token is stored in the system keyring, the rest in ${path}.\n`,
    });
    expect([...keyring.entries.values()]).toEqual(['hush']);
    expect(JSON.stringify(await config())).not.toContain('hush');
  });

  it.each<[string, FakeKeyring, Record<string, string>, string]>([
    ['cannot be used', new FakeKeyring(() => 'refuses'), {}, ' The system keyring was not used: it cannot be used.'],
    ['hangs', new FakeKeyring(() => 'hangs'), {}, ' The system keyring was not used: it does not respond within 3 s.'],
    ['is not wanted', new FakeKeyring(), { MOLAR_KEYRING: 'off' }, ''],
  ])('keeps it in a file of its owner where the keyring %s, and says so', async (_name, keyring, env, why) => {
    const { path, login, config } = await shell(keyring);
    const ran = await login([...PLACE, '--token-stdin'], { stdin: 'hush', env });
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr.split('\n')[1]).toBe(
      `The token is stored in ${path}, a file that only you can read (0600).${why}`,
    );
    expect((await config()).profiles.default.secret).toEqual({ kind: 'token', token: 'hush' });
    expect((await stat(path)).mode & 0o777).toBe(OWNER_ONLY.file);
  });

  it('asks for what is not given', async () => {
    const { keyring, login, config } = await shell();
    const asked: Question[] = [];
    const answers: Record<string, string> = {
      'Name of the profile': 'work',
      'Address of the server': 'https://api.example.com/api/v1/',
      'Organization id': 'org-1',
      'Log in with': 'Client id and secret',
      'Client id': 'me',
      'Client secret': 'hush secret',
    };
    const ask = async (question: Question) => {
      asked.push(question);
      return answers[question.message] ?? '';
    };
    // The address is tried first, as nobody.
    const script = new Script(
      problem(401, 'auth.token_unknown', 'Authorization', 'Not known.'),
      ...[answer(200, { access_token: 't', expires_in: '3600' }), success([]), success([])],
    );
    expect((await login([], { terminal: 80, ask, script })).exitCode).toBe(0);
    expect(asked.map(({ message }) => message)).toEqual(Object.keys(answers));
    expect(asked.filter(({ secret }) => secret).map(({ message }) => message)).toEqual(['Client secret']);
    const account = expect.stringMatching(/^work id-\d+$/);
    const secret = { kind: 'keyring', clientId: 'me', account };
    expect(await config()).toMatchObject({
      profile: 'work',
      profiles: { work: { url: 'https://api.example.com', secret } },
    });
    expect([...keyring.entries.values()]).toEqual(['hush secret']);
  });

  it('keeps nothing when the server refuses the token', async () => {
    const { keyring, login, config } = await shell();
    const script = new Script(problem(401, 'auth.token_unknown', 'Authorization', 'Not known.'));
    const ran = await login([...PLACE, '--token-stdin'], { stdin: 'hush', script });
    expect(ran.exitCode).toBe(3);
    expect(ran.stderr).toContain('Nothing was saved.');
    expect(ran.stderr).not.toContain('hush');
    expect(keyring.asked).toEqual([]);
    await expect(config()).rejects.toThrow('ENOENT');
  });

  it.each<[string, readonly string[], Record<string, string>, number, string]>([
    ['nothing to log in with', PLACE, {}, 2, 'Use --token-stdin'],
    ['no address', ['--organization', 'org-1', '--token-stdin'], {}, 2, 'MOLAR_URL'],
    [
      'another word for the keyring',
      [...PLACE, '--token-stdin'],
      { MOLAR_KEYRING: 'never' },
      2,
      'MOLAR_KEYRING must be',
    ],
    ['two ways', [...PLACE, '--token-stdin', '--token-file', 'x'], {}, 2, 'only one of'],
    ['plain http', ['--url', 'http://api.example.com', '--organization', 'o', '--token-stdin'], {}, 2, '--allow-http'],
  ])('refuses %s before anything is sent', async (_name, argv, env, exitCode, says) => {
    const { login } = await shell();
    const ran = await login(argv, { stdin: 'hush', env, script: new Script() });
    expect(ran).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(says) });
    expect(ran.stderr).not.toContain('hush');
  });

  it('warns of what comes before it, and of a missing scope', async () => {
    const { login } = await shell();
    const script = new Script(success([]), problem(403, 'auth.scope_missing', null, 'No.'));
    const ran = await login([...PLACE, '--token-stdin'], {
      stdin: 'hush',
      env: { MOLAR_URL: 'https://x.test' },
      script,
    });
    expect(ran.stderr).toContain('Warning: the token lacks the scope practice:read.\n');
    expect(ran.stderr).toContain('Warning: the environment takes precedence: MOLAR_URL.\n');
  });
});

describe('somebody who is asked', () => {
  /** Answers each question with the next of its answers, and notes what was asked and offered. */
  const person = (answers: Readonly<Record<string, readonly string[]>>) => {
    const left = new Map(Object.entries(answers).map(([message, texts]) => [message, [...texts]]));
    const asked: [string, string | undefined][] = [];
    const ask = async ({ message, initial }: Question) => {
      asked.push([message, initial]);
      return left.get(message)?.shift() ?? initial ?? '';
    };
    return { ask, asked };
  };
  const refused = () => problem(401, 'auth.token_unknown', 'Authorization', 'Not known.');
  const bare = () => answer(403, { data: null, warnings: [], errors: [] });
  const [URL, ORGANIZATION] = ['Address of the server', 'Organization id'];
  const TOKEN = { 'Log in with': ['Access token'], 'Access token': ['hush'] };

  it('is asked for the organization again where all is refused without a word, and keeps the secret', async () => {
    const { login, config } = await shell();
    const { ask, asked } = person({ ...TOKEN, [URL]: ['https://api.example.com'], [ORGANIZATION]: ['other', 'org-1'] });
    // The address answers nobody with 403 here, which shows as well that it is that of the API.
    const script = new Script(bare(), bare(), bare(), success([]), success([]));
    const ran = await login(['--profile', 'work'], { terminal: 80, ask, script });
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr.match(/^.*Correct .*$/gm)).toEqual([expect.stringContaining('Correct the organization')]);
    expect(asked).toEqual([
      [URL, undefined],
      [ORGANIZATION, undefined],
      ['Log in with', undefined],
      ['Access token', undefined],
      [ORGANIZATION, 'other'],
    ]);
    expect((await config()).profiles.work.organization).toBe('org-1');
  });

  it('is asked for the address again where nobody answers there', async () => {
    const { login } = await shell();
    const { ask, asked } = person({ ...TOKEN, [URL]: ['https://mistyped.example.com', 'https://api.example.com'] });
    const script = new Script(broken(false), broken(false), refused(), success([]), success([]));
    const argv = ['--profile', 'work', '--organization', 'org-1'];
    expect((await login(argv, { terminal: 80, ask, script })).exitCode).toBe(0);
    expect(asked.slice(0, 2)).toEqual([
      [URL, undefined],
      [URL, 'https://mistyped.example.com'],
    ]);
  });

  it('is offered what the environment says, else what the profile had', async () => {
    const { login } = await shell();
    await login([...PLACE, '--profile', 'work', '--token-stdin'], { stdin: 'old' });
    for (const [env, url, organization] of [
      [{}, 'https://api.example.com', 'org-1'],
      [{ MOLAR_URL: 'https://b.example.com', MOLAR_ORGANIZATION: 'b' }, 'https://b.example.com', 'b'],
    ] as const) {
      const { ask, asked } = person(TOKEN);
      const script = new Script(refused(), success([]), success([]));
      expect((await login(['--profile', 'work'], { terminal: 80, ask, script, env })).exitCode).toBe(0);
      expect(asked.slice(0, 2)).toEqual([
        [URL, url],
        [ORGANIZATION, organization],
      ]);
    }
  });

  it.each(['--token-stdin', '--client-secret-stdin'])('is asked nothing where a program gives %s', async (flag) => {
    const { login } = await shell();
    const { ask, asked } = person({});
    const ran = await login(['--client-id', 'me', flag].slice(flag === '--token-stdin' ? 2 : 0), { terminal: 80, ask });
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('MOLAR_URL is not set') });
    expect(asked).toEqual([]);
  });
});

describe('another login of a profile', () => {
  it('takes address and organization of the one before where none are given', async () => {
    const { login, config } = await shell();
    await login([...PLACE, '--token-stdin'], { stdin: 'old', env: { MOLAR_KEYRING: 'off' } });
    const before = (await config()).profiles.default;
    expect((await login(['--token-stdin'], { stdin: 'new', env: { MOLAR_KEYRING: 'off' } })).exitCode).toBe(0);
    expect((await config()).profiles.default).toEqual({ ...before, secret: { kind: 'token', token: 'new' } });
  });

  it('has to allow plain http again, which commands then need not', async () => {
    const { run, login, config } = await shell();
    const place = ['--url', 'http://intern.example.com', '--organization', 'org-1'];
    expect((await login([...place, '--token-stdin', '--allow-http'], { stdin: 'hush' })).exitCode).toBe(0);
    expect((await config()).profiles.default.allowHttp).toBe(true);
    const ran = await run('whoami', Whoami, [], { script: new Script(success([]), success([])) });
    expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('http://intern.example.com') });
    expect((await login([...place, '--token-stdin'], { stdin: 'hush' })).exitCode).toBe(2);
  });
});

describe('profiles', () => {
  it('say where their secrets are, and nothing of them', async () => {
    const { run, login } = await shell();
    await login([...PLACE, '--token-stdin'], { stdin: 'hush' });
    await login([...PLACE, '--profile', 'cron', '--token-stdin'], { stdin: 'hush', env: { MOLAR_KEYRING: 'off' } });
    const ran = await run('profiles:list', ProfilesList, ['--csv']);
    expect(ran.stdout.split('\n')).toEqual([
      'name,use,url,organization,kept,where',
      'default,no,https://api.example.com,org-1,token,keyring',
      'cron,yes,https://api.example.com,org-1,token,file',
      '',
    ]);
  });

  it('are put in use, and removed with their secrets', async () => {
    const { keyring, run, login, config } = await shell();
    await login([...PLACE, '--token-stdin'], { stdin: 'one' });
    await login([...PLACE, '--profile', 'other', '--token-stdin'], { stdin: 'two' });
    expect((await run('profiles:use', ProfilesUse, ['default'])).exitCode).toBe(0);
    expect((await config()).profile).toBe('default');
    expect((await run('profiles:remove', ProfilesRemove, ['other'])).stderr).toContain('its secret from the keyring');
    expect([...keyring.entries.values()]).toEqual(['one']);
    expect((await run('logout', Logout, [])).exitCode).toBe(0);
    expect([keyring.entries.size, (await config()).profiles]).toEqual([0, {}]);
    expect((await run('logout', Logout, [])).stderr).toContain('You are not logged in');
  });

  it('stay when the keyring cannot be used', async () => {
    const { keyring, run, login, config } = await shell();
    await login([...PLACE, '--token-stdin'], { stdin: 'hush' });
    keyring.behaves = () => 'hangs';
    const ran = await run('logout', Logout, []);
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Nothing was removed.') });
    expect(Object.keys((await config()).profiles)).toEqual(['default']);
    const alone = await run('profiles:remove', ProfilesRemove, ['default'], { env: { MOLAR_KEYRING: 'off' } });
    expect(alone).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('still') });
    expect((await config()).profiles).toEqual({});
  });
});
