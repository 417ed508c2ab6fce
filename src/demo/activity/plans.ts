import { dateText, instantText, utcStart, yearOf } from '../calendar.ts';
import type { Person } from '../people.ts';
import type { Practice } from '../practice.ts';
import type { Random } from '../random.ts';
import type { DemoRecord } from '../record.ts';
import type { BenefitYear, Coverage } from './coverage.ts';

/** A person's plan with the benefits used last year and this year, as the ledger has them (D30). */
export function planRecord(practice: Practice, person: Person, coverage: Coverage, random: Random): DemoRecord {
  const year = yearOf(practice.today);
  const startDate = dateText(coverage.start);
  const endDate = coverage.end === null ? null : dateText(coverage.end);
  const checked = random.chance(0.7)
    ? utcStart(practice.today) - Math.floor((0.1 + random.next() * 120) * 86_400_000)
    : null;
  const changed = checked ?? utcStart(practice.today - random.between(121, 700));
  const order = random.chance(0.05) ? 'SECONDARY' : 'PRIMARY';
  return {
    type: 'PatientInsurancePlanV1',
    organizationId: practice.organizationId,
    id: coverage.planId,
    patient: { id: person.id },
    subscriberInsurancePlan: { id: coverage.subscriberPlanId },
    startDate,
    endDate,
    relationshipToSubscriber: coverage.relationship,
    eligible: checked === null ? null : endDate === null ? 'YES' : 'NO',
    note: random.chance(0.08) ? 'Call the plan before major work' : null,
    eligibilityCheckType: checked === null ? null : random.chance(0.8) ? 'ELECTRONIC' : 'MANUAL',
    confirmedDate: checked === null ? null : dateText(Math.floor(checked / 86_400_000)),
    responsibilities: [{ startDate, endDate, paymentResponsibilityOrder: order }],
    ...benefits('previous', year - 1, coverage.year(year - 1)),
    ...benefits('current', year, coverage.year(year)),
    lastModified: instantText(changed),
  };
}

/** Dollars used in one benefit year; no plan here covers braces or keeps lifetime deductibles. */
function benefits(prefix: 'previous' | 'current', year: number, used: BenefitYear): Record<string, number> {
  const met: Readonly<Record<string, number>> = { basic: used.basicMet, preventive: 0, major: used.majorMet, ortho: 0 };
  const rows: [string, number][] = Object.entries(met).flatMap(([category, cents]) => [
    [`${prefix}_${category}IndividualLifetimeDeductibleMet`, 0],
    [`${prefix}_${category}IndividualAnnualDeductibleMet`, cents / 100],
  ]);
  return {
    [`${prefix}_benefitYear`]: year,
    ...Object.fromEntries(rows),
    [`${prefix}_maximumIndividualAnnualBenefitUsed`]: used.paid / 100,
    [`${prefix}_maximumOrthoLifetimeBenefitUsed`]: 0,
  };
}
