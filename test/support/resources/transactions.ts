import { transactions } from '../../../src/catalog/resources/transactions.ts';
import type { WireRecord } from '../calls.ts';
import type { ResourceFixture } from '../fixture.ts';
import { big, CLAIMS, ELSEWHERE, LOCATIONS, PATIENTS, PROVIDERS } from '../ids.ts';

const link = (id: number) => ({ id });

function row(n: number, ledgerType: string, amount: number, record: WireRecord): WireRecord {
  return {
    id: big(n),
    ledgerType,
    amount,
    ownership: 'PATIENT',
    transactionDate: '2026-02-10',
    entryDate: '2026-02-10T16:00:00.000Z',
    lastModified: `2026-02-10T16:00:00.${String(n % 10).padStart(3, '0')}Z`,
    isAutomaticallyPosted: false,
    isActive: true,
    isPartialPayment: false,
    patient: link(PATIENTS.ann),
    location: link(LOCATIONS.east),
    provider: link(PROVIDERS.ann),
    ...record,
  };
}

/** Transactions (specification, Transaction; D13, D24). */
export const transactionFixture: ResourceFixture = {
  resource: transactions,
  records: [
    row(401, 'PatientProcedureLedger', 100, { metBasic: 10.5, patientProcedure: link(big(4001)) }),
    row(402, 'InsurancePayment', -60.25, {
      insuranceClaim: link(CLAIMS.sent),
      insurancePayment: link(big(4002)),
      transactionTags: {},
      distributions: [{ chargeId: big(401), appliedAmount: 60.25, isActive: true }],
      transactionDate: '2026-02-11',
    }),
    row(403, 'PatientProcedurePayment', -39.75, {
      transactionTags: { '1': link(big(301)), '2': link(big(304)) },
      patientPaymentBilling: { checkNumber: '77', bankNumber: null, referenceNumber: 'R-1' },
      distributions: [{ chargeId: big(401), appliedAmount: 20, isActive: true }],
      isPartialPayment: true,
      location: link(LOCATIONS.west),
      transactionDate: '2019-06-01',
    }),
    row(404, 'PatientChargeAdjustment', 5, {
      patient: link(PATIENTS.bob),
      provider: link(PROVIDERS.ben),
      note: 'Note',
    }),
    row(405, 'PatientCreditAdjustment', -5, {
      patient: link(PATIENTS.bob),
      provider: null,
      reasonTags: { '1': link(big(302)) },
      location: link(LOCATIONS.home),
      transactionDate: '2026-02-12',
    }),
    row(406, 'InsuranceRefundAdjustment', 1, { isActive: false, lastModified: '2026-02-28T00:00:00.000Z' }),
    row(407, 'PatientCreditCardRefund', 2, { ownership: 'GUARANTOR', patient: link(PATIENTS.cleo) }),
    row(408, 'PatientCreditCardVoid', 3, { isAutomaticallyPosted: true, location: null }),
  ],
  elsewhere: [
    row(401, 'PatientProcedureLedger', 7, {
      patient: link(ELSEWHERE.patient),
      location: link(ELSEWHERE.location),
      provider: null,
    }),
    row(9401, 'PatientProcedureLedger', 8, {
      patient: link(ELSEWHERE.patient),
      location: link(ELSEWHERE.location),
      provider: null,
    }),
  ],
  meta: 'transactions',
  countNames: ['total'],
  always: 'transactionDate>=0001-01-01',
};
