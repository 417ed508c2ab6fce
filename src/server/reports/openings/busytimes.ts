import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { Resource } from '../../../catalog/define.ts';
import { formatInstant, LAST_INSTANT } from '../../../catalog/fields/times.ts';
import { appointments, FREEING_STATUSES } from '../../../catalog/resources/appointments.ts';
import { events } from '../../../catalog/resources/events.ts';
import { noneOf, tableOf } from '../../store/layout.ts';
import { type Reach, seenBy } from '../../store/reach.ts';
import type { Reader } from '../../store/store.ts';
import { DAY_MS } from '../days.ts';
import { groupsOf } from '../groups.ts';
import { memoize } from '../memoize.ts';

/** Where and when openings are looked for. */
interface Search extends Interval {
  readonly location: number;
  readonly operatories: readonly number[];
  readonly providers: readonly number[];
}

/** When a provider in an operatory is taken; merged, by start. */
export type BusyTimes = (provider: number, operatory: number) => readonly Interval[];

interface BusyRow {
  readonly operatory_id: number | null;
  readonly provider_id: number | null;
  readonly start: string;
  readonly end: string;
}

/** The condition of the index of appointments that take up their operatory and provider. */
const OCCUPYING = raw(noneOf('r.status', FREEING_STATUSES));

/**
 * When a provider in an operatory is taken (D32): by appointments and events of either, wherever they stand, and by
 * events of the whole location.
 */
export async function busyTimes(read: Reader, reach: Reach, search: Search): Promise<BusyTimes> {
  const inOperatory = sql`r.operatory_id IN (${join([...search.operatories])})`;
  const ofProvider = sql`r.provider_id IN (${join([...search.providers])})`;
  const ofLocation = sql`r.location_id = ${search.location} AND r.operatory_id IS NULL AND r.provider_id IS NULL`;
  const rows = [
    ...(await overlapping(read, reach, appointments, search, sql`${inOperatory} AND ${OCCUPYING}`)),
    ...(await overlapping(read, reach, appointments, search, sql`${ofProvider} AND ${OCCUPYING}`)),
    ...(await overlapping(read, reach, events, search, inOperatory)),
    ...(await overlapping(read, reach, events, search, ofProvider)),
    ...(await overlapping(read, reach, events, search, ofLocation)),
  ].map((row) => ({ ...row, interval: intervalOf(row) }));
  const everywhere = rows.filter((row) => row.operatory_id === null && row.provider_id === null);
  const byOperatory = groupsOf(rows, (row) => row.operatory_id);
  const byProvider = groupsOf(rows, (row) => row.provider_id);
  const timesOf = (provider: number, operatory: number) => {
    const taken = [...everywhere, ...(byOperatory.get(operatory) ?? []), ...(byProvider.get(provider) ?? [])];
    return merged(taken.map(({ interval }) => interval));
  };
  const known = memoize((provider: number) => memoize((operatory: number) => timesOf(provider, operatory)));
  return (provider, operatory) => known(provider)(operatory);
}

/** Rows that may reach into the search: nothing takes longer than a day (specification, Limits; D27). */
function overlapping(
  read: Reader,
  reach: Reach,
  resource: Resource,
  { from, to }: Search,
  condition: Sql,
): Promise<BusyRow[]> {
  const before = formatInstant(Math.min(to, LAST_INSTANT));
  return read.all<BusyRow>(sql`SELECT r.operatory_id, r.provider_id, r.start, json_extract(r.json, '$.end') AS "end" FROM ${raw(tableOf(resource))} r
    WHERE r.org = ${reach.org} AND ${condition}${seenBy(reach, resource.type)} AND r.start > ${formatInstant(from - DAY_MS)} AND r.start <= ${before}`);
}

function intervalOf({ start, end }: BusyRow): Interval {
  return { from: Date.parse(start), to: Date.parse(end) };
}

/** From a first instant up to another one that is outside, UTC milliseconds. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Intervals by start, those that touch or overlap made one. */
export function merged(intervals: readonly Interval[]): Interval[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of intervals.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

/** The parts of an interval that none of the busy ones takes, the first first. `busy` is merged. */
export function freeParts({ from, to }: Interval, busy: readonly Interval[]): Interval[] {
  const parts: Interval[] = [];
  let start = from;
  for (let index = firstEndingAfter(busy, from); index < busy.length && start < to; index++) {
    const taken = busy[index] as Interval;
    if (taken.from > start) parts.push({ from: start, to: Math.min(taken.from, to) });
    start = taken.to;
  }
  if (start < to) parts.push({ from: start, to });
  return parts;
}

/** Index of the first merged interval that ends after an instant. */
function firstEndingAfter(busy: readonly Interval[], instant: number): number {
  let [low, high] = [0, busy.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((busy[middle] as Interval).to <= instant) low = middle + 1;
    else high = middle;
  }
  return low;
}
