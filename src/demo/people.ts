import type { LocationPlan, ProviderPlan } from './locations.ts';
import type { Visit } from './visits.ts';

export type Gender = 'M' | 'F' | 'O';

export type Status = 'NEW' | 'ACTIVE' | 'NON-PATIENT' | 'INACTIVE' | 'DUPLICATE' | 'DISMISSED' | 'DECEASED';

/** What the members of a household have in common. */
export interface Home {
  readonly location: LocationPlan;
  readonly provider: ProviderPlan;
  readonly language: string;
  readonly address1: string;
  readonly address2: string | null;
  readonly postalCode: string;
  /** Landline, null where the household has none. */
  readonly phone: string | null;
}

export type Role = 'head' | 'partner' | 'child' | 'elder' | 'duplicate';

/** One person; the members of a household have consecutive ids and the first is the guarantor of all. */
export interface Person {
  readonly id: number;
  readonly role: Role;
  readonly firstName: string;
  readonly lastName: string;
  readonly gender: Gender;
  /** Whole years, at least 3, so that every visit of the last two years is after the first birthday. */
  readonly age: number;
  readonly birthDay: number;
  readonly status: Status;
  /** The person whose record this one repeats. */
  readonly original: Person | null;
  /** UTC milliseconds of the first visit kept; null when there was none. */
  readonly firstVisit: number | null;
  /** Visits of the last two years and of the coming months, ascending. */
  readonly visits: readonly Visit[];
}

export interface Household {
  readonly index: number;
  readonly home: Home;
  /** The head first; never empty. */
  readonly members: readonly [Person, ...Person[]];
}
