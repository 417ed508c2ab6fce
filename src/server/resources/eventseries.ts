import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import sql from 'sql-template-tag';
import type { Problem } from '../../catalog/failures.ts';
import { formatInstant } from '../../catalog/fields/times.ts';
import {
  checkRecurrence,
  NAMES_OF_TYPE,
  noOccurrence,
  RECURRENCE_NAMES,
  type RecurrenceFields,
  type RecurrenceName,
  recurrenceOf,
  ruleOf,
} from '../../catalog/recurrence/fields.ts';
import type { RecurrenceRule } from '../../catalog/recurrence/rule.ts';
import type { Reader } from '../store/store.ts';
import { dateOfWall, midnightOf, occurrenceStarts, type ZoneClock } from '../wallclock.ts';
import {
  type EventDraft,
  type EventRecord,
  type EventValues,
  fillEvent,
  settleTimes,
  shiftedStart,
  shiftOf,
  timesProblem,
  wallStart,
} from './eventdrafts.ts';

/**
 * Occurrences of the same series that come after one, in their order. Location is part of what a series is: an import
 * may give one group to events of several locations, whose clocks differ.
 */
export async function laterOccurrences(read: Reader, org: number, event: EventRecord): Promise<EventRecord[]> {
  const { groupId, id, location, start } = event;
  if (groupId === null) return [];
  const rows = await read.all<{ json: string }>(
    sql`SELECT json FROM events WHERE org = ${org} AND group_id = ${groupId} AND location_id = ${location?.id ?? null}
      AND (start, id) > (${start}, ${id}) ORDER BY start, id`,
  );
  return rows.map((row) => JSON.parse(row.json) as EventRecord);
}

export async function hasEarlierOccurrence(read: Reader, org: number, event: EventRecord): Promise<boolean> {
  const { groupId, id, location, start } = event;
  if (groupId === null) return false;
  const row = await read.get(
    sql`SELECT 1 AS found FROM events WHERE org = ${org} AND group_id = ${groupId} AND location_id = ${location?.id ?? null}
      AND (start, id) < (${start}, ${id}) LIMIT 1`,
  );
  return row !== undefined;
}

/** Carries a change of one occurrence to a later one (D39): its start moves by as much, other values are taken over. */
export function followTarget(
  target: EventDraft & { readonly before: EventRecord },
  occurrence: EventRecord,
  values: EventValues,
  clock: ZoneClock,
): EventDraft {
  const shift = shiftOf(target.before, target.after, clock);
  const allDay = values.allDay === undefined ? occurrence.allDay : values.allDay === true;
  const start = shiftedStart(occurrence, allDay === true, shift, clock);
  const after = { ...occurrence, ...values, ...recurrenceOf(occurrence), allDay, start };
  const draft: EventDraft = { ...target, before: occurrence, after, problems: [] };
  settleTimes(draft, clock);
  const problem = timesProblem(draft, clock);
  if (problem !== undefined) draft.problems.push(problem);
  return draft;
}

/** Recurrence properties that a body would change; the order of days does not matter. */
export function changedRecurrence(before: RecurrenceFields, values: EventValues): RecurrenceName[] {
  return RECURRENCE_NAMES.filter((name) => {
    if (!Object.hasOwn(values, name)) return false;
    // Cleared, it is the target's date like one that was not sent.
    if (name === 'recurrenceStart' && values[name] === null) return false;
    if (name === 'recurrenceType' && isHalf(values)) return true;
    return !isDeepStrictEqual(comparable(values[name]), comparable(before[name]));
  });
}

/** A type without the days, or week and day, that must come with it: not an update of nothing, so that they are required. */
function isHalf({ recurrenceType: type, ...values }: EventValues): boolean {
  const needed: readonly RecurrenceName[] = type ? NAMES_OF_TYPE[type] : [];
  return needed.some((name) => !Object.hasOwn(values, name));
}

function comparable(value: unknown): unknown {
  return Array.isArray(value) ? [...value].sort() : value;
}

/** Recurrence properties are the series' (specification, Endpoints, Events). */
export function occurrenceProblems(names: readonly RecurrenceName[]): Problem[] {
  return names.map((name) => ({
    code: 'field.conflict',
    source: name,
    description: `${name} can be changed with recurrenceTarget=SERIES only.`,
  }));
}

/**
 * The recurrence that a SERIES update asks for: type, end and frequency stay unless given; days, or week and day,
 * must be given (specification, Endpoints, Events); an omitted start is the target's date (D39).
 */
export function mergedRecurrence(before: RecurrenceFields, values: EventValues, date: string): RecurrenceFields {
  const { recurrenceType: type = before.recurrenceType } = values;
  const kept = <N extends RecurrenceName>(name: N): RecurrenceFields[N] => {
    const given: RecurrenceFields[N] | undefined = values[name];
    return given === undefined && type !== null ? before[name] : (given ?? null);
  };
  return {
    recurrenceType: type,
    recurrenceStart: values.recurrenceStart ?? (type === null ? null : date),
    recurrenceEnd: kept('recurrenceEnd'),
    recurrenceFrequency: kept('recurrenceFrequency'),
    recurrenceDays: values.recurrenceDays ?? null,
    recurrenceWeek: values.recurrenceWeek ?? null,
    recurrenceDay: values.recurrenceDay ?? null,
  };
}

/** Date of the event on the wall clock. */
export function dateOf(event: EventRecord, clock: ZoneClock): string {
  return dateOfWall(wallStart(event, clock));
}

/**
 * Makes the draft the first occurrence of its recurrence, with a group of its own, or reports what is wrong with
 * recurrence and times. Returns the starts of the further occurrences; none for an event that does not recur. Dates
 * before `from` are left out.
 */
export function spread(draft: EventDraft, clock: ZoneClock, from?: string): string[] {
  const { after, problems, unread } = draft;
  const wrong = checkRecurrence(after, unread);
  problems.push(...wrong);
  const rule = wrong.length > 0 ? undefined : ruleOf(after);
  if (after.start === null) return [];
  const starts = rule === undefined ? [after.start] : startsOf(rule, after, clock, from);
  if (rule !== undefined && starts.length === 0) problems.push(noOccurrence(from ?? rule.start, rule.end));
  const before = rule === undefined ? draft.before : undefined;
  const late = starts.map((start) => timesProblem({ ...draft, before, after: { ...after, start } }, clock));
  problems.push(...late.filter((problem) => problem !== undefined).slice(0, 1));
  if (rule === undefined) return [];
  after.start = starts[0] ?? after.start;
  after.groupId = randomUUID();
  fillEvent(after);
  return starts.slice(1);
}

function startsOf(rule: RecurrenceRule, event: EventRecord, clock: ZoneClock, from: string | undefined): string[] {
  const wall = wallStart(event, clock);
  return occurrenceStarts(rule, wall - midnightOf(wall), clock, from).map(formatInstant);
}
