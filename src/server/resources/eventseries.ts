import sql from 'sql-template-tag';
import { recurrenceOf } from '../../catalog/recurrence/fields.ts';
import type { Reader } from '../store/store.ts';
import type { ZoneClock } from '../wallclock.ts';
import type { EventDraft, EventRecord, EventValues } from './eventdrafts.ts';
import { settleTimes, shiftedStart, shiftOf, timesProblem } from './eventtimes.ts';

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
