import type { Row } from '../pages/page.ts';

/** What one day has scheduled. */
export interface ProductionDay {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly appointments: number;
  readonly cents: number;
}

/** The days of a report: `count` of them from `from`, each `YYYY-MM-DD`. */
export function daysFrom(from: string, count: number): string[] {
  const [year = 1, month = 1, day = 1] = from.split('-').map(Number);
  return Array.from({ length: count }, (_, at) => {
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day + at);
    return date.toISOString().slice(0, 10);
  });
}

/** A day and the production items of it; undefined when an amount is no whole number of cents, as a number or as text. */
export function productionDay(day: string, items: readonly Row[]): ProductionDay | undefined {
  let cents = 0;
  for (const { scheduledAmount } of items) {
    const isText = typeof scheduledAmount === 'string' && /^-?\d{1,16}$/.test(scheduledAmount);
    const amount = isText ? Number(scheduledAmount) : (scheduledAmount ?? 0);
    if (!Number.isSafeInteger(amount)) return undefined;
    cents += amount as number;
  }
  return { day, appointments: items.length, cents };
}
