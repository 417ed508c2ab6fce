import { weekdayOf } from './calendar.ts';

/** One bookable stretch of an operatory; `start` in local minutes since midnight, `duration` in minutes. */
export interface Slot {
  readonly day: number;
  readonly operatory: number;
  readonly start: number;
  readonly duration: number;
}

/** Working hours of a location, local minutes; the same on each working day. */
export interface Hours {
  readonly morning: number;
  readonly afternoon: number;
}

export const HALF_DAY = 240;

// Four visits fill a half day whatever their order.
const PATTERNS: readonly (readonly number[])[] = [
  [60, 60, 60, 60],
  [90, 60, 60, 30],
  [30, 90, 60, 60],
  [60, 30, 90, 60],
  [50, 70, 60, 60],
  [40, 60, 80, 60],
];

const PER_DAY = 8;
const MOST_OPERATORIES = 16;

/**
 * Hands out each slot of a window at most once, in an order that spreads neighbours over the whole window: two visits
 * asked for one after the other lie months apart, nobody is booked twice, and nothing but a counter is kept.
 */
export class SlotWindow {
  /** Days on which an operatory is open, packed into integers: the large practice has many. */
  readonly #stays: Int32Array;
  readonly #hours: Hours;
  readonly #step: number;
  readonly #limit: number;
  #taken = 0;

  /** `share`: the part of the window that may be booked. */
  constructor(operatoryDays: readonly (readonly number[])[], hours: Hours, share: number) {
    const stays = operatoryDays.flatMap((days, operatory) => days.map((day) => day * MOST_OPERATORIES + operatory));
    this.#stays = Int32Array.from(stays).sort();
    this.#hours = hours;
    const count = this.#stays.length * PER_DAY;
    this.#step = coprimeNear(count * 0.618, count);
    this.#limit = Math.floor(count * share);
  }

  /** The next slot, undefined once the window is as full as it may get. */
  take(): Slot | undefined {
    if (this.#taken >= this.#limit) return undefined;
    const at = (this.#taken * this.#step) % (this.#stays.length * PER_DAY);
    this.#taken++;
    const stay = this.#stays[Math.floor(at / PER_DAY)] ?? 0;
    return this.#slot(Math.floor(stay / MOST_OPERATORIES), stay % MOST_OPERATORIES, at % PER_DAY);
  }

  #slot(day: number, operatory: number, part: number): Slot {
    const half = part < 4 ? 0 : 1;
    const pattern = PATTERNS[(day * 7 + operatory * 3 + half) % PATTERNS.length] ?? [];
    const place = part % 4;
    const before = pattern.slice(0, place).reduce((sum, minutes) => sum + minutes, 0);
    const opens = half === 0 ? this.#hours.morning : this.#hours.afternoon;
    return { day, operatory, start: opens + before, duration: pattern[place] ?? 0 };
  }
}

function coprimeNear(target: number, count: number): number {
  let step = Math.max(1, Math.round(target));
  while (divisor(step, count) !== 1) step++;
  return step;
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/** Days from `first` to `last` that fall on a working weekday and are not excluded. */
export function workingDays(
  first: number,
  last: number,
  weekdays: readonly number[],
  excluded: ReadonlySet<number>,
): number[] {
  const days: number[] = [];
  for (let day = first; day <= last; day++) {
    if (weekdays.includes(weekdayOf(day)) && !excluded.has(day)) days.push(day);
  }
  return days;
}
