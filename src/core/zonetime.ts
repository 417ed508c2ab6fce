import type { WallClock } from '../catalog/fields/kind.ts';
import { isTimeZone, utcMilliseconds } from '../catalog/fields/times.ts';
import type { LocalClock } from './output/localclock.ts';

const DAY = 86_400_000;

/**
 * UTC milliseconds of what the clocks of a zone show. A time that they leave out moves forward by the gap; of one that
 * they show twice it is the first (D39).
 */
export function instantIn(clock: LocalClock): (wall: WallClock) => number {
  const offsetAt = (instant: number) => clock.of(instant).wall - instant;
  return (wall) => {
    const asUtc = utcMilliseconds(wall);
    const before = offsetAt(asUtc - DAY);
    // The offset before a change makes the earlier instant of a doubled time, and moves a skipped one forward.
    const early = asUtc - before;
    if (offsetAt(early) === before) return early;
    const after = offsetAt(asUtc + DAY);
    const late = asUtc - after;
    return offsetAt(late) === after ? late : early;
  };
}

/** The zone of this computer: `TZ` where it names one, as Node reads it too. */
export function computerZone(env: Readonly<Record<string, string | undefined>>): string {
  const named = env.TZ?.replace(/^:/, '') ?? '';
  return isTimeZone(named) ? named : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
