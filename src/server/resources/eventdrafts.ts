import type { Problem } from '../../catalog/failures.ts';
import { formatInstant, LAST_INSTANT } from '../../catalog/fields/times.ts';
import type { RecordOf } from '../../catalog/record.ts';
import type { eventFields } from '../../catalog/resources/events.ts';
import type { OperationRequest } from '../service.ts';
import type { StoredRecord } from '../store/records.ts';
import { dateOfWall, midnightOf, type ZoneClock } from '../wallclock.ts';
import type { Draft } from './behaviour.ts';

/** A calendar event as it is stored and emitted. */
export type EventRecord = RecordOf<typeof eventFields> & { id: number };

/** Canonical values that a body gave. */
export type EventValues = Partial<Omit<EventRecord, 'id'>>;

export interface EventDraft extends Draft {
  readonly before: EventRecord | undefined;
  readonly after: EventRecord;
  readonly unread: ReadonlySet<string>;
}

/** What a body asks for: its values, the problems of reading it, and the names whose values could not be read. */
export interface EventBody {
  readonly values: EventValues;
  readonly problems: readonly Problem[];
  readonly unread: ReadonlySet<string>;
}

export function eventDraft(
  { organization, actor, service }: OperationRequest,
  after: EventRecord,
  body: EventBody,
  was: { readonly before: EventRecord | undefined; readonly row: StoredRecord | undefined },
): EventDraft {
  const given = new Set(Object.keys(body.values));
  return { organization, actor, service, ...was, after, given, unread: body.unread, problems: [...body.problems] };
}

const ALL_DAY_MINUTES = 1439;
const DEFAULT_MINUTES = 60;
const MINUTE_MS = 60_000;

/** Defaults of what is not given, and the end, which is always start and duration (specification, Event). */
export function fillEvent(after: EventRecord): void {
  after.allDay ??= false;
  after.color ??= 'bbbbbb';
  after.duration ??= after.allDay ? ALL_DAY_MINUTES : DEFAULT_MINUTES;
  if (after.start !== null) after.end = formatInstant(Date.parse(after.start) + after.duration * MINUTE_MS);
}

/**
 * Brings start, duration and end of an event together. An event of the whole day starts at local midnight and has
 * 1439 minutes; one that ceases to be has 60 unless a duration was given (D39). Times that did not change stay.
 */
export function settleTimes({ after, before, given }: EventDraft, clock: ZoneClock): void {
  after.allDay ??= false;
  if (before?.allDay && !after.allDay && !given.has('duration')) after.duration = null;
  if (after.allDay && timesDiffer(after, before)) {
    after.duration = ALL_DAY_MINUTES;
    if (after.start !== null) {
      after.start = formatInstant(clock.instantOf(midnightOf(clock.wallOf(Date.parse(after.start)))));
    }
  }
  fillEvent(after);
}

function timesDiffer(after: EventRecord, before: EventRecord | undefined): boolean {
  return after.start !== before?.start || after.duration !== before.duration || after.allDay !== before.allDay;
}

/** An event of less than the whole day must end on the local day it starts on; none may end after the year 9999. */
export function timesProblem({ after, before, given, unread }: EventDraft, clock: ZoneClock): Problem | undefined {
  const { start, duration, allDay } = after;
  if (start === null || duration === null || !timesDiffer(after, before)) return undefined;
  if (['start', 'duration', 'allDay'].some((name) => unread.has(name))) return undefined;
  const source = given.has('duration') && !allDay ? 'duration' : 'start';
  const tooLate = yearProblem(after, source);
  if (tooLate !== undefined) return tooLate;
  const from = Date.parse(start);
  const [first, last] = [clock.wallOf(from), clock.wallOf(from + duration * MINUTE_MS)];
  if (allDay || midnightOf(first) === midnightOf(last)) return undefined;
  const description = `The event of ${dateOfWall(first)} would end on ${dateOfWall(last)} (${clock.zone}); it must end on the day it starts, or be allDay.`;
  return { code: 'field.conflict', source, description };
}

/** Later date-times have years of five digits and would not sort as text. */
export function yearProblem({ start, duration }: EventRecord, source: string): Problem | undefined {
  if (start === null || duration === null || Date.parse(start) + duration * MINUTE_MS <= LAST_INSTANT) return undefined;
  return { code: 'field.range', source, description: `${source}: the event must end before the year 10000 (UTC).` };
}

/** By how much a start moved on the wall clock, and by how many days alone; both in milliseconds. */
interface Shift {
  readonly wall: number;
  readonly days: number;
}

export function shiftOf(before: EventRecord, after: EventRecord, clock: ZoneClock): Shift {
  const from = wallStart(before, clock);
  const to = wallStart(after, clock);
  return { wall: to - from, days: midnightOf(to) - midnightOf(from) };
}

/** Where a later occurrence starts when its series moves; `allDay`: what it will be. */
export function shiftedStart(occurrence: EventRecord, allDay: boolean, shift: Shift, clock: ZoneClock): string {
  // Taking the wall clock and back would change the second of two doubled times.
  if (shift.wall === 0 && allDay === occurrence.allDay) return occurrence.start as string;
  const wall = wallStart(occurrence, clock);
  return formatInstant(clock.instantOf(allDay ? midnightOf(wall) + shift.days : wall + shift.wall));
}

/** Wall time of a start; midnight for the whole day, also where clocks skip midnight. */
export function wallStart({ start, allDay }: EventRecord, clock: ZoneClock): number {
  const wall = clock.wallOf(Date.parse(start as string));
  return allDay ? midnightOf(wall) : wall;
}
