import type { Fields } from '../../catalog/record.ts';
import { instantOf, isNothing, type Likeness, type Likenesses, likenesses, wallClockOf } from './meaning.ts';

type Values = Readonly<Record<string, unknown>>;

/** What an event has only when it was sent: an event that has it is not the one that was sent without. */
const NEVER_ADDED = ['operatory', 'provider', 'recurrenceType'];

/**
 * Compares a stored calendar event with what was sent, as `likenesses` does. The service moves the start of an event that
 * lasts all day to midnight, and that of a series to its first day (specification, Endpoints, Events; D39).
 */
export function eventLikenesses(fields: Fields, sent: Values, stored: Values): Likenesses {
  const added = NEVER_ADDED.filter((name) => isNothing(sent[name]) && !isNothing(stored[name]));
  const others = Object.fromEntries(added.map((name) => [name, 'other' as const]));
  const isAllDay = sent.allDay === true;
  if (!isAllDay && isNothing(sent.recurrenceType)) return { ...likenesses(fields, sent, stored), ...others };
  const { start: _, ...rest } = sent;
  const { duration: __, ...lasting } = rest;
  const start = startLikeness(sent, stored, isAllDay);
  return { ...likenesses(fields, isAllDay ? lasting : rest, stored), start, ...others };
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function startLikeness(sent: Values, stored: Values, isAllDay: boolean): Likeness {
  if (isNothing(stored.start)) return 'same';
  const exact = instantOf(String(sent.start));
  const there = instantOf(String(stored.start));
  if (exact === undefined || there === undefined) return nearby(sent, stored);
  // Midnight before the start that was sent.
  if (isNothing(sent.recurrenceType)) return there <= exact && exact - there < DAY ? 'same' : 'other';
  const first = Math.min(exact, wallClockOf(`${sent.recurrenceStart}T00:00`) ?? exact);
  if (there < first - DAY) return 'other';
  if (isAllDay) return 'same';
  // Occurrences keep the time on the wall, which moves by an hour when the clocks change.
  const shift = (((there - exact) % DAY) + DAY) % DAY;
  return Math.min(shift, DAY - shift) <= HOUR ? 'same' : 'other';
}

/** Without a zone a start can only be told from one that is days away. */
function nearby(sent: Values, stored: Values): Likeness {
  const [here, there] = [wallClockOf(String(sent.start)), wallClockOf(String(stored.start))];
  if (here === undefined || there === undefined || !isNothing(sent.recurrenceType)) return 'unsure';
  return Math.abs(here - there) < 2 * DAY ? 'unsure' : 'other';
}
