import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LocalClock } from '../../src/core/output/localclock.ts';
import { computerZone, instantIn } from '../../src/core/zonetime.ts';
import { zoneClock } from '../../src/server/recurrence/zoneclock.ts';

const ZONES = ['America/Denver', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia', 'UTC'];

describe('the wall clock of a zone', () => {
  it('reads and is read as that of the server', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2060, 0, 1) }),
        (zone, at) => {
          const clock = new LocalClock(zone);
          expect(clock.of(at).wall).toBe(zoneClock(zone).wallOf(at));
          const wall = new Date(at);
          const digits = {
            year: wall.getUTCFullYear(),
            month: wall.getUTCMonth() + 1,
            day: wall.getUTCDate(),
            hour: wall.getUTCHours(),
            minute: wall.getUTCMinutes(),
            second: wall.getUTCSeconds(),
            millisecond: wall.getUTCMilliseconds(),
          };
          expect(instantIn(clock)(digits)).toBe(zoneClock(zone).instantOf(at));
        },
      ),
      { numRuns: 300 },
    );
  });
});

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
