import { describe, expect, it } from 'vitest';
import { computerZone } from '../../src/core/environment.ts';

describe('the zone of this computer', () => {
  it.each([
    ['TZ', { TZ: 'Asia/Tokyo' }, 'Asia/Tokyo'],
    ['TZ with the colon of POSIX', { TZ: ':Europe/Paris' }, 'Europe/Paris'],
  ])('is that of %s', (_name, env, zone) => {
    expect(computerZone(env)).toBe(zone);
  });

  it.each([{}, { TZ: '' }, { TZ: 'nonsense' }])('is what the system says for %j', (env) => {
    expect(computerZone(env)).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  });
});
