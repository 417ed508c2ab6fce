import type { LocationPlan } from './locations.ts';
import type { Status } from './people.ts';
import { type Random, weights } from './random.ts';
import type { Slot } from './schedule.ts';

/** A slot that a person has or had, and how it went. */
export interface Visit {
  readonly slot: Slot;
  readonly status: string;
}

const COUNTS = weights<number>([
  [0, 8],
  [1, 14],
  [2, 24],
  [3, 28],
  [4, 18],
  [5, 8],
]);

const OUTCOMES = weights<string>([
  ['COMPLETED', 86],
  ['NO_SHOW', 4],
  ['BROKEN', 5],
  ['CANCELLEDBYOFFICE', 2],
  ['WILL_CALL', 2],
  ['UNREACHABLE', 1],
]);

const AHEAD = weights<string>([
  ['CONFIRMED', 45],
  ['UNCONFIRMED', 38],
  ['LEFT_MESSAGE', 9],
  ['UNREACHABLE', 3],
  ['WILL_CALL', 3],
  ['BROKEN', 2],
]);

/** Where the visits of this morning stand: the practice is seen at noon. */
const TODAY = ['COMPLETED', 'CHECKOUT', 'CHAIR', 'READY', 'HERE', 'LATE'] as const;

/** How often people of other statuses than ACTIVE came once in the last two years. */
const ONCE: Readonly<Partial<Record<Status, number>>> = { INACTIVE: 0.3, DISMISSED: 0.6, DECEASED: 0.2 };

/**
 * Visits of one person, ascending. The first of somebody who joined in the last two years was kept: that is how they
 * joined.
 */
export function planVisits(
  status: Status,
  joined: boolean,
  location: LocationPlan,
  today: number,
  random: Random,
): Visit[] {
  const past = pastSlots(status, location, random).map((slot, index) => ({
    slot,
    status: joined && index === 0 ? 'COMPLETED' : random.weighted(OUTCOMES),
  }));
  const next = bookedSlot(status, location, random);
  if (next === undefined) return past;
  const begun = next.day === today && next.start < location.hours.afternoon;
  return [...past, { slot: next, status: begun ? random.pick(TODAY) : random.weighted(AHEAD) }];
}

function pastSlots(status: Status, location: LocationPlan, random: Random): Slot[] {
  const once = random.chance(ONCE[status] ?? 0) ? 1 : 0;
  const count = status === 'ACTIVE' ? random.weighted(COUNTS) : once;
  const slots: Slot[] = [];
  for (let taken = 0; taken < count; taken++) {
    const slot = location.past.take();
    if (slot !== undefined) slots.push(slot);
  }
  return slots.sort((a, b) => a.day - b.day || a.start - b.start);
}

function bookedSlot(status: Status, location: LocationPlan, random: Random): Slot | undefined {
  const at = random.next();
  const [soon, either] = status === 'NEW' ? [0.3, 0.8] : status === 'ACTIVE' ? [0.07, 0.3] : [0, 0];
  if (at < soon) return location.soon.take();
  return at < either ? location.later.take() : undefined;
}
