/** Local days from one to another, both `YYYY-MM-DD` and both among them. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

const DAY = 86_400_000;

/** The date so many days later. */
export function daysAfter(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY).toISOString().slice(0, 10);
}

/** The date so many months earlier: the same day of the month, or its last one where it has no such day. */
export function monthsBefore(date: string, months: number): string {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const first = new Date(Date.UTC(year, month - 1 - months, 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  first.setUTCDate(Math.min(day, last));
  return first.toISOString().slice(0, 10);
}

/** Every date of these days. */
export function datesOf({ from, to }: Days): string[] {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) => daysAfter(from, index));
}
