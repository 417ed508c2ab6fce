import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import Whoami from '../../../src/commands/whoami.ts';
import { FakeKeyring, HeldClock } from '../../core/profiles/fakekeyring.ts';
import { answer, problem, Script, success } from '../../core/transport/script.ts';
import { runCommand, type World } from '../runcommand.ts';

const whoami = (argv: readonly string[], world: World) => runCommand('whoami', Whoami, argv, world);

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const JWT = `${part({ alg: 'RS256' })}.${part({ exp: Date.UTC(2026, 2, 5, 12) / 1000, scope: 'model:read x' })}.c2ln`;
const CLIENT = { MOLAR_TOKEN: '', MOLAR_CLIENT_ID: 'me', MOLAR_CLIENT_SECRET: 'hush' };
const lacking = () => problem(403, 'auth.scope_missing', null, 'This needs practice:read.');
const HEADERS = { 'ratelimit-remaining': '198', 'ratelimit-limit': '200', date: 'Mon, 02 Mar 2026 12:00:01 GMT' };
const heard = () => success([], {}, HEADERS);

describe('whoami', () => {
  it('tells all that is known of a plain token', async () => {
    const ran = await whoami([], { script: new Script(heard(), lacking()) });
    expect(ran).toEqual({
      exitCode: 0,
      stderr: '',
      stdout: [
        'Server        https://api.example.com (MOLAR_URL)',
        'Organization  org-1 (MOLAR_ORGANIZATION)',
        'Token         accepted by the server; from MOLAR_TOKEN',
        'Expires       unknown: neither the server nor the token says',
        'Scopes        model:read yes, model:write not tried (it would write), practice:read no',
        'Server says   This needs practice:read.',
        'Rate limit    198 of 200 requests left',
        "Clock         that of this computer agrees with the server's",
        '',
      ].join('\n'),
    });
  });

  it.each<[string, World, readonly string[]]>([
    [
      'a token that tells',
      { env: { MOLAR_TOKEN: JWT }, script: new Script(success([]), success([])) },
      [
        'Token         accepted by the server; from MOLAR_TOKEN',
        'Expires       2026-03-05 12:00 UTC, in 3 days',
        'Scopes        model:read x',
        'Tried         model:read yes, model:write not tried (it would write), practice:read yes',
      ],
    ],
    [
      'client id and secret',
      {
        env: CLIENT,
        script: new Script(answer(200, { access_token: 't', expires_in: '7200' }), success([]), success([])),
      },
      [
        'Token         accepted by the server; from MOLAR_CLIENT_ID and MOLAR_CLIENT_SECRET',
        'Client id     me',
        'Expires       2026-03-02 14:00 UTC, in 2 hours; renewed automatically',
        'Scopes        model:read yes, model:write not tried (it would write), practice:read yes',
      ],
    ],
  ])('tells what there is of %s', async (_name, world, lines) => {
    const { stdout } = await whoami([], world);
    expect(stdout.trimEnd().split('\n').slice(2)).toEqual(lines);
    expect(stdout).not.toContain('hush');
  });

  it.each([
    [-2, "agrees with the server's"],
    [2, "agrees with the server's"],
    [-3, "is 3 seconds behind the server's"],
    [3, "is 3 seconds ahead of the server's"],
    [-7200, "is 2 hours behind the server's"],
  ])('compares the clocks: %i seconds', async (ahead, says) => {
    const date = new Date(Date.UTC(2026, 2, 2, 12) - ahead * 1000).toUTCString();
    const { stdout } = await whoami([], { script: new Script(success([]), success([], {}, { date })) });
    expect(stdout).toContain(`\nClock         that of this computer ${says}\n`);
  });

  it.each([
    [
      { exp: Date.UTC(2026, 2, 2, 11) / 1000, scope: '' },
      ['Expires       2026-03-02 11:00 UTC, already past', 'Scopes        none'],
    ],
    [{ exp: Date.UTC(2026, 2, 2, 12, 1) / 1000 }, ['Expires       2026-03-02 12:01 UTC, in 60 seconds']],
  ])('tells what a token claims: %j', async (claims, lines) => {
    const token = `${part({ alg: 'RS256' })}.${part(claims)}.c2ln`;
    const script = new Script(success([]), success([]));
    expect((await whoami([], { env: { MOLAR_TOKEN: token }, script })).stdout.split('\n')).toEqual(
      expect.arrayContaining(lines),
    );
  });

  it.each<[object, string | null, string | null, boolean]>([
    [{ kind: 'token', token: 'hush' }, 'config.json', null, false],
    [{ kind: 'client', clientId: 'me', clientSecret: 'hush' }, 'config.json', 'me', true],
    [{ kind: 'keyring', account: 'a' }, 'keyring', null, false],
    [{ kind: 'keyring', account: 'a', clientId: 'me' }, 'keyring', 'me', true],
    [{ kind: 'command', command: 'echo hush' }, null, null, false],
  ])('tells where the secret is kept: %j', async (secret, kept, clientId, isGranted) => {
    const folder = await mkdtemp(join(tmpdir(), 'molar-whoami-'));
    const profile = { url: 'https://api.example.com', organization: 'org-1', secret };
    await writeFile(join(folder, 'config.json'), JSON.stringify({ profile: 'work', profiles: { work: profile } }));
    const keyring = new FakeKeyring();
    keyring.entries.set('a', 'hush');
    const grant = isGranted ? [answer(200, { access_token: 't', expires_in: 60 })] : [];
    const world = {
      env: { MOLAR_URL: '', MOLAR_ORGANIZATION: '', MOLAR_TOKEN: '', MOLAR_CONFIG_DIR: folder },
      keyring,
      clock: new HeldClock(),
      script: new Script(...grant, success([]), success([])),
    };
    const { stdout } = await whoami(['--json'], world);
    expect(JSON.parse(stdout)).toMatchObject({
      profile: 'work',
      tokenSource: 'profile work',
      tokenKeptIn: kept === 'config.json' ? join(folder, kept) : kept,
      clientId,
    });
    expect(stdout.replace('echo hush', '')).not.toContain('hush');
  });

  it('keeps to the width of a terminal', async () => {
    const { stdout } = await whoami([], { terminal: 60, script: new Script(heard(), lacking()) });
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(stdout).toContain('\n              would write), practice:read no\n');
  });

  it('gives the same as JSON, without the token', async () => {
    const { stdout } = await whoami(['--json'], { script: new Script(heard(), lacking()) });
    expect(JSON.parse(stdout)).toEqual({
      server: 'https://api.example.com',
      serverSource: 'MOLAR_URL',
      organization: 'org-1',
      organizationSource: 'MOLAR_ORGANIZATION',
      profile: null,
      tokenSource: 'MOLAR_TOKEN',
      tokenKeptIn: null,
      clientId: null,
      tokenExpires: null,
      tokenScopes: null,
      access: { 'model:read': true, 'practice:read': false },
      refusals: ['This needs practice:read.'],
      rateLimit: { left: 198, limit: 200 },
      clockAhead: -1,
    });
  });

  it('says what was asked when it is refused', async () => {
    const script = new Script(problem(401, 'auth.token_unknown', 'Authorization', 'Not known.'));
    const ran = await whoami([], { script });
    expect(ran).toMatchObject({ exitCode: 3, stdout: '' });
    expect(ran.stderr).toContain('Asked https://api.example.com for organization org-1 with the token of MOLAR_TOKEN.');
    expect(ran.stderr).toContain('Next: Run molar login');
  });
});
