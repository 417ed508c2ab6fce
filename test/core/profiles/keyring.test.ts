import { describe, expect, it } from 'vitest';
import { allowsKeyring, KeyringError, TimedKeyring } from '../../../src/core/profiles/keyring.ts';
import { type Act, type Behaviour, FakeKeyring, HeldClock } from './fakekeyring.ts';

function patient(behaves: (act: Act) => Behaviour) {
  const fake = new FakeKeyring(behaves);
  const clock = new HeldClock();
  clock.hurries = true;
  return { fake, clock, keyring: new TimedKeyring(fake, clock) };
}

describe('a keyring that works', () => {
  it('keeps, gives back and forgets', async () => {
    const { fake, keyring } = patient(() => 'works');
    expect(await keyring.read('a')).toBeUndefined();
    await keyring.write('a', 'hush');
    expect(await keyring.read('a')).toBe('hush');
    await keyring.remove('a');
    await keyring.remove('a');
    expect(fake.entries.size).toBe(0);
  });

  it('is asked to give back what it was given', async () => {
    const { fake, keyring } = patient(() => 'works');
    await keyring.write('a', 'hush');
    expect(fake.asked).toEqual(['write', 'read']);
  });
});

describe('a keyring that does not', () => {
  it.each<[string, Act, Behaviour, string]>([
    ['hangs at a read', 'read', 'hangs', 'it does not respond within 3 s'],
    ['hangs at a write', 'write', 'hangs', 'it does not respond within 3 s'],
    ['refuses a write', 'write', 'refuses', 'it cannot be used'],
    ['loses what it was given', 'write', 'loses', 'it does not return what was stored'],
    ['changes what it was given', 'write', 'garbles', 'it does not return what was stored'],
  ])('%s', async (_name, act, how, message) => {
    const { fake, clock, keyring } = patient((asked) => (asked === act ? how : 'works'));
    const failure: unknown = await keyring.write('a', 'hush').catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(KeyringError);
    expect((failure as Error).message).toBe(message);
    expect(fake.asked.at(-1)).toBe('remove');
    expect(fake.entries.size).toBe(0);
    expect(new Set(clock.sleeps)).toEqual(new Set([3000]));
  });

  it('is told to stop when its time is up', async () => {
    const { fake, keyring } = patient(() => 'hangs');
    await expect(keyring.read('a')).rejects.toThrow('does not respond');
    expect(fake.aborted).toEqual(['read']);
  });

  it('leaves nothing written that was late', async () => {
    const { fake, keyring } = patient((act) => (act === 'remove' ? 'refuses' : 'hangs'));
    await expect(keyring.write('a', 'hush')).rejects.toThrow('does not respond');
    expect(fake.asked).toEqual(['write', 'remove']);
  });
});

describe('MOLAR_KEYRING', () => {
  it.each([
    [undefined, true],
    ['', true],
    ['on', true],
    ['off', false],
  ])('%j: %s', (MOLAR_KEYRING, expected) => {
    expect(allowsKeyring({ MOLAR_KEYRING })).toBe(expected);
  });

  it.each(['no', 'OFF', '0'])('refuses %j', (MOLAR_KEYRING) => {
    expect(() => allowsKeyring({ MOLAR_KEYRING })).toThrow('MOLAR_KEYRING must be on or off.');
  });
});
