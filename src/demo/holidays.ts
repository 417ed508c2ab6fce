import { dayIn, weekdayOf, yearOf } from './calendar.ts';

export interface Holiday {
  readonly day: number;
  readonly name: string;
}

/** Days on which every location is closed, from `first` to `last`, ascending. */
export function holidaysBetween(first: number, last: number): Holiday[] {
  const found: Holiday[] = [];
  for (let year = yearOf(first); year <= yearOf(last); year++) found.push(...holidaysOf(year));
  return found.filter(({ day }) => day >= first && day <= last);
}

function holidaysOf(year: number): Holiday[] {
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
