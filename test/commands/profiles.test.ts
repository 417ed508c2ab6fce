import { describe, expect, it } from 'vitest';
import Login from '../../src/commands/login.ts';
import ProfilesList from '../../src/commands/profiles/list.ts';
import ProfilesRemove from '../../src/commands/profiles/remove.ts';
import ProfilesUse from '../../src/commands/profiles/use.ts';
import Whoami from '../../src/commands/whoami.ts';
import { OWNER_ONLY } from '../support/capabilities.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../support/ids.ts';
import { sharedService } from '../support/service.ts';
import { configFolder } from './connecting.ts';
import { runCommand, sendTo } from './documents/run.ts';

const served = sharedService();
const send = sendTo(() => served.app);
const config = configFolder();
const run = (command: unknown, argv: readonly string[], env: Record<string, string> = {}) =>
  runCommand(command, argv, { send, env: config.env(env) });

async function twoProfiles(): Promise<void> {
  for (const [name, organization] of Object.entries({ home: ORGANIZATION, 'other.one': OTHER_ORGANIZATION })) {
    const argv = ['--url', 'http://localhost', '--organization', organization, '--profile', name, '--token-stdin'];
    const ran = await runCommand(Login, argv, { send, stdin: TOKENS.both, env: config.env() });
    expect(ran.exitCode).toBe(0);
  }
}

describe('molar profiles', () => {
  it('lists them without secrets, the one in use marked', async () => {
    await twoProfiles();
    const ran = await run(ProfilesList, []);
    expect(ran.stdout.toString()).toBe(
      `name,use,url,organization,kept,where\nhome,no,http://localhost,${ORGANIZATION},token,file\n` +
        `other.one,yes,http://localhost,${OTHER_ORGANIZATION},token,file\n`,
    );
    const json = JSON.parse((await run(ProfilesList, ['--json'], { MOLAR_PROFILE: 'home' })).stdout.toString());
    expect(json.map(({ use }: { use: string }) => use)).toEqual(['yes', 'no']);
  });

  it('lists none before the first login', async () => {
    expect((await run(ProfilesList, ['--json'])).stdout.toString()).toBe('[]\n');
  });

  it('puts one in use', async () => {
    await twoProfiles();
    expect(await run(ProfilesUse, ['home'])).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('home') });
    expect((await run(Whoami, [])).stdout.toString()).toContain(`Organization  ${ORGANIZATION} (profile home)`);
    const other = await run(Whoami, ['--profile', 'other.one']);
    expect(other.stdout.toString()).toContain(`Organization  ${OTHER_ORGANIZATION} (profile other.one)`);
  });

  it('warns when a variable names another', async () => {
    await twoProfiles();
    const ran = await run(ProfilesUse, ['home'], { MOLAR_PROFILE: 'other.one' });
    expect(ran.stderr).toContain('Warning: MOLAR_PROFILE is set and names other.one instead.');
  });

  it('removes one and says when none is in use', async () => {
    await twoProfiles();
    const ran = await run(ProfilesRemove, ['other.one']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('No profile is in use now') });
    expect(JSON.stringify(await config.read())).not.toContain('other.one');
    expect(await config.mode()).toBe(OWNER_ONLY.file);
  });

  it.each([
    ['use', ProfilesUse],
    ['remove', ProfilesRemove],
  ])('%s refuses a name that is not there', async (_name, command) => {
    await twoProfiles();
    const before = await config.read();
    const ran = await run(command, ['hom']);
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('There are: home, other.one.') });
    expect(await config.read()).toEqual(before);
  });
});

describe('molar whoami', () => {
  it('tells where everything comes from, and not the token', async () => {
    const ran = await runCommand(Whoami, ['--organization', ORGANIZATION], { send, env: { MOLAR_TOKEN: TOKENS.read } });
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ran.stdout.toString().replace(/^(?:Rate limit|Clock) .*\n/gm, '')).toBe(
      [
        'Server        http://localhost (MOLAR_URL)',
        `Organization  ${ORGANIZATION} (--organization)`,
        'Token         accepted by the server; from MOLAR_TOKEN',
        'Expires       unknown: neither the server nor the token says',
        'Scopes        model:read yes, model:write not tried (it would write), practice:read no',
        'Server says   This requires the scope practice:read; the token has model:read.',
        '',
      ].join('\n'),
    );
  });

  it.each<[string, string, string, number, string]>([
    ['a token that is unknown', 'nosuch', ORGANIZATION, 3, 'auth.token_unknown'],
    ['a token that is expired', TOKENS.expired, ORGANIZATION, 3, 'auth.token_expired'],
    ['another organization', TOKENS.full, OTHER_ORGANIZATION, 3, 'auth.organization_forbidden'],
  ])('fails for %s', async (_name, token, organization, exitCode, code) => {
    const env = { MOLAR_TOKEN: token, MOLAR_ORGANIZATION: organization };
    const ran = await runCommand(Whoami, ['--json'], { send, env });
    expect({ exitCode: ran.exitCode, stdout: ran.stdout.toString() }).toEqual({ exitCode, stdout: '' });
    const { error } = JSON.parse(ran.stderr);
    expect(error.code).toBe(code);
    expect(error.message).toContain(`organization ${organization} with the token of MOLAR_TOKEN.`);
    expect(ran.stderr).not.toContain(token);
  });

  it('does without the scope to read', async () => {
    const ran = await runCommand(Whoami, ['--json'], { send, env: { MOLAR_TOKEN: TOKENS.none } });
    expect(JSON.parse(ran.stdout.toString()).access).toEqual({ 'model:read': false, 'practice:read': false });
  });
});
