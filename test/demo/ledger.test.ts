import { describe, expect, it } from 'vitest';
import type { DemoRecord } from '../../src/demo/practice.ts';
import { cents, differing, groups, idOf, smallPractice, TODAY } from './smallpractice.ts';

const { of } = smallPractice();
const transactions = of('Transaction');
const byId = new Map(transactions.map((row) => [row.id, row]));
const guarantors = new Map(of('PatientV1').map(({ id, primaryGuarantor }) => [id, idOf(primaryGuarantor)]));

interface Distribution {
  readonly chargeId: number;
  readonly appliedAmount: number;
  readonly isActive: boolean;
}

const distributionsOf = (row: DemoRecord) => (row.distributions ?? []) as Distribution[];
const isCharge = (row: DemoRecord) => cents(row.amount) > 0;
const active = transactions.filter(({ isActive }) => isActive);

/** Cents of each charge settled by active distributions of active credits, by insurance alone too (D34). */
function settled(): Map<number, { all: number; insurance: number }> {
  const sums = new Map<number, { all: number; insurance: number }>();
  for (const row of active) {
    for (const { chargeId, appliedAmount, isActive } of distributionsOf(row)) {
      if (!isActive || !byId.get(chargeId)!.isActive) continue;
      const sum = sums.get(chargeId) ?? { all: 0, insurance: 0 };
      sum.all += cents(appliedAmount);
      if (row.ledgerType === 'InsurancePayment') sum.insurance += cents(appliedAmount);
      sums.set(chargeId, sum);
    }
  }
  return sums;
}

/** The aging report by its definition: outstanding charges by age, and credits not applied, of each guarantor. */
function aging() {
  const sums = settled();
  const reports = new Map<number, { buckets: number[]; unapplied: number; insurance: number; writeOff: number }>();
  for (const row of active) {
    const guarantor = guarantors.get(idOf(row.patient))!;
    const report = reports.get(guarantor) ?? { buckets: [0, 0, 0, 0], unapplied: 0, insurance: 0, writeOff: 0 };
    reports.set(guarantor, report);
    if (isCharge(row)) {
      const applied = sums.get(row.id as number) ?? { all: 0, insurance: 0 };
      const outstanding = cents(row.amount) - applied.all;
      const age = (Date.parse(TODAY) - Date.parse(row.transactionDate as string)) / 86_400_000;
      const bucket = age <= 30 ? 0 : age <= 60 ? 1 : age <= 90 ? 2 : 3;
      report.buckets[bucket] = report.buckets[bucket]! + outstanding;
      const estimate = (row.estimate ?? { insurance: 0, writeOff: 0 }) as { insurance: number; writeOff: number };
      const writeOff = Math.min(cents(estimate.writeOff), outstanding);
      report.writeOff += writeOff;
      report.insurance += Math.min(Math.max(cents(estimate.insurance) - applied.insurance, 0), outstanding - writeOff);
    } else {
      const applied = distributionsOf(row).filter(({ isActive, chargeId }) => isActive && byId.get(chargeId)!.isActive);
      report.unapplied += cents(row.amount) + applied.reduce((sum, { appliedAmount }) => sum + cents(appliedAmount), 0);
    }
  }
  return reports;
}

const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);

describe('the ledger', () => {
  it('has charges above zero and credits below, as their kind says', () => {
    const charges = new Set(transactions.filter(isCharge).map(({ ledgerType }) => ledgerType));
    const credits = new Set(transactions.filter((row) => !isCharge(row)).map(({ ledgerType }) => ledgerType));
    expect([...charges].sort()).toEqual([
      'InsuranceRefundAdjustment',
      'PatientChargeAdjustment',
      'PatientCreditCardRefund',
      'PatientCreditCardVoid',
      'PatientProcedureLedger',
    ]);
    expect([...credits].sort()).toEqual(['InsurancePayment', 'PatientCreditAdjustment', 'PatientProcedurePayment']);
    expect(transactions.every(({ amount }) => amount !== 0)).toBe(true);
  });

  it('never settles a charge by more than its amount, nor spends more than a credit has', () => {
    expect([...settled()].filter(([chargeId, { all }]) => all > cents(byId.get(chargeId)!.amount))).toEqual([]);
    const overspent = transactions.filter((row) => {
      const spent = sum(distributionsOf(row).map(({ appliedAmount }) => cents(appliedAmount)));
      return spent > Math.max(0, -cents(row.amount));
    });
    expect(overspent).toEqual([]);
  });

  it('applies active credits to active charges of the same guarantor, in whole cents above zero', () => {
    const wrong = transactions.filter((row) =>
      distributionsOf(row).some(({ chargeId, appliedAmount, isActive }) => {
        const charge = byId.get(chargeId)!;
        const sameGuarantor = guarantors.get(idOf(charge.patient)) === guarantors.get(idOf(row.patient));
        const counts = isActive === row.isActive && (charge.isActive || !row.isActive);
        return !(counts && sameGuarantor && isCharge(charge) && cents(appliedAmount) > 0);
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('reconciles: what is outstanding and not applied is the sum of all active rows', () => {
    const reports = [...aging().values()];
    const outstanding = sum(reports.flatMap(({ buckets }) => buckets));
    const unapplied = sum(reports.map((report) => report.unapplied));
    expect(unapplied).toBeLessThan(0);
    expect(outstanding + unapplied).toBe(sum(active.map(({ amount }) => cents(amount))));
  });

  it('owes like a practice: few guarantors, mostly recent, some of it the plans’', () => {
    const reports = [...aging().values()];
    const owing = reports.filter(({ buckets }) => sum(buckets) > 0);
    const share = owing.length / new Set(guarantors.values()).size;
    expect(share).toBeGreaterThan(0.05);
    expect(share).toBeLessThan(0.2);
    const buckets = [0, 1, 2, 3].map((index) => sum(owing.map((report) => report.buckets[index]!)));
    expect(buckets.every((bucket) => bucket > 0)).toBe(true);
    expect(buckets[0]! / sum(buckets)).toBeGreaterThan(0.4);
    expect(buckets[3]! / sum(buckets)).toBeLessThan(0.25);
    expect(sum(owing.map(({ insurance }) => insurance))).toBeGreaterThan(0);
    expect(sum(owing.map(({ writeOff }) => writeOff))).toBeGreaterThan(0);
  });

  it('links corrections both ways, and only the correction counts', () => {
    const corrections = transactions.filter(({ previousTransaction }) => previousTransaction !== undefined);
    expect(new Set(corrections.map(({ ledgerType }) => ledgerType))).toEqual(
      new Set(['PatientProcedurePayment', 'InsurancePayment']),
    );
    for (const right of corrections) {
      const wrong = byId.get(idOf(right.previousTransaction))!;
      expect([wrong.isActive, right.isActive, idOf(wrong.replacedByTransaction)]).toEqual([false, true, right.id]);
      expect([wrong.ledgerType, wrong.patient]).toEqual([right.ledgerType, right.patient]);
      expect((wrong.entryDate as string) < (right.entryDate as string)).toBe(true);
    }
    expect(transactions.filter(({ replacedByTransaction }) => replacedByTransaction !== undefined)).toHaveLength(
      corrections.length,
    );
  });

  it('says that a row was last changed when it was replaced, or else when it was entered', () => {
    const wrong = differing(transactions, ({ entryDate, lastModified, replacedByTransaction: by }) => [
      lastModified,
      by === undefined ? entryDate : byId.get(idOf(by))!.entryDate,
    ]);
    expect(wrong).toEqual([]);
  });

  it('gives back exactly what was voided or refunded', () => {
    const kinds = ['PatientCreditCardVoid', 'PatientCreditCardRefund', 'InsuranceRefundAdjustment'];
    const sums = settled();
    const backs = transactions.filter(({ ledgerType }) => kinds.includes(ledgerType as string));
    expect(backs.length).toBeGreaterThan(20);
    for (const row of backs) expect(sums.get(row.id as number)?.all).toBe(cents(row.amount));
  });

  it('pays claims once and leaves the pending ones open', () => {
    const claims = groups(
      active.filter(({ insuranceClaim }) => insuranceClaim !== undefined),
      ({ insuranceClaim }) => idOf(insuranceClaim),
    );
    const wrong = differing(of('InsuranceClaim'), ({ id, patient, status }) => {
      const rows = claims.get(id as number)!;
      const payments = rows.filter(({ ledgerType }) => ledgerType === 'InsurancePayment');
      return [
        [id, payments.length, ...new Set(rows.map((row) => idOf(row.patient)))],
        [id, status === 'PAID' ? 1 : 0, idOf(patient)],
      ];
    });
    expect(wrong).toEqual([]);
    expect(new Set(of('InsuranceClaim').map(({ status }) => status))).toEqual(new Set(['PAID', 'PENDING', 'DENIED']));
  });

  it('keeps the plans’ benefit years in step with what was paid and met', () => {
    const charges = new Map(
      groups(
        active.filter(({ metBasic, metMajor }) => (metBasic ?? metMajor) !== undefined),
        ({ patient }) => idOf(patient),
      ),
    );
    const wrong = differing(of('PatientInsurancePlanV1'), (plan) => {
      const rows = charges.get(idOf(plan.patient)) ?? [];
      const met = (name: string, year: unknown) =>
        sum(
          rows
            .filter((row) => (row.transactionDate as string).startsWith(`${year}-`))
            .map((row) => cents(row[name] ?? 0)),
        );
      const both = ['previous', 'current'].flatMap((prefix) =>
        ['Basic', 'Major'].map((kind) => ({
          told: cents(plan[`${prefix}_${kind.toLowerCase()}IndividualAnnualDeductibleMet`]),
          met: met(`met${kind}`, plan[`${prefix}_benefitYear`]),
        })),
      );
      return [both.map(({ told }) => told), both.map((each) => each.met)];
    });
    expect(wrong).toEqual([]);
  });

  it('keeps within the annual maximum, as paid', () => {
    const paid = new Map<string, number>();
    for (const row of active.filter(({ ledgerType }) => ledgerType === 'InsurancePayment')) {
      for (const { chargeId, appliedAmount } of distributionsOf(row)) {
        const charge = byId.get(chargeId)!;
        if (charge.ledgerType !== 'PatientProcedureLedger') continue;
        const key = `${idOf(row.patient)} ${(charge.transactionDate as string).slice(0, 4)}`;
        paid.set(key, (paid.get(key) ?? 0) + cents(appliedAmount));
      }
    }
    expect(Math.max(...paid.values())).toBeLessThanOrEqual(200_000);
    for (const prefix of ['previous', 'current']) {
      const wrong = differing(of('PatientInsurancePlanV1'), (plan) => [
        cents(plan[`${prefix}_maximumIndividualAnnualBenefitUsed`]),
        paid.get(`${idOf(plan.patient)} ${plan[`${prefix}_benefitYear`]}`) ?? 0,
      ]);
      expect(wrong).toEqual([]);
    }
  });
});
