import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { Row } from '../pages/page.ts';

/** One free slot, with the provider, operatory and day it belongs to. Keys are the columns of its CSV. */
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
