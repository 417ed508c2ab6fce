import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateOfWall, midnightOf, zoneClock } from '../../src/server/wallclock.ts';
import { instantOfWall, jumpsOf, wallText } from './recurrence/calendarwalk.ts';
import { TRIED_ZONES } from './recurrence/generatedrules.ts';

const seconds = (wall: number) => new Date(wall).toISOString().slice(0, 19).replace('T', ' ');
const instants = fc
  .integer({ min: Date.UTC(2016, 0, 1) / 1000, max: Date.UTC(2030, 0, 1) / 1000 })
  .map((at) => at * 1000);

describe.each(TRIED_ZONES)('the clock of %s', (zone) => {
  const clock = zoneClock(zone);
  const nearJumps = jumpsOf(zone).flatMap(({ instant }) =>
    [-7_200_000, -60_000, -1000, 0, 1000, 60_000, 7_200_000].map((by) => instant + by),
  );

  it('shows what Intl shows', () => {
    for (const instant of nearJumps) expect(seconds(clock.wallOf(instant))).toBe(wallText(instant, zone));
    fc.assert(
      fc.property(instants, (instant) => {
        expect(seconds(clock.wallOf(instant))).toBe(wallText(instant, zone));
      }),
    );
  });

  it('finds the instant of each wall time, those around its jumps too', () => {
    for (const jump of jumpsOf(zone)) {
      for (let minutes = -150; minutes <= 150; minutes += 15) {
        const wall = jump.wallBefore + minutes * 60_000;
        expect(new Date(clock.instantOf(wall)).toISOString()).toBe(
          instantOfWall(new Date(wall).toISOString().slice(0, 16), zone),
        );
      }
    }
  });

  it('goes there and back', () => {
    fc.assert(
      fc.property(instants, (instant) => {
        const again = clock.instantOf(clock.wallOf(instant));
        expect(clock.wallOf(again)).toBe(clock.wallOf(instant));
        expect(again).toBeLessThanOrEqual(instant);
      }),
    );
  });
});

describe('a wall time', () => {
  it.each([
    ['2026-03-02T00:00:00.000Z', '2026-03-02'],
    ['2026-03-02T23:59:59.999Z', '2026-03-02'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31'],
    ['0001-01-01T12:00:00.000Z', '0001-01-01'],
    ['+010000-01-01T00:00:00.000Z', '+010000-01-01'],
  ])('%s is on %s', (wall, date) => {
    expect(dateOfWall(Date.parse(wall))).toBe(date);
    expect(new Date(midnightOf(Date.parse(wall))).toISOString()).toBe(`${date}T00:00:00.000Z`);
  });
});
