import { instantIn } from '../server/zones.ts';

/** Days are counted from 1970-01-01, so that they can be added and compared as integers. */
const DAY_MS = 86_400_000;

/** Names of the weekdays on the wire, Sunday first. */
export const WEEKDAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const;

/** The day of a date written `YYYY-MM-DD`. */
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

/** The calendar year of a day. */
export function yearOf(day: number): number {
  return new Date(day * DAY_MS).getUTCFullYear();
}

/** The day of a date; `month` from 1 to 12. */
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

/** Days on which every location is closed, from `first` to `last`, ascending. */
export function holidaysBetween(first: number, last: number): { day: number; name: string }[] {
  const years = Array.from({ length: yearOf(last) - yearOf(first) + 1 }, (_, index) => yearOf(first) + index);
  return years.flatMap(holidaysOf).filter(({ day }) => day >= first && day <= last);
}

function holidaysOf(year: number) {
  const thanksgiving = nthWeekday(dayIn(year, 11, 1), 4, 4);
  return [
    { day: dayIn(year, 1, 1), name: "New Year's Day" },
    { day: nthWeekday(dayIn(year, 5, 25), 1, 1), name: 'Memorial Day' },
    { day: dayIn(year, 7, 4), name: 'Independence Day' },
    { day: nthWeekday(dayIn(year, 9, 1), 1, 1), name: 'Labor Day' },
    { day: thanksgiving, name: 'Thanksgiving' },
    { day: thanksgiving + 1, name: 'Day after Thanksgiving' },
    { day: dayIn(year, 12, 24), name: 'Winter holiday' },
    { day: dayIn(year, 12, 25), name: 'Winter holiday' },
  ];
}

/** The nth given weekday on or after a day. */
function nthWeekday(from: number, weekday: number, nth: number): number {
  return from + ((weekday - weekdayOf(from) + 7) % 7) + (nth - 1) * 7;
}

/** The clock of one time zone. */
export interface ZoneClock {
  /** UTC milliseconds of local minutes since midnight on a day; for 03:00 to 23:59, when US clocks never change. */
  readonly at: (day: number, minutes: number) => number;
  /** UTC milliseconds of local midnight. */
  readonly midnight: (day: number) => number;
}

const CLOCKS = new Map<string, ZoneClock>();

/** The clock of a zone, shared by its locations: it caches the zone's offset of each day. */
export function zoneClock(zone: string): ZoneClock {
  const clock = CLOCKS.get(zone) ?? newClock(zone);
  CLOCKS.set(zone, clock);
  return clock;
}

function newClock(zone: string): ZoneClock {
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
