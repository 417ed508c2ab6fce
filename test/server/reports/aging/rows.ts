import { type Called, rowOf } from '../../../support/calls.ts';
import type { TestService } from '../../../support/service.ts';
import { type Line, location, newPractice, type Practice, patient, setAgingPageLimit } from '../support.ts';

export const PATH = '/agingbalances/report';

/** 2026-03-02 05:00 in Denver, 2026-03-03 02:00 on Kiritimati. */
const PLACES = [
  location(5, 'America/Denver'),
  location(6, 'America/Denver'),
  location(7, 'Pacific/Kiritimati'),
  location(8),
];
/** 2 is under guarantor 1; 3 stands alone and has no transactions. */
const PEOPLE = [patient(1), patient(2, 1), patient(3), patient(4)];

/** A ledger row of patient 1 in location 5 on 2026-03-01; its sign makes it a charge or a payment. */
export function row(id: number, amount: number, rest: Line = {}): Line {
  return {
    type: 'Transaction',
    id,
    amount,
    ledgerType: amount > 0 ? 'PatientProcedureLedger' : 'PatientProcedurePayment',
    transactionDate: '2026-03-01',
    patient: { id: 1 },
    location: { id: 5 },
    ...rest,
  };
}

export const onto = (chargeId: number, appliedAmount: number, isActive?: boolean) => ({
  chargeId,
  appliedAmount,
  ...(isActive !== undefined && { isActive }),
});
export const paid = (id: number, amount: number, ...distributions: Line[]) => row(id, amount, { distributions });
export const insurancePaid = (id: number, amount: number, ...distributions: Line[]) =>
  row(id, amount, { ledgerType: 'InsurancePayment', distributions });
export const estimate = (insurance: number, writeOff: number) => ({ estimate: { insurance, writeOff } });

/** A practice of those places and people, with a ledger. */
export async function practiceWith(service: TestService, ...lines: Line[]): Promise<Practice> {
  setAgingPageLimit(service, 1000);
  return newPractice(service, [...PLACES, ...PEOPLE, ...lines]);
}

export type Portion = readonly [guarantor: number, insurance: number, writeOff: number];

/** Id, buckets, unapplied credits and balance of every guarantor, and the split of all that is outstanding. */
export function brief(called: Called) {
  const data = rowOf(called);
  const reports = data.patientReports as Line[];
  const { guarantorPortion, insurancePortion, writeOff } = data.totalPortions as Record<string, number>;
  return {
    guarantors: reports.map(({ id, current, thirtyDays, sixtyDays, ninetyDays, unAppliedCredits, balance }) => [
      id,
      [current, thirtyDays, sixtyDays, ninetyDays],
      unAppliedCredits,
      balance,
    ]),
    split: [guarantorPortion, insurancePortion, writeOff],
  };
}

export const page = (practice: Practice, place: number | string = 5, rest = '') =>
  practice.get(PATH, `location.id==${place},page==1${rest}`);
