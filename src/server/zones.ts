import { DateTime, IANAZone } from 'luxon';
import type { WallClock } from '../catalog/fields/kind.ts';
import { utcMilliseconds } from '../catalog/fields/times.ts';

/** UTC milliseconds of a wall-clock time in an IANA zone: a skipped time moves forward, a doubled one is the first (D39). */
export function instantIn(zone: string): (wall: WallClock) => number {
  const iana = IANAZone.create(zone);
  return (wall) => {
    const asUtc = utcMilliseconds(wall);
    const day = 86_400_000;
    const before = iana.offset(asUtc - day);
    const after = iana.offset(asUtc + day);
    // The offset before a change makes the earlier instant of a doubled time, and moves a skipped one forward.
    const early = asUtc - before * 60_000;
    if (iana.offset(early) === before) return early;
    const late = asUtc - after * 60_000;
    return iana.offset(late) === after ? late : early;
  };
}

/** Local calendar date `YYYY-MM-DD` of an instant. */
export function localDate(instant: string, zone: string): string {
  return DateTime.fromISO(instant, { zone }).toFormat('yyyy-MM-dd');
}

/** Local calendar date `YYYY-MM-DD` of an instant in UTC milliseconds. */
export function dateAt(instant: number, zone: string): string {
  return new Date(instant + IANAZone.create(zone).offset(instant) * 60_000).toISOString().slice(0, 10);
}
