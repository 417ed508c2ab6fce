import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computerZone, zoneTime } from '../../src/core/zonetime.ts';
import { zoneClock } from '../../src/server/recurrence/zoneclock.ts';

const ZONES = ['America/Denver', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia', 'UTC'];

const DAY = 86_400_000;

describe('the wall clock of a zone', () => {
  it('reads and is read as that of the server', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2060, 0, 1) }),
        (zone, at) => {
          const [ours, theirs] = [zoneTime(zone), zoneClock(zone)];
          expect(ours.wallOf(at)).toBe(theirs.wallOf(at));
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
          expect(ours.instantOf(digits)).toBe(theirs.instantOf(at));
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    ['the first day there is', '0001-01-01T00:00:00.000Z'],
    ['a time before 1970', '1969-12-31T23:59:59.001Z'],
  ])('reads %s', (_name, instant) => {
    const at = Date.parse(instant);
    expect(zoneTime('UTC').wallOf(at)).toBe(at);
    expect(Math.abs(zoneTime('Asia/Tokyo').wallOf(at) - at)).toBeLessThan(DAY);
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
