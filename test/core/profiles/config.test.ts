import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCredential } from '../../../src/core/connection/credentials.ts';
import { type ConnectionFlags, readSettings } from '../../../src/core/connection/settings.ts';
import { checkProfileName, configPath, readConfig } from '../../../src/core/profiles/config.ts';

const folder = (text: string) => {
  const path = mkdtempSync(join(tmpdir(), 'molar-profiles-'));
  writeFileSync(join(path, 'config.json'), text);
  return path;
};

const profile = (name: string) => ({
  url: `https://${name}.example.com`,
  organization: `org-${name}`,
  secret: { kind: 'token', token: `token-${name}` },
});

const MOLAR_CONFIG_DIR = folder(
  JSON.stringify({ profile: 'home', profiles: { home: profile('home'), work: profile('work') }, defaults: {} }),
);
const ENV = { MOLAR_URL: 'https://env.example.com', MOLAR_ORGANIZATION: 'org-env', MOLAR_TOKEN: 'token-env' };

function resolved(flags: ConnectionFlags, more: Readonly<Record<string, string>>) {
  const env = { MOLAR_CONFIG_DIR, ...more };
  const settings = readSettings(flags, env);
  const credential = findCredential(flags, env, settings);
  const token = credential.kind === 'token' ? credential.token : credential.kind;
  return [new URL(settings.baseUrl).hostname.split('.')[0], settings.organization, token];
}

describe('flags beat the environment, which beats the profile', () => {
  it.each<[string, ConnectionFlags, Readonly<Record<string, string>>, string[]]>([
    ['the profile in use', {}, {}, ['home', 'org-home', 'token-home']],
    ['MOLAR_PROFILE', {}, { MOLAR_PROFILE: 'work' }, ['work', 'org-work', 'token-work']],
    [
      '--profile over MOLAR_PROFILE',
      { profile: 'home' },
      { MOLAR_PROFILE: 'work' },
      ['home', 'org-home', 'token-home'],
    ],
    ['the environment', {}, ENV, ['env', 'org-env', 'token-env']],
    ['the environment over MOLAR_PROFILE', {}, { ...ENV, MOLAR_PROFILE: 'work' }, ['env', 'org-env', 'token-env']],
    ['--profile over the environment', { profile: 'work' }, ENV, ['work', 'org-work', 'token-work']],
    ['one variable', {}, { MOLAR_ORGANIZATION: 'org-env' }, ['home', 'org-env', 'token-home']],
    ['one flag', { organization: 'org-flag' }, ENV, ['env', 'org-flag', 'token-env']],
    ['a flag over --profile', { profile: 'work', organization: 'o' }, ENV, ['work', 'o', 'token-work']],
    ['a token of the environment', {}, { MOLAR_TOKEN: 't' }, ['home', 'org-home', 't']],
    ['a token flag', { profile: 'work', tokenFile: 'x' }, ENV, ['work', 'org-work', 'file']],
  ])('%s', (_name, flags, env, expected) => {
    expect(resolved(flags, env)).toEqual(expected);
  });

  it.each<[string, ConnectionFlags, Readonly<Record<string, string>>, string]>([
    [
      'the token of a profile for another server',
      { url: 'https://evil.example.com' },
      {},
      'is for https://home.example',
    ],
    ['a profile that is not there', { profile: 'nosuch' }, {}, 'There is no profile nosuch. There are: home, work.'],
    ['a variable that names none', {}, { MOLAR_PROFILE: '__proto__' }, 'There is no profile __proto__.'],
    ['half a client', {}, { MOLAR_CLIENT_ID: 'x' }, 'MOLAR_CLIENT_SECRET is not'],
  ])('refuses %s', (_name, flags, env, message) => {
    expect(() => resolved(flags, env)).toThrow(message);
  });

  it('names the profiles where none of them is in use', () => {
    const path = folder(JSON.stringify({ profiles: { home: profile('home'), work: profile('work') }, defaults: {} }));
    expect(() => readSettings({}, { MOLAR_CONFIG_DIR: path })).toThrow(
      expect.objectContaining({
        message: 'MOLAR_URL is not set, and --url is not given.',
        hint: 'Choose a profile with molar profiles use NAME, or give --profile NAME for once. There are: home, work.',
      }),
    );
  });

  it('does not read the config where it is not needed', () => {
    expect(resolved({}, { ...ENV, MOLAR_CONFIG_DIR: folder('{') })).toEqual(['env', 'org-env', 'token-env']);
  });
});

describe('the config file', () => {
  it.each<[NodeJS.Platform, Readonly<Record<string, string>>, string]>([
    ['linux', { HOME: '/srv/ann' }, '/srv/ann/.config/molar/config.json'],
    ['linux', { HOME: '/srv/ann', XDG_CONFIG_HOME: '/etc/ann' }, '/etc/ann/molar/config.json'],
    ['darwin', { HOME: '/srv/ann' }, '/srv/ann/Library/Preferences/molar/config.json'],
    ['linux', { HOME: '/srv/ann', MOLAR_CONFIG_DIR: '/srv/molar' }, '/srv/molar/config.json'],
  ])('is on %s with %o at %s', (platform, env, path) => {
    expect(configPath(env, platform)).toBe(normalize(path));
  });

  it.each([
    ['no JSON', '{"token":"hush"', 'is not valid JSON'],
    ['a list', '[]', 'is not a JSON object'],
    ['a profile without a secret', '{"profiles":{"a":{"url":"x","organization":"y"}}}', 'an incomplete profile a'],
    [
      'an unknown kind of secret',
      '{"profiles":{"a":{"url":"x","organization":"y","secret":{"kind":"toString"}}}}',
      'incomplete',
    ],
    [
      'an address for tokens that is no text',
      '{"profiles":{"a":{"url":"x","organization":"y","secret":{"kind":"keyring","account":"b","tokenUrl":1}}}}',
      'an incomplete profile a',
    ],
    ['a number as default', '{"defaults":{"pageSize":5}}', 'defaults that are not strings'],
  ])('is refused with %s', (_name, text, message) => {
    const read = () => readConfig(join(folder(text), 'config.json'));
    expect(read).toThrow(message);
    expect(read).not.toThrow('hush');
  });
});

describe('the name of a profile', () => {
  it.each(['a', '0', 'front-desk_2.old', 'A'.repeat(64)])('may be %s', (name) => {
    expect(checkProfileName(name)).toBe(name);
  });

  it.each(['', 'A'.repeat(65), '.hidden', '-x', '_x', 'a b', 'a/b', '../a', 'a\n', 'é'])('may not be %j', (name) => {
    expect(() => checkProfileName(name)).toThrow('A profile name is 1 to 64');
  });
});
