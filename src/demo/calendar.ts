import { instantIn } from '../server/zones.ts';

/** Days are counted from 1970-01-01, so that they can be added and compared as integers. */
const DAY_MS = 86_400_000;

export const WEEKDAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const;

export function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / DAY_MS;
}

/** `YYYY-MM-DD`, by the arithmetic of the Gregorian calendar: a million of these through Date take a second. */
export function dateText(day: number): string {
  const fromMarch = day + 719_468;
  const era = Math.floor(fromMarch / 146_097);
  const dayOfEra = fromMarch - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const month = Math.floor((5 * dayOfYear + 2) / 153);
  const inMonth = dayOfYear - Math.floor((153 * month + 2) / 5) + 1;
  const year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0);
  return `${year}-${twoDigits(month < 10 ? month + 3 : month - 9)}-${twoDigits(inMonth)}`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

/** 0 for Sunday to 6 for Saturday. */
export function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

export function yearOf(day: number): number {
  return new Date(day * DAY_MS).getUTCFullYear();
}

export function dayIn(year: number, month: number, day: number): number {
  return Date.UTC(year, month - 1, day) / DAY_MS;
}

/** UTC milliseconds of the start of a day read as UTC. */
export function utcStart(day: number): number {
  return day * DAY_MS;
}

/** `YYYY-MM-DDTHH:mm:ss.SSSZ` (D7). */
export function instantText(milliseconds: number): string {
  const day = Math.floor(milliseconds / DAY_MS);
  const left = milliseconds - day * DAY_MS;
  const seconds = twoDigits(Math.floor(left / 1_000) % 60);
  return `${dateText(day)}T${timeText(Math.floor(left / 60_000))}:${seconds}.${String(left % 1_000).padStart(3, '0')}Z`;
}

/** `HH:mm` of minutes since midnight. */
export function timeText(minutes: number): string {
  return `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

/** The clock of one time zone. */
export interface ZoneClock {
  /** UTC milliseconds of local minutes since midnight on a day; for 03:00 to 23:59, when US clocks never change. */
  readonly at: (day: number, minutes: number) => number;
  /** UTC milliseconds of local midnight. */
  readonly midnight: (day: number) => number;
}

/** A clock that asks for the zone's offset once a day and keeps the answer. */
export function zoneClock(zone: string): ZoneClock {
  const instantOf = instantIn(zone);
  const wall = (day: number, hour: number) => {
    const date = new Date(day * DAY_MS);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
    return instantOf({ year, month, day: date.getUTCDate(), hour, minute: 0, second: 0, millisecond: 0 });
  };
  const noons = new Map<number, number>();
  return {
    at(day, minutes) {
      let noon = noons.get(day);
      if (noon === undefined) {
        noon = wall(day, 12);
        noons.set(day, noon);
      }
      return noon + (minutes - 720) * 60_000;
    },
    midnight: (day) => wall(day, 0),
  };
}
