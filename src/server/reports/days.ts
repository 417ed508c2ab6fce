import type { WallClock } from '../../catalog/fields/kind.ts';

export const DAY_MS = 86_400_000;

/** The calendar date so many days after (or before) another, both `YYYY-MM-DD`. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Days from one calendar date to another. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS;
}

/** Wall-clock time so many minutes after the midnight that a date begins with; they may reach into later dates. */
export function wallAt(date: string, minutes: number): WallClock {
  const at = new Date(Date.parse(date) + minutes * 60_000);
  return {
    year: at.getUTCFullYear(),
    month: at.getUTCMonth() + 1,
    day: at.getUTCDate(),
    hour: at.getUTCHours(),
    minute: at.getUTCMinutes(),
    second: 0,
    millisecond: 0,
  };
}
