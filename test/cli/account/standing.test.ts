import { describe, expect, it } from 'vitest';
import { standingText } from '../../../src/cli/account/standing.ts';

const NOWHERE = { MOLAR_CONFIG_DIR: '/nonexistent' };

describe('molar alone on a terminal', () => {
  it('says where it leads, and no secret', () => {
    const env = {
      ...NOWHERE,
      MOLAR_URL: 'https://api.example.com',
      MOLAR_ORGANIZATION: 'practice-1',
      MOLAR_TOKEN: 'hush',
    };
    expect(standingText(env, 80).split('\n')).toEqual([
      'Profile       none in use',
      'Server        https://api.example.com (MOLAR_URL)',
      'Organization  practice-1 (MOLAR_ORGANIZATION)',
      'Token         from MOLAR_TOKEN; molar whoami asks the server what it may do',
      'Next          molar patients list, or molar help for every command',
      '',
    ]);
  });

  it.each([
    [{}, /^Not logged in No server is known yet\.\nNext {10}molar login, or molar demo/],
    [
      { MOLAR_URL: 'https://api.example.com', MOLAR_ORGANIZATION: 'a b', MOLAR_TOKEN: 'hush' },
      /MOLAR_ORGANIZATION must be 1 to 64 letters/,
    ],
  ])('says what is missing: %j', (env, said) => {
    const text = standingText({ ...NOWHERE, ...env }, 80);
    expect(text).toMatch(said);
    expect(text).not.toContain('hush');
    expect(text.split('\n').every((line) => line.length <= 80)).toBe(true);
  });
});
