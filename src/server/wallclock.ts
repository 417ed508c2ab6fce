import { IANAZone } from 'luxon';
import { datesOf, type RecurrenceRule } from '../catalog/recurrence/rule.ts';
import { instantIn } from './zones.ts';

/**
 * The wall clock of a time zone. A wall time is the UTC milliseconds that read the same digits, so that adding and
 * comparing wall times is plain arithmetic.
 */
export interface ZoneClock {
  readonly zone: string;
  /** Wall time of an instant in UTC milliseconds. */
  wallOf(instant: number): number;
  /** UTC milliseconds of a wall time; one in a gap moves forward by the gap, a doubled one is the first (D39). */
  instantOf(wall: number): number;
}

export function zoneClock(zone: string): ZoneClock {
  const iana = IANAZone.create(zone);
  const instantFor = instantIn(zone);
  return {
    zone,
    // Offsets of long ago have seconds, which as minutes are no whole numbers.
    wallOf: (instant) => instant + Math.round(iana.offset(instant) * 60_000),
    instantOf(wall) {
      const at = new Date(wall);
      return Math.round(
        instantFor({
          year: at.getUTCFullYear(),
          month: at.getUTCMonth() + 1,
          day: at.getUTCDate(),
          hour: at.getUTCHours(),
          minute: at.getUTCMinutes(),
          second: at.getUTCSeconds(),
          millisecond: at.getUTCMilliseconds(),
        }),
      );
    },
  };
}

const DAY_MS = 86_400_000;

/** Wall time of the midnight that a wall time's day begins with. */
export function midnightOf(wall: number): number {
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

/** Local date `YYYY-MM-DD` of a wall time. */
export function dateOfWall(wall: number): string {
  return new Date(wall).toISOString().slice(0, -14);
}

/**
 * UTC milliseconds at which the occurrences of a rule start, ascending: on each of its dates at the same wall time
 * (D39). `timeOfDay`: wall milliseconds since midnight. Dates before `from` are left out.
 */
export function occurrenceStarts(rule: RecurrenceRule, timeOfDay: number, clock: ZoneClock, from?: string): number[] {
  return datesOf(rule, from).map((date) => clock.instantOf(Date.parse(`${date}T00:00:00Z`) + timeOfDay));
}
