import { dayIn, yearOf } from '../calendar.ts';
import { FIRST_ID } from '../ids.ts';
import type { Household, Person } from '../people.ts';
import type { Practice } from '../practice.ts';
import type { Random } from '../random.ts';
import type { Category } from './procedures.ts';

/** Cents used of one person's benefits in one calendar year. */
export interface BenefitYear {
  basicMet: number;
  majorMet: number;
  /** What the plan is expected to pay or has paid, and what it has paid. */
  promised: number;
  paid: number;
}

/** A plan's promise for one procedure, in cents. */
export interface Estimate {
  readonly insurance: number;
  readonly writeOff: number;
  /** Deductible met by this procedure. */
  readonly met: number;
}

const PERCENT: Readonly<Record<Category, number>> = { preventive: 100, basic: 80, major: 50, none: 0 };

/** One person's primary plan and what has been used of it. */
export class Coverage {
  readonly planId: number;
  readonly subscriberPlanId: number;
  readonly relationship: 'SELF' | 'SPOUSE' | 'CHILD';
  readonly start: number;
  /** Last day, null while it goes on. */
  readonly end: number | null;
  readonly #writeOffPercent: number;
  readonly #maximum: number;
  readonly #deductible: number;
  readonly #years = new Map<number, BenefitYear>();

  constructor(ids: Pick<Coverage, 'planId' | 'subscriberPlanId' | 'relationship'>, terms: Terms) {
    this.planId = ids.planId;
    this.subscriberPlanId = ids.subscriberPlanId;
    this.relationship = ids.relationship;
    this.start = terms.start;
    this.end = terms.end;
    this.#writeOffPercent = terms.writeOffPercent;
    this.#maximum = terms.maximum;
    this.#deductible = terms.deductible;
  }

  covers(day: number, category: Category): boolean {
    return category !== 'none' && day >= this.start && (this.end === null || day <= this.end);
  }

  /** What the dentist has agreed not to charge, in cents. */
  writeOff(fee: number): number {
    return Math.round((fee * this.#writeOffPercent) / 100);
  }

  /** Promises a share of a covered fee within the year's deductible and maximum, and counts it as used. */
  promise(day: number, category: Category, fee: number): Estimate {
    const year = this.year(yearOf(day));
    const writeOff = this.writeOff(fee);
    const allowed = fee - writeOff;
    const open = category === 'preventive' ? 0 : this.#deductible - year.basicMet - year.majorMet;
    const met = Math.min(open, allowed);
    const share = Math.round(((allowed - met) * PERCENT[category]) / 100);
    const insurance = Math.min(share, this.#maximum - year.promised);
    if (insurance <= 0) return { insurance: 0, writeOff, met: 0 };
    year.promised += insurance;
    if (category === 'major') year.majorMet += met;
    else year.basicMet += met;
    return { insurance, writeOff, met };
  }

  year(year: number): BenefitYear {
    const used = this.#years.get(year) ?? { basicMet: 0, majorMet: 0, promised: 0, paid: 0 };
    this.#years.set(year, used);
    return used;
  }
}

interface Terms {
  readonly start: number;
  readonly end: number | null;
  readonly writeOffPercent: number;
  /** Cents a year. */
  readonly maximum: number;
  readonly deductible: number;
}

export type Coverages = ReadonlyMap<Person, Coverage>;

/** The plan of a household, if it has one: the head's, and the partner and children are covered with them. */
export function coveragesOf(practice: Practice, household: Household, random: Random): Coverages {
  const covered = new Map<Person, Coverage>();
  if (!random.chance(0.6)) return covered;
  const years = random.between(0, 4);
  const terms: Terms = {
    start: dayIn(yearOf(practice.today) - 3 - years, 1, 1),
    end: random.chance(0.08) ? practice.today - random.between(20, 500) : null,
    writeOffPercent: random.pick([12, 18, 24, 30]),
    maximum: random.pick([100_000, 150_000, 200_000]),
    deductible: random.pick([0, 5_000, 10_000]),
  };
  const subscriberPlanId = FIRST_ID.SubscriberInsurancePlan + household.index;
  for (const person of household.members) {
    const relationship = RELATIONSHIPS[person.role];
    if (relationship === undefined || person.status === 'NON-PATIENT') continue;
    const planId = practice.ids.next('PatientInsurancePlanV1');
    covered.set(person, new Coverage({ planId, subscriberPlanId, relationship }, terms));
  }
  return covered;
}

const RELATIONSHIPS: Readonly<Record<string, Coverage['relationship']>> = {
  head: 'SELF',
  partner: 'SPOUSE',
  child: 'CHILD',
};
