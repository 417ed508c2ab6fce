import { describe, expect, it } from 'vitest';
import { readCredentials, type SecretReaders } from '../../../src/core/connection/credentials.ts';
import type { ConnectionFlags, ConnectionSettings } from '../../../src/core/connection/settings.ts';
import type { TokenFacts, TokenListener } from '../../../src/core/connection/tokenfacts.ts';
import type { Environment } from '../../../src/core/environment.ts';
import type { ProfileSecret } from '../../../src/core/profiles/config.ts';
import { Pacer } from '../../../src/core/transport/pacer.ts';
import { DEFAULT_RETRY } from '../../../src/core/transport/retry.ts';
import { answer, Script, SleepLog, type Step } from '../transport/script.ts';

const SETTINGS = { baseUrl: 'https://api.example.com', organization: 'org-1', tokenUrl: undefined };
const CLIENT = { MOLAR_CLIENT_ID: 'me', MOLAR_CLIENT_SECRET: 's&cret' };

const readers: SecretReaders = {
  stdin: async () => 'from-stdin\n',
  file: async (path) => {
    if (path === 'missing') throw Object.assign(new Error('no'), { code: 'ENOENT' });
    return Buffer.from(path === 'empty' ? ' \n' : 'from-file\n');
  },
  command: async (line) => {
    if (line === 'false') throw new Error('exit 1');
    return line === 'two' ? 'two\nlines' : 'from-command\n';
  },
  keyring: async (account, profile) => `${account}-of-${profile.replace(' ', '-')}`,
};

function source(
  flags: ConnectionFlags,
  env: Environment,
  script = new Script(),
  settings: ConnectionSettings = SETTINGS,
  onToken?: TokenListener,
) {
  const clock = new SleepLog();
  const pacer = new Pacer(clock);
  const exchange = { send: script.send, policy: DEFAULT_RETRY, pacer, clock, random: () => 0, timeout: 1000 };
  return { clock, made: readCredentials(flags, env, settings, readers, exchange, onToken) };
}

async function tokenOf(flags: ConnectionFlags, env: Environment): Promise<string> {
  return (await source(flags, env).made).token();
}

const granted = (token: string, expires: unknown): Step => answer(200, { access_token: token, expires_in: expires });

describe('a token', () => {
  it.each<[string, ConnectionFlags, Environment, string]>([
    ['the environment', {}, { MOLAR_TOKEN: ' abc ' }, 'abc'],
    ['standard input', { tokenStdin: true }, { MOLAR_TOKEN: 'abc' }, 'from-stdin'],
    ['a file', { tokenFile: 'x' }, { MOLAR_TOKEN: 'abc' }, 'from-file'],
    ['a command', { tokenCommand: 'pass show x' }, { MOLAR_TOKEN: 'abc' }, 'from-command'],
    ['the environment before a client', {}, { ...CLIENT, MOLAR_TOKEN: 'abc' }, 'abc'],
  ])('comes from %s', async (_name, flags, env, expected) => {
    expect(await tokenOf(flags, env)).toBe(expected);
  });

  it.each<[string, ConnectionFlags, Environment, number, string]>([
    ['nothing', {}, {}, 2, 'There is no token.'],
    ['half a client', {}, { MOLAR_CLIENT_ID: 'x' }, 2, 'MOLAR_CLIENT_SECRET is not'],
    ['the other half', {}, { MOLAR_CLIENT_SECRET: 'x' }, 2, 'MOLAR_CLIENT_ID is not'],
    ['two flags', { tokenStdin: true, tokenFile: 'x' }, {}, 2, 'only one of --token-stdin and --token-file'],
    ['a missing file', { tokenFile: 'missing' }, {}, 9, 'no such file'],
    ['an empty file', { tokenFile: 'empty' }, {}, 2, '--token-file gave no token'],
    ['a command that fails', { tokenCommand: 'false' }, {}, 2, '--token-command failed'],
    ['two lines', { tokenCommand: 'two' }, {}, 2, 'cannot be a token'],
  ])('is refused for %s', async (_name, flags, env, exitCode, message) => {
    await expect(source(flags, env).made).rejects.toMatchObject({
      exitCode,
      message: expect.stringContaining(message),
    });
  });
});

describe('client credentials', () => {
  it('are sent as a form', async () => {
    const script = new Script(granted('t1', '3600'));
    const { made } = source({}, CLIENT, script);
    expect(await (await made).token()).toBe('t1');
    expect(script.requests[0]).toMatchObject({
      method: 'POST',
      url: 'https://api.example.com/oauth/client_credential/accesstoken?grant_type=client_credentials',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'client_id=me&client_secret=s%26cret',
    });
  });

  it('go to the address for tokens', async () => {
    const script = new Script(granted('t1', 60));
    const settings = { ...SETTINGS, tokenUrl: 'https://login.example.com/t?grant_type=client_credentials' };
    await (await source({}, CLIENT, script, settings).made).token();
    expect(script.requests[0]?.url).toBe('https://login.example.com/t?grant_type=client_credentials');
  });

  it.each<[string, unknown, number, number]>([
    ['text', '3600', 3539, 3541],
    ['a number', 3600, 3539, 3541],
    ['nothing, for an hour', undefined, 3539, 3541],
    ['nonsense, for an hour', 'soon', 3539, 3541],
    ['a short life, for half of it', 20, 9, 11],
  ])('are kept until shortly before they expire: %s', async (_name, expires, before, after) => {
    const script = new Script(granted('t1', expires), granted('t2', expires));
    const { clock, made } = source({}, CLIENT, script);
    const tokens = await made;
    await tokens.token();
    await clock.sleep(before * 1000);
    expect(await tokens.token()).toBe('t1');
    await clock.sleep((after - before) * 1000);
    expect(await tokens.token()).toBe('t2');
  });

  it('ask once for requests at the same time', async () => {
    const script = new Script(granted('t1', 3600));
    const tokens = await source({}, CLIENT, script).made;
    expect(await Promise.all([tokens.token(), tokens.token()])).toEqual(['t1', 't1']);
  });

  it('ask again after a refused token', async () => {
    const script = new Script(granted('t1', 3600), granted('t2', 3600));
    const tokens = await source({}, CLIENT, script).made;
    const first = await tokens.token();
    expect(tokens.renew(first)).toBe(true);
    expect(await tokens.token()).toBe('t2');
    // Another request that was sent with the first one is refused later.
    expect(tokens.renew(first)).toBe(true);
    expect(await tokens.token()).toBe('t2');
  });

  it('are tried again when the server fails', async () => {
    const script = new Script(answer(503, ''), granted('t1', 3600));
    expect(await (await source({}, CLIENT, script).made).token()).toBe('t1');
  });

  it.each([
    ['wrong', answer(401, { errors: [{ code: 'auth.client_refused', description: 'Wrong.', source: null }] }), 3],
    ['not taken', answer(400, { error: 'invalid_client' }), 3],
    ['answered with no token', answer(200, { token_type: 'Bearer' }), 8],
    ['answered with a page', answer(200, '<html>'), 8],
  ])('fail when they are %s', async (_name, step, exitCode) => {
    const tokens = await source({}, CLIENT, new Script(step)).made;
    const failure = await tokens.token().catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ exitCode });
    expect(JSON.stringify(failure)).not.toContain('s&cret');
  });

  it('tell what the server says of wrong ones, and what to check', async () => {
    const wrong = { code: 'auth.client_refused', description: 'Wrong.', source: 'client_secret' };
    const tokens = await source({}, CLIENT, new Script(answer(401, { errors: [wrong] }))).made;
    await expect(tokens.token()).rejects.toMatchObject({
      message: expect.stringContaining('No token was issued. '),
      status: 401,
      requestId: 'req-1',
      items: [expect.objectContaining({ source: 'client_secret', description: 'Wrong.' })],
      hint: expect.stringContaining('MOLAR_CLIENT_SECRET'),
    });
  });

  it.each([
    [408, 7],
    [429, 7],
    [500, 8],
    [503, 8],
  ])('are not taken for wrong when the server goes on answering with %i', async (status, exitCode) => {
    const steps = Array.from({ length: DEFAULT_RETRY.maxRetries + 1 }, () => answer(status, ''));
    const failure = await (await source({}, CLIENT, new Script(...steps)).made).token().catch((cause) => cause);
    expect(failure).toMatchObject({ exitCode, status });
    expect(failure.message).not.toContain('No token was issued');
  });

  it.each([301, 302, 307, 308])('go to no other address that the server names (%i), but it is told', async (status) => {
    const script = new Script(answer(status, '', { location: 'https://elsewhere.example.com/t?x=1' }));
    const failure = await (await source({}, CLIENT, script).made).token().catch((cause) => cause);
    expect(failure).toMatchObject({
      code: 'response.redirect',
      exitCode: 8,
      message: expect.stringMatching(/redirects to https:\/\/elsewhere\.example\.com.* \(HTTP \d+\)\.$/),
      hint: expect.stringContaining('MOLAR_TOKEN_URL'),
    });
    expect(script.requests).toHaveLength(1);
  });
});

/** Settings whose profile proves itself with a secret. */
function withSecret(secret: ProfileSecret): ConnectionSettings {
  const profile = { url: SETTINGS.baseUrl, organization: SETTINGS.organization, secret };
  return { ...SETTINGS, profile: { name: 'work', profile, source: 'config', path: 'config.json' } };
}

describe('a secret in the keyring', () => {
  it('is read for its profile', async () => {
    const settings = withSecret({ kind: 'keyring', account: 'a1' });
    expect(await (await source({}, {}, new Script(), settings).made).token()).toBe('a1-of-profile-work');
  });

  it('is that of a client where there is an id', async () => {
    const script = new Script(granted('t1', 3600));
    const settings = withSecret({ kind: 'keyring', account: 'a1', clientId: 'me', tokenUrl: 'https://t.example.com/' });
    expect(await (await source({}, {}, script, settings).made).token()).toBe('t1');
    expect(script.requests[0]).toMatchObject({
      url: 'https://t.example.com/?grant_type=client_credentials',
      body: 'client_id=me&client_secret=a1-of-profile-work',
    });
  });

  it('is not read where the environment has a token', async () => {
    const settings = withSecret({ kind: 'keyring', account: 'a1' });
    expect(await (await source({}, { MOLAR_TOKEN: 'abc' }, new Script(), settings).made).token()).toBe('abc');
  });
});

describe('what is told of a token', () => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const jwt = `${part({ alg: 'RS256' })}.${part({ exp: 1_800_000_000, scope: 'model:read' })}.c2ln`;
  const NOON = Date.UTC(2026, 2, 2, 12);

  async function told(env: Environment, script = new Script()): Promise<(TokenFacts & { renewed: boolean })[]> {
    const facts: (TokenFacts & { renewed: boolean })[] = [];
    const listen: TokenListener = ({ expiresAt, scopes }, renewed) => facts.push({ expiresAt, scopes, renewed });
    await (await source({}, env, script, SETTINGS, listen).made).token();
    return facts;
  }

  it.each<[string, Environment, Script | undefined, number | undefined, readonly string[] | undefined]>([
    ['a plain one', { MOLAR_TOKEN: 'abc' }, undefined, undefined, undefined],
    ['one that tells', { MOLAR_TOKEN: jwt }, undefined, 1_800_000_000_000, ['model:read']],
    ['a granted one', CLIENT, new Script(granted('t1', '3600')), NOON + 3_600_000, undefined],
    ['a granted one without a life', CLIENT, new Script(granted('t1', undefined)), undefined, undefined],
    ['a granted one that tells', CLIENT, new Script(granted(jwt, undefined)), 1_800_000_000_000, ['model:read']],
    ['both', CLIENT, new Script(granted(jwt, 60)), NOON + 60_000, ['model:read']],
    [
      'a grant with scopes',
      CLIENT,
      new Script(answer(200, { access_token: 't', expires_in: 60, scope: 'a b' })),
      NOON + 60_000,
      ['a', 'b'],
    ],
  ])('of %s', async (_name, env, script, expiresAt, scopes) => {
    expect(await told(env, script)).toEqual([{ expiresAt, scopes, renewed: env === CLIENT }]);
  });

  it('counts its life from the attempt that got it, not from an earlier one', async () => {
    const script = new Script(answer(503, '', { 'retry-after': '7' }), granted('t1', 3600));
    expect((await told(CLIENT, script))[0]?.expiresAt).toBe(NOON + 7000 + 3_600_000);
  });
});
