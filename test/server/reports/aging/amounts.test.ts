import { describe, expect, it } from 'vitest';
import { sharedService } from '../../../support/service.ts';
import type { Line } from '../support.ts';
import { brief, estimate, insurancePaid, onto, type Portion, page, paid, practiceWith, row } from './rows.ts';

const service = sharedService(() => []);

interface Case {
  readonly name: string;
  readonly lines: readonly Line[];
  /** Of guarantor 1; null: not listed. */
  readonly buckets: readonly number[] | null;
  readonly unapplied?: number;
  readonly split?: Portion;
}

const CASES: readonly Case[] = [
  { name: 'a charge of today', lines: [row(1, 80, { transactionDate: '2026-03-02' })], buckets: [80, 0, 0, 0] },
  {
    name: 'a charge of tomorrow is current',
    lines: [row(1, 80, { transactionDate: '2026-03-03' })],
    buckets: [80, 0, 0, 0],
  },
  { name: '30 days old', lines: [row(1, 80, { transactionDate: '2026-01-31' })], buckets: [80, 0, 0, 0] },
  { name: '31 days old', lines: [row(1, 80, { transactionDate: '2026-01-30' })], buckets: [0, 80, 0, 0] },
  { name: '60 days old', lines: [row(1, 80, { transactionDate: '2026-01-01' })], buckets: [0, 80, 0, 0] },
  { name: '61 days old', lines: [row(1, 80, { transactionDate: '2025-12-31' })], buckets: [0, 0, 80, 0] },
  { name: '90 days old', lines: [row(1, 80, { transactionDate: '2025-12-02' })], buckets: [0, 0, 80, 0] },
  { name: '91 days old', lines: [row(1, 80, { transactionDate: '2025-12-01' })], buckets: [0, 0, 0, 80] },
  { name: 'years old', lines: [row(1, 80, { transactionDate: '1999-12-01' })], buckets: [0, 0, 0, 80] },
  { name: 'estimates split it', lines: [row(1, 100, estimate(60, 10))], buckets: [100, 0, 0, 0], split: [30, 60, 10] },
  { name: 'no estimate: all is the guarantor’s', lines: [row(1, 100)], buckets: [100, 0, 0, 0], split: [100, 0, 0] },
  {
    name: 'what insurance paid is no longer estimated',
    lines: [row(1, 100, estimate(60, 10)), insurancePaid(2, -40, onto(1, 40))],
    buckets: [60, 0, 0, 0],
    split: [30, 20, 10],
  },
  {
    name: 'insurance that paid more than estimated leaves no estimate',
    lines: [row(1, 100, estimate(60, 10)), insurancePaid(2, -80, onto(1, 80))],
    buckets: [20, 0, 0, 0],
    split: [10, 0, 10],
  },
  {
    name: 'a patient’s payment leaves the estimate, as far as it fits',
    lines: [row(1, 100, estimate(60, 10)), paid(2, -50, onto(1, 50))],
    buckets: [50, 0, 0, 0],
    split: [0, 40, 10],
  },
  {
    name: 'a write-off estimate takes no more than is outstanding',
    lines: [row(1, 20, estimate(60, 30))],
    buckets: [20, 0, 0, 0],
    split: [0, 0, 20],
  },
  {
    name: 'an estimate of the write-off alone',
    lines: [row(1, 20, { estimate: { writeOff: 5 } })],
    buckets: [20, 0, 0, 0],
    split: [15, 0, 5],
  },
  { name: 'a credit that is not distributed', lines: [paid(1, -25.5)], buckets: [0, 0, 0, 0], unapplied: -25.5 },
  {
    name: 'a credit that is distributed in part',
    lines: [row(1, 40), paid(2, -100, onto(1, 40))],
    buckets: [0, 0, 0, 0],
    unapplied: -60,
  },
  { name: 'a charge settled by a credit', lines: [row(1, 40), paid(2, -40, onto(1, 40))], buckets: null },
  {
    name: 'a charge settled by several credits',
    lines: [row(1, 40), paid(2, -15, onto(1, 15)), insurancePaid(3, -25, onto(1, 25))],
    buckets: null,
  },
  {
    name: 'two distributions of one credit onto one charge',
    lines: [row(1, 40), paid(2, -40, onto(1, 15), onto(1, 10))],
    buckets: [15, 0, 0, 0],
    unapplied: -15,
  },
  {
    name: 'an inactive distribution does not count',
    lines: [row(1, 40), paid(2, -40, onto(1, 40, false))],
    buckets: [40, 0, 0, 0],
    unapplied: -40,
  },
  {
    name: 'nothing of an inactive credit counts',
    lines: [row(1, 40), { ...paid(2, -40, onto(1, 40)), isActive: false }],
    buckets: [40, 0, 0, 0],
  },
  {
    name: 'a distribution onto an inactive charge does not count',
    lines: [row(1, 40, { isActive: false }), paid(2, -40, onto(1, 40))],
    buckets: [0, 0, 0, 0],
    unapplied: -40,
  },
  {
    name: 'nor onto a credit',
    lines: [paid(1, -30), paid(2, -40, onto(1, 30))],
    buckets: [0, 0, 0, 0],
    unapplied: -70,
  },
  {
    name: 'nor onto a charge that is not there',
    lines: [paid(2, -40, onto(9, 40))],
    buckets: [0, 0, 0, 0],
    unapplied: -40,
  },
  {
    name: 'a distribution on a charge settles nothing',
    lines: [row(1, 40), row(2, 30, { distributions: [onto(1, 40)] })],
    buckets: [70, 0, 0, 0],
  },
  {
    name: 'the sign alone tells a charge from a credit',
    lines: [
      row(1, 40, { ledgerType: 'PatientProcedurePayment' }),
      row(2, -15, { ledgerType: 'PatientProcedureLedger' }),
    ],
    buckets: [40, 0, 0, 0],
    unapplied: -15,
  },
  { name: 'a row of nothing', lines: [row(1, 0)], buckets: null },
  {
    name: 'equal debts and credits are two things',
    lines: [row(1, 40), paid(2, -40)],
    buckets: [40, 0, 0, 0],
    unapplied: -40,
  },
  {
    name: 'what is owed at one age and settled too much at another, which come to nothing',
    lines: [row(1, 10, { transactionDate: '2026-01-15' }), paid(2, -20, onto(1, 20)), row(3, 10)],
    buckets: [10, -10, 0, 0],
  },
  {
    name: 'the same at one age',
    lines: [row(1, 10), paid(2, -20, onto(1, 20)), row(3, 10)],
    buckets: null,
  },
  {
    name: 'cents add up exactly',
    lines: [row(1, 0.1), row(2, 0.2), row(3, 1.1), row(4, 2.2)],
    buckets: [3.6, 0, 0, 0],
  },
  {
    name: 'a patient under the guarantor counts',
    lines: [row(1, 40, { patient: { id: 2 } }), row(2, 5)],
    buckets: [45, 0, 0, 0],
  },
  {
    name: 'a corrected row counts no more',
    lines: [row(1, 40), paid(2, -30, onto(1, 30)), { ...paid(3, -10, onto(1, 10)), previousTransaction: { id: 2 } }],
    buckets: [30, 0, 0, 0],
  },
];

describe('GET /agingbalances/report', () => {
  it.each(CASES.map((one) => [one.name, one] as const))(
    '%s',
    async (_name, { lines, buckets, unapplied = 0, split }) => {
      const practice = await practiceWith(service, ...lines, row(90, 1, { patient: { id: 4 } }));
      const { guarantors, split: found } = brief(await page(practice, 5, ',balance!=1'));
      const balance = (buckets ?? []).reduce((sum, amount) => sum + amount, unapplied);
      expect(guarantors).toEqual(buckets === null ? [] : [['1', buckets, unapplied, balance]]);
      if (split !== undefined) expect(found).toEqual(split);
    },
  );
});
