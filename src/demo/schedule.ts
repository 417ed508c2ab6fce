import { weekdayOf } from './calendar.ts';

/** One bookable stretch of an operatory; `start` in local minutes since midnight, `duration` in minutes. */
export interface Slot {
  readonly day: number;
  readonly operatory: number;
  readonly start: number;
  readonly duration: number;
}

/** Minutes that an operatory is open in the morning, and in the afternoon. */
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
const MAX_OPERATORIES = 16;

/**
 * Allocates each slot of a window at most once, in an order that spreads neighbours over the entire window: two visits
 * requested one after the other lie months apart, nobody is booked twice, and a counter is the only state.
 */
export class SlotWindow {
  /** Days on which an operatory is open, packed into integers: the large practice has many. */
  readonly #stays: Int32Array;
  readonly #opens: readonly [morning: number, afternoon: number];
  readonly #step: number;
  readonly #limit: number;
  #taken = 0;

  /** `hours`: when the halves of each day begin, in local minutes; `share`: the part of the window that may be booked. */
  constructor(
    operatoryDays: readonly (readonly number[])[],
    hours: { readonly morning: number; readonly afternoon: number },
    share: number,
  ) {
    const stays = operatoryDays.flatMap((days, operatory) => days.map((day) => day * MAX_OPERATORIES + operatory));
    this.#stays = Int32Array.from(stays).sort();
    this.#opens = [hours.morning, hours.afternoon];
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
    const day = Math.floor(stay / MAX_OPERATORIES);
    const operatory = stay % MAX_OPERATORIES;
    const half = at % PER_DAY < 4 ? 0 : 1;
    const pattern = PATTERNS[(day * 7 + operatory * 3 + half) % PATTERNS.length] ?? [];
    const before = pattern.slice(0, at % 4).reduce((sum, minutes) => sum + minutes, 0);
    return { day, operatory, start: this.#opens[half] + before, duration: pattern[at % 4] ?? 0 };
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
