import { utcStart } from '../calendar.ts';
import type { Household } from '../people.ts';
import type { Practice } from '../practice.ts';
import type { Random } from '../random.ts';
import type { Work } from './works.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** One state of an appointment: since when, and when it was to start. */
export interface Step {
  readonly status: string;
  readonly at: number;
  readonly start: number;
}

/** Life of an appointment in UTC milliseconds; every step lies before the start of today. */
export interface Timeline {
  readonly start: number;
  readonly end: number;
  /** From the booking to the present state, ascending; never empty. */
  readonly steps: readonly [Step, ...Step[]];
  /** When it was confirmed, null when it was not. */
  readonly confirmed: number | null;
}

const MISSED = new Set(['NO_SHOW', 'BROKEN']);

/** Tells the story of a visit: booked, perhaps broken and moved, confirmed, and how it ended. */
export function timelineOf(practice: Practice, { home }: Household, work: Work, random: Random): Timeline {
  const { slot, status } = work.visit;
  const now = utcStart(practice.today) - 1;
  const start = home.location.clock.at(slot.day, slot.start);
  const end = start + slot.duration * MINUTE_MS;
  const moved = work.kept && !work.first && random.chance(0.05);
  const firstStart = moved ? home.location.clock.at(slot.day - 14, slot.start) : start;
  const booked = Math.min(firstStart, now) - Math.floor((2 + random.next() * 120) * DAY_MS);
  const steps: [Step, ...Step[]] = [{ status: 'UNCONFIRMED', at: booked, start: firstStart }];
  const add = (next: string, at: number, from = start) => steps.push({ status: next, at, start: from });
  if (moved) {
    const broken = firstStart - Math.floor((1 + random.next() * 20) * 3_600_000);
    add('BROKEN', broken, firstStart);
    add('UNCONFIRMED', broken + Math.floor((1 + random.next() * 40) * 3_600_000));
  }
  const since = steps[steps.length - 1]?.at ?? booked;
  const between = (until: number) => Math.floor(since + (Math.min(until, now) - since) * (0.5 + random.next() * 0.4));
  const confirms = status === 'CONFIRMED' || (status !== 'UNCONFIRMED' && end <= now && random.chance(0.75));
  const confirmed = confirms ? between(start) : null;
  if (confirmed !== null) add('CONFIRMED', confirmed);
  const last = steps[steps.length - 1] as Step;
  if (last.status !== status) add(status, endedAt(status, last.at, start, end, now, random));
  return { start, end, steps, confirmed };
}

/** Calls off before the visit, notes what came of it after. */
function endedAt(status: string, since: number, start: number, end: number, now: number, random: Random): number {
  if (status === 'COMPLETED') return Math.min(end, now);
  if (status === 'NO_SHOW') return Math.min(start + 20 * MINUTE_MS, now);
  return Math.floor(since + (Math.min(start, now) - since) * (0.2 + random.next() * 0.75));
}

/** The missed occurrence within a timeline: when it was given up, and when it was rescheduled if it was. */
export function missedIn({ steps }: Timeline): { missed: Step; rescheduled: number | null } | null {
  const at = steps.findIndex(({ status }) => MISSED.has(status));
  const missed = steps[at];
  return missed === undefined ? null : { missed, rescheduled: steps[at + 1]?.at ?? null };
}
