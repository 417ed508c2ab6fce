import type { WallClock } from '../catalog/fields/kind.ts';
import { isTimeZone, utcMilliseconds } from '../catalog/fields/times.ts';

const DAY_MS = 86_400_000;

/** The wall clock of an IANA time zone. */
export interface ZoneTime {
  readonly zone: string;
  /** UTC milliseconds of a wall-clock time; one in a gap moves forward by the gap, a doubled one is the first (D39). */
  readonly instantOf: (wall: WallClock) => number;
  /** Milliseconds from 1970-01-01T00:00 to what the clock reads at an instant in UTC milliseconds. */
  readonly wallOf: (instant: number) => number;
}

export function zoneTime(zone: string): ZoneTime {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const wallOf = (instant: number) => {
    const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, value]));
    const number = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
    // Local midnight of the first day of year 1 is in 1 BC elsewhere.
    const year = parts.get('era') === 'BC' ? 1 - number('year') : number('year');
    const [month, day, hour] = [number('month'), number('day'), number('hour')];
    const [minute, second] = [number('minute'), number('second')];
    const millisecond = ((instant % 1000) + 1000) % 1000;
    return utcMilliseconds({ year, month, day, hour, minute, second, millisecond });
  };
  const offsetAt = (instant: number) => wallOf(instant) - instant;
  return {
    zone,
    wallOf,
    instantOf(wall) {
      const asUtc = utcMilliseconds(wall);
      const before = offsetAt(asUtc - DAY_MS);
      // The offset before a change makes the earlier instant of a doubled time, and moves a skipped one forward.
      const early = asUtc - before;
      if (offsetAt(early) === before) return early;
      const after = offsetAt(asUtc + DAY_MS);
      const late = asUtc - after;
      return offsetAt(late) === after ? late : early;
    },
  };
}

/** The zone of this computer: `TZ` where it names one, as Node reads it too. */
export function computerZone(env: Readonly<Record<string, string | undefined>>): string {
  const named = env.TZ?.replace(/^:/, '') ?? '';
  return isTimeZone(named) ? named : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
