import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Profile, ProfileSecret, StoredConfig } from '../../../src/core/profiles/config.ts';
import { SecretStore } from '../../../src/core/profiles/secretstore.ts';
import { OWNER_ONLY } from '../../support/capabilities.ts';
import { type Act, type Behaviour, FakeKeyring, HeldClock } from './fakekeyring.ts';

const TOKEN: ProfileSecret = { kind: 'token', token: 'hush-token' };
const CLIENT: ProfileSecret = { kind: 'client', clientId: 'me', clientSecret: 'hush secret', tokenUrl: 'https://t' };
const COMMAND: ProfileSecret = { kind: 'command', command: 'pass show x' };

const profile = (secret: ProfileSecret): Profile => ({ url: 'https://api.example.com', organization: 'org-1', secret });

function world(options: { env?: Record<string, string>; behaves?: (act: Act, account: string) => Behaviour } = {}) {
  const path = join(mkdtempSync(join(tmpdir(), 'molar-secrets-')), 'config.json');
  const keyring = new FakeKeyring(options.behaves);
  const clock = new HeldClock();
  clock.hurries = true;
  const owner = { pid: 7, host: 'desk', clock, lifeOf: () => ({ alive: true }) };
  let ids = 0;
  const secrets = new SecretStore({ env: options.env ?? {}, keyring, newId: () => `id-${++ids}`, owner });
  const text = () => readFileSync(path, 'utf8');
  const stored = (name = 'work') => (JSON.parse(text()) as StoredConfig).profiles[name]?.secret;
  return { path, keyring, secrets, text, stored };
}

describe('a secret that is kept', () => {
  it('is in the keyring, and not in the file', async () => {
    const { path, keyring, secrets, text, stored } = world();
    expect(await secrets.saveProfile(path, 'work', profile(TOKEN))).toEqual({ where: 'keyring' });
    expect(stored()).toEqual({ kind: 'keyring', account: 'work id-1' });
    expect([...keyring.entries]).toEqual([['work id-1', 'hush-token']]);
    expect(text()).not.toContain('hush');
    expect(await secrets.read('work id-1', 'profile work')).toBe('hush-token');
  });

  it('of a client leaves its id and address in the file', async () => {
    const { path, keyring, secrets, text, stored } = world();
    await secrets.saveProfile(path, 'work', profile(CLIENT));
    expect(stored()).toEqual({ kind: 'keyring', account: 'work id-1', clientId: 'me', tokenUrl: 'https://t' });
    expect(keyring.entries.get('work id-1')).toBe('hush secret');
    expect(text()).not.toContain('hush');
  });

  it.each<[string, Act, Behaviour, string]>([
    ['hangs', 'write', 'hangs', 'it does not respond within 3 s'],
    ['refuses', 'write', 'refuses', 'it cannot be used'],
    ['loses it', 'write', 'loses', 'it does not return what was stored'],
    ['cannot be read', 'read', 'refuses', 'it cannot be used'],
  ])('is in a file of its owner when the keyring %s, and says so', async (_name, act, how, because) => {
    const { path, keyring, secrets, stored } = world({ behaves: (asked) => (asked === act ? how : 'works') });
    expect(await secrets.saveProfile(path, 'work', profile(TOKEN))).toEqual({ where: 'file', reason: because });
    expect(stored()).toEqual(TOKEN);
    expect(statSync(path).mode & 0o777).toBe(OWNER_ONLY.file);
    expect(keyring.entries.size).toBe(0);
  });

  it.each([
    ['MOLAR_KEYRING=off', TOKEN, { MOLAR_KEYRING: 'off' }],
    ['a command', COMMAND, {}],
  ])('leaves the keyring alone for %s', async (_name, secret, env) => {
    const { path, keyring, secrets, stored } = world({ env });
    expect(await secrets.saveProfile(path, 'work', profile(secret))).toEqual({ where: 'file' });
    expect(stored()).toEqual(secret);
    expect(keyring.asked).toEqual([]);
  });
});

describe('a secret that takes the place of another', () => {
  it('is stored, read back and named before the old one goes', async () => {
    const seen: string[] = [];
    const { path, keyring, secrets, stored } = world();
    await secrets.saveProfile(path, 'work', profile(TOKEN));
    keyring.behaves = (act, account) => {
      seen.push(`${act} ${account}, config names ${(stored() as { account: string }).account}`);
      return 'works';
    };
    await secrets.saveProfile(path, 'work', profile(CLIENT));
    expect(seen).toEqual([
      'write work id-2, config names work id-1',
      'read work id-2, config names work id-1',
      'remove work id-1, config names work id-2',
    ]);
    expect([...keyring.entries.keys()]).toEqual(['work id-2']);
  });

  it.each<[Behaviour, Act]>([
    ['hangs', 'write'],
    ['hangs', 'read'],
    ['hangs', 'remove'],
    ['refuses', 'write'],
    ['refuses', 'read'],
    ['refuses', 'remove'],
    ['loses', 'write'],
    ['garbles', 'write'],
  ])('is never lost when the keyring %s at a %s', async (how, act) => {
    const { path, keyring, secrets, stored } = world();
    await secrets.saveProfile(path, 'work', profile({ kind: 'token', token: 'first' }));
    keyring.behaves = (asked) => (asked === act ? how : 'works');
    await secrets.saveProfile(path, 'work', profile({ kind: 'token', token: 'second' }));
    keyring.behaves = () => 'works';
    const secret = stored();
    expect(secret?.kind === 'keyring' ? await secrets.read(secret.account, 'profile work') : secret).toEqual(
      secret?.kind === 'keyring' ? 'second' : { kind: 'token', token: 'second' },
    );
  });

  it('that cannot be removed is named', async () => {
    const { path, keyring, secrets } = world();
    await secrets.saveProfile(path, 'work', profile(TOKEN));
    keyring.behaves = (act) => (act === 'remove' ? 'refuses' : 'works');
    expect(await secrets.saveProfile(path, 'work', profile(CLIENT))).toEqual({ where: 'keyring', orphan: 'work id-1' });
  });

  it('leaves no entry behind when the config cannot be written', async () => {
    const { path, keyring, secrets } = world();
    const broken = join(path, 'config.json');
    writeFileSync(path, '{}');
    await expect(secrets.saveProfile(broken, 'work', profile(TOKEN))).rejects.toMatchObject({ exitCode: 9 });
    expect(keyring.entries.size).toBe(0);
  });
});

describe('a profile that is removed', () => {
  it('goes with its secret', async () => {
    const { path, keyring, secrets, stored } = world();
    await secrets.saveProfile(path, 'work', profile(TOKEN));
    expect(await secrets.deleteProfile(path, 'work')).toBeUndefined();
    expect([stored(), keyring.entries.size]).toEqual([undefined, 0]);
  });

  it('goes when the keyring has lost the secret', async () => {
    const { path, keyring, secrets, stored } = world();
    await secrets.saveProfile(path, 'work', profile(TOKEN));
    keyring.entries.clear();
    expect(await secrets.deleteProfile(path, 'work')).toBeUndefined();
    expect(stored()).toBeUndefined();
  });

  it.each<[Behaviour]>([['hangs'], ['refuses']])('stays whole when the keyring %s', async (how) => {
    const { path, keyring, secrets, stored } = world();
    await secrets.saveProfile(path, 'work', profile(TOKEN));
    keyring.behaves = () => how;
    await expect(secrets.deleteProfile(path, 'work')).rejects.toMatchObject({
      exitCode: 2,
      hint: expect.stringContaining('set MOLAR_KEYRING to off before'),
    });
    expect(stored()).toEqual({ kind: 'keyring', account: 'work id-1' });
  });

  it('goes alone with MOLAR_KEYRING=off, and names what stays', async () => {
    const env: Record<string, string> = {};
    const { path, keyring, secrets, stored } = world({ env });
    await secrets.saveProfile(path, 'work', profile(TOKEN));
    env.MOLAR_KEYRING = 'off';
    expect(await secrets.deleteProfile(path, 'work')).toBe('work id-1');
    expect([stored(), keyring.entries.size]).toEqual([undefined, 1]);
  });
});

describe('a secret that is read', () => {
  it.each<[string, Behaviour | 'off' | 'lost', string, string]>([
    ['a keyring that hangs', 'hangs', 'cannot be read: it does not respond within 3 s', 'Unlock the keyring'],
    [
      'a keyring that refuses',
      'refuses',
      'cannot be read: it cannot be used',
      'set MOLAR_KEYRING to off and run molar login --profile work again',
    ],
    ['a lost entry', 'lost', 'no longer holds the secret of profile work', 'Run molar login --profile work again.'],
    ['MOLAR_KEYRING=off', 'off', 'which MOLAR_KEYRING=off leaves alone', 'Unset MOLAR_KEYRING'],
  ])('from %s fails with a next step', async (_name, how, message, hint) => {
    const env = how === 'off' ? { MOLAR_KEYRING: 'off' } : {};
    const { keyring, secrets } = world({ env, behaves: () => (how === 'off' || how === 'lost' ? 'works' : how) });
    if (how !== 'lost') keyring.entries.set('work id-1', 'hush');
    await expect(secrets.read('work id-1', 'profile work')).rejects.toMatchObject({
      exitCode: 2,
      code: 'usage.connection',
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });
});
