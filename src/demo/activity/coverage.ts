import { dateText, dayIn, instantText, utcStart, yearOf } from '../calendar.ts';
import type { Household } from '../households.ts';
import type { Person } from '../people.ts';
import { type DemoRecord, FIRST_ID, type Practice } from '../practice.ts';
import type { Random } from '../random.ts';

/** What a plan pays by, in percent of what it allows; `none` is never covered. */
const PERCENT = { preventive: 100, basic: 80, major: 50, none: 0 } as const;

/** Category of a procedure, as plans know it. */
export type Category = keyof typeof PERCENT;

/** A plan's promise for one procedure, in cents. */
export interface Estimate {
  readonly insurance: number;
  readonly writeOff: number;
  /** Deductible met by this procedure. */
  readonly met: number;
}

interface Terms {
  readonly subscriberPlanId: number;
  /** First and last day; no last one while the plan continues. */
  readonly start: number;
  readonly end: number | null;
  readonly writeOffPercent: number;
  /** Cents a year. */
  readonly maximum: number;
  readonly deductible: number;
}

const RELATIONSHIPS: Readonly<Record<string, string>> = { head: 'SELF', partner: 'SPOUSE', child: 'CHILD' };

/** One person's primary plan and what has been used of it. */
export class Coverage {
  readonly #planId: number;
  readonly #terms: Terms;
  readonly #years = new Map<number, { basicMet: number; majorMet: number; promised: number; paid: number }>();

  constructor(planId: number, terms: Terms) {
    this.#planId = planId;
    this.#terms = terms;
  }

  /** Whether the plan pays for a category on a day. */
  covers(day: number, category: Category): boolean {
    const { start, end } = this.#terms;
    return category !== 'none' && day >= start && (end === null || day <= end);
  }

  /** What the dentist has agreed not to charge, in cents. */
  writeOff(fee: number): number {
    return Math.round((fee * this.#terms.writeOffPercent) / 100);
  }

  /** Promises a share of a covered fee within the year's deductible and maximum, and counts it as used. */
  promise(day: number, category: Category, fee: number): Estimate {
    const year = this.year(yearOf(day));
    const writeOff = this.writeOff(fee);
    const allowed = fee - writeOff;
    const open = category === 'preventive' ? 0 : this.#terms.deductible - year.basicMet - year.majorMet;
    const met = Math.min(open, allowed);
    const share = Math.round(((allowed - met) * PERCENT[category]) / 100);
    const insurance = Math.min(share, this.#terms.maximum - year.promised);
    if (insurance <= 0) return { insurance: 0, writeOff, met: 0 };
    year.promised += insurance;
    year[category === 'major' ? 'majorMet' : 'basicMet'] += met;
    return { insurance, writeOff, met };
  }

  /** Cents used in one calendar year: deductibles met, what the plan is expected to pay or has paid, what it has paid. */
  year(year: number) {
    const used = this.#years.get(year) ?? { basicMet: 0, majorMet: 0, promised: 0, paid: 0 };
    this.#years.set(year, used);
    return used;
  }

  /** The plan with the benefits used last year and this year, as the ledger has them (D30). */
  record(practice: Practice, person: Person, random: Random): DemoRecord {
    const year = yearOf(practice.today);
    const startDate = dateText(this.#terms.start);
    const endDate = this.#terms.end === null ? null : dateText(this.#terms.end);
    const checked = random.chance(0.7)
      ? utcStart(practice.today) - Math.floor((0.1 + random.next() * 120) * 86_400_000)
      : null;
    const changed = checked ?? utcStart(practice.today - random.between(121, 700));
    const paymentResponsibilityOrder = random.chance(0.05) ? 'SECONDARY' : 'PRIMARY';
    return {
      type: 'PatientInsurancePlanV1',
      organizationId: practice.organizationId,
      id: this.#planId,
      patient: { id: person.id },
      subscriberInsurancePlan: { id: this.#terms.subscriberPlanId },
      startDate,
      endDate,
      relationshipToSubscriber: RELATIONSHIPS[person.role],
      eligible: checked === null ? null : endDate === null ? 'YES' : 'NO',
      note: random.chance(0.08) ? 'Call the plan before major work' : null,
      eligibilityCheckType: checked === null ? null : random.chance(0.8) ? 'ELECTRONIC' : 'MANUAL',
      confirmedDate: checked === null ? null : dateText(Math.floor(checked / 86_400_000)),
      responsibilities: [{ startDate, endDate, paymentResponsibilityOrder }],
      ...this.#benefits('previous', year - 1),
      ...this.#benefits('current', year),
      lastModified: instantText(changed),
    };
  }

  /** Dollars used in one benefit year; no plan here covers braces or has lifetime deductibles. */
  #benefits(prefix: 'previous' | 'current', year: number): Record<string, number> {
    const used = this.year(year);
    const met = { basic: used.basicMet, preventive: 0, major: used.majorMet, ortho: 0 };
    const fields: Record<string, number> = { [`${prefix}_benefitYear`]: year };
    for (const [category, cents] of Object.entries(met)) {
      fields[`${prefix}_${category}IndividualLifetimeDeductibleMet`] = 0;
      fields[`${prefix}_${category}IndividualAnnualDeductibleMet`] = cents / 100;
    }
    fields[`${prefix}_maximumIndividualAnnualBenefitUsed`] = used.paid / 100;
    fields[`${prefix}_maximumOrthoLifetimeBenefitUsed`] = 0;
    return fields;
  }
}

/** Who of a household is covered, and by which plan. */
export type Coverages = ReadonlyMap<Person, Coverage>;

/** The plan of a household, if it has one: the head's, and the partner and children are covered with them. */
export function coveragesOf(practice: Practice, household: Household, random: Random): Coverages {
  if (!random.chance(0.6)) return new Map();
  const years = random.between(0, 4);
  const terms: Terms = {
    subscriberPlanId: FIRST_ID.SubscriberInsurancePlan + household.index,
    start: dayIn(yearOf(practice.today) - 3 - years, 1, 1),
    end: random.chance(0.08) ? practice.today - random.between(20, 500) : null,
    writeOffPercent: random.pick([12, 18, 24, 30]),
    maximum: random.pick([100_000, 150_000, 200_000]),
    deductible: random.pick([0, 5_000, 10_000]),
  };
  const covered = household.members.filter(({ role, status }) => role in RELATIONSHIPS && status !== 'NON-PATIENT');
  return new Map(covered.map((person) => [person, new Coverage(practice.nextId('PatientInsurancePlanV1'), terms)]));
}
