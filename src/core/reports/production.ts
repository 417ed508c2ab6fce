import { countText } from '../count.ts';
import type { Row } from '../pages/page.ts';
import { bar, dollarsText } from './money.ts';
import { columnsOver, type ReportLook, reportTable } from './reporttable.ts';

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

const DAY_NAMES = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

const MAX_BAR = 40;

/** Days with what is scheduled in dollars, and their total; bars on a terminal of `width` columns. */
export function productionTable(
  days: readonly ProductionDay[],
  look: Pick<ReportLook, 'width' | 'header' | 'style'>,
): string {
  const { width } = look;
  const most = Math.max(0, ...days.map(({ cents }) => cents));
  const room = width === undefined ? 0 : Math.max(0, Math.min(MAX_BAR, width - 55));
  const total = (of: (day: ProductionDay) => number) => days.reduce((sum, day) => sum + of(day), 0);
  const all = { appointments: total((day) => day.appointments), cents: total((day) => day.cents) };
  const column = columnsOver([
    ...days.map((day) => ({ ...day, name: `${day.day} ${nameOfDay(day.day)}` })),
    { ...all, name: 'Total' },
  ]);
  const columns = [
    column('day', ({ name }) => name),
    column('appointments', ({ appointments }) => countText(appointments), { isRight: true }),
    column('scheduled (USD)', ({ cents }) => dollarsText(cents), { isRight: true }),
  ];
  const bars = columnsOver(days)('', ({ cents }) => bar(cents, most, room));
  return reportTable(room > 0 && days.length > 1 ? [...columns, bars] : columns, { ...look, hasTotal: true }).text;
}

/** `Mon` for `2026-03-02`. */
export function nameOfDay(day: string): string {
  return DAY_NAMES[new Date(`${day}T00:00:00Z`).getUTCDay()] ?? '';
}
