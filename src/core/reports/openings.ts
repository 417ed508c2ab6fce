import { isPlainObject } from '../../catalog/fields/kind.ts';
import { quantity } from '../count.ts';
import type { Names } from '../names/namesfile.ts';
import type { LocalClock } from '../output/localclock.ts';
import { PLAIN } from '../output/style.ts';
import type { Row } from '../pages/page.ts';
import { daysFrom, nameOfDay } from './production.ts';
import { columnsOver, type ReportLook, type ReportTable, reportTable } from './reporttable.ts';

/** Form of the calendar. */
export interface CalendarLook extends Pick<ReportLook, 'width' | 'header' | 'style'> {
  readonly clock: LocalClock;
  /** First line: which zone the times are in. */
  readonly heading: string;
  /** Names of providers and operatories; none where absent. */
  readonly names?: Names;
}

/** Slots as a calendar: a heading for each day, below it a line for each slot, its times by the clock. */
export function openingCalendar(slots: readonly Slot[], look: CalendarLook): ReportTable {
  const { clock, heading, header, names, style = PLAIN } = look;
  const ordered = inCalendarOrder(slots);
  const { dateOf, timeOf, endTimeOf } = wallClock(clock);
  const column = columnsOver(ordered);
  const linked = (kind: 'provider' | 'operatory') => {
    const ids = column(kind, (slot) => idOf(slot[kind]));
    const own = column(`${kind} name`, (slot) => names?.nameOf(kind, idOf(slot[kind])) ?? '', {
      isTruncated: true,
      minWidth: 10,
      rank: 3,
    });
    return own.cells.some((name) => name !== '') ? [ids, own] : [ids];
  };
  const columns = [
    column('time', ({ day, start, end }) => `${timeOf(start, day)}-${endTimeOf(end, dateOf(start) ?? day)}`),
    column('min', ({ minutes }) => String(minutes ?? ''), { isRight: true }),
    ...linked('provider'),
    ...linked('operatory'),
    column('booking types', ({ bookingTypes }) => bookingTypes.join(', '), {
      isTruncated: true,
      minWidth: 20,
      rank: 2,
    }),
    column('reasons', ({ reasons }) => reasons.join(', '), { rank: 1 }),
  ];
  const { text, hidden } = reportTable(columns, { ...look, indent: '  ' });
  const lines = text.split('\n');
  const head = lines.splice(0, header ? 2 : 0);
  const days = new Map<string, string[]>();
  for (const [at, { day }] of ordered.entries()) {
    if (!days.has(day)) days.set(day, []);
    days.get(day)?.push(lines[at] ?? '');
  }
  const parts = [...days].map(([day, its]) => {
    const count = quantity(its.length, 'opening');
    return `\n${style('heading', `${nameOfDay(day)} ${day}`)}: ${count}\n${its.join('\n')}\n`;
  });
  const top = [heading, ...head].map((line) => `${line}\n`).join('');
  return { text: top + parts.join(''), hidden };
}

function wallClock(clock: LocalClock) {
  /** `HH:mm`, with the date before it where that is another day than `day`; text that is no instant as it is. */
  const timeOf = (instant: string, day: string): string => {
    const local = clock.at(instant);
    if (local === undefined) return instant;
    const { date, time, offset } = local;
    return `${date === day ? '' : `${date.slice(5)} `}${time}${offset}`;
  };
  return {
    dateOf: (instant: string): string | undefined => clock.at(instant)?.date,
    timeOf,
    /** As `timeOf`, but the midnight that `day` ends with is 24:00. */
    endTimeOf: (instant: string, day: string): string => {
      const { date, time } = clock.at(instant) ?? {};
      return time === '00:00' && date === daysFrom(day, 2)[1] ? '24:00' : timeOf(instant, day);
    },
  };
}

/** One free slot, with the provider, operatory and day it belongs to. Its keys are the columns of CSV. */
export interface Slot extends Row {
  readonly day: string;
  readonly provider: unknown;
  readonly operatory: unknown;
  /** UTC instants, as the API gives them. */
  readonly start: string;
  readonly end: string;
  readonly minutes: number | null;
  readonly bookingTypes: readonly unknown[];
  readonly reasons: readonly unknown[];
}

/** Every slot of the items of `/scheduleopenings`, in their order (specification, Schedule openings). */
export function slotsOf(items: readonly Row[]): Slot[] {
  return items.flatMap(({ day, provider, operatory, slots }) =>
    objects(slots).map(({ start, end, scheduleTemplateBookingType, scheduleTemplateReason }) => ({
      day: String(day),
      provider,
      operatory,
      start: String(start),
      end: String(end),
      minutes: minutesBetween(String(start), String(end)),
      bookingTypes: objects(scheduleTemplateBookingType).map(({ id }) => id),
      reasons: objects(scheduleTemplateReason).map(({ id }) => id),
    })),
  );
}

/** As a calendar reads: by day, then by time, then by provider and operatory. */
export function inCalendarOrder(slots: readonly Slot[]): Slot[] {
  const collator = new Intl.Collator('en', { numeric: true });
  const keyOf = ({ day, start, end, provider, operatory }: Slot) => [day, start, end, idOf(provider), idOf(operatory)];
  return [...slots].sort((a, b) => {
    const [left, right] = [keyOf(a), keyOf(b)];
    return left.map((part, at) => collator.compare(part, right[at] ?? '')).find((order) => order !== 0) ?? 0;
  });
}

/** The id of a linked record as text, empty for none. */
export function idOf(link: unknown): string {
  return isPlainObject(link) && link.id !== undefined && link.id !== null ? String(link.id) : '';
}

function minutesBetween(start: string, end: string): number | null {
  const minutes = (Date.parse(end) - Date.parse(start)) / 60_000;
  return Number.isFinite(minutes) ? minutes : null;
}

function objects(value: unknown): Row[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}
