import { isDate } from '../catalog/fields/times.ts';
import { dayOf, type ZoneClock, zoneClock } from './calendar.ts';
import { type Holiday, holidaysBetween } from './holidays.ts';
import { Ids } from './ids.ts';
import { type LocationPlan, planLocation } from './locations.ts';
import { PAST_DAYS, SIZES, type Size } from './sizes.ts';

export interface DemoOptions {
  /** Another seed gives another practice; 1 when not given. */
  readonly seed?: number;
  /** `YYYY-MM-DD`, the UTC date on which the practice is looked at: everything that has happened lies before it. */
  readonly today: string;
  readonly organizationId?: string;
}

export const DEMO_ORGANIZATION_ID = '64f1c0ffee5eed0000de0a01';

/** What does not grow with the number of patients: the organization, its locations, their staff and hours. */
export interface Practice {
  readonly organizationId: string;
  readonly seed: number;
  readonly patients: number;
  readonly today: number;
  readonly locations: readonly LocationPlan[];
  readonly holidays: readonly Holiday[];
  readonly ids: Ids;
}

/** Plans a practice; each call starts afresh, so that every generator gets the same slots and ids. */
export function planPractice(size: Size, options: DemoOptions): Practice {
  const seed = (options.seed ?? 1) | 0;
  const today = dayOf(options.today);
  if (!isDate(options.today)) throw new Error(`today must be a date written YYYY-MM-DD, not ${options.today}.`);
  const ids = new Ids();
  const holidays = holidaysBetween(today - PAST_DAYS, today + 366);
  const clocks = new Map<string, ZoneClock>();
  const clockOf = (zone: string) => {
    const clock = clocks.get(zone) ?? zoneClock(zone);
    clocks.set(zone, clock);
    return clock;
  };
  const plan = SIZES[size];
  const closed = new Set(holidays.map(({ day }) => day));
  const locations = Array.from({ length: plan.locations }, (_, index) =>
    planLocation({ index, seed, today, plan, ids, closed, clockOf }),
  );
  const organizationId = options.organizationId ?? DEMO_ORGANIZATION_ID;
  return { organizationId, seed, patients: plan.patients, today, locations, holidays, ids };
}
