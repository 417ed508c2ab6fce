import type { Days } from '../calendar.ts';
import { named, of, PATIENT } from '../columns.ts';
import type { OfficeReport } from '../report.ts';
import { allOf, datesSql, inLocationsSql, textsSql } from '../sqltext.ts';
import { statement } from '../statement.ts';

/** Kinds of ledger entries that bring money into the bank, or take it back. */
const MONEY = [
  'PatientProcedurePayment',
  'InsurancePayment',
  'PatientCreditCardRefund',
  'PatientCreditCardVoid',
  'InsuranceRefundAdjustment',
] as const;

const columns = [
  ...of('date', 'transactionDate'),
  ...named('location'),
  ...of('text', 'ledgerType'),
  ...of('cents', 'depositCents'),
  ...PATIENT,
  ...named('provider'),
  ...of('text', 'patientPaymentBilling.checkNumber', 'patientPaymentBilling.bankNumber'),
  ...of('text', 'patientPaymentBilling.referenceNumber', 'note'),
  ...of('id', 'id'),
];

const order = ['transactionDate', 'location.id', 'ledgerType'];

/** Payments and refunds, for the deposit slip; its options are transaction dates. */
export const deposits: OfficeReport<Days> = {
  name: 'deposits',
  description: 'Payments and refunds of a day, for the deposit slip',
  definition:
    'Active ledger rows of PatientProcedurePayment, InsurancePayment, PatientCreditCardRefund, PatientCreditCardVoid and ' +
    'InsuranceRefundAdjustment by transaction date. A deposit is the amount with its sign turned: payments are positive, ' +
    'refunds negative. Credit adjustments are no deposits.',
  columns: () => columns,
  order: () => order,
  sql: (question, days) => {
    const rows = `  SELECT t.id, t.transaction_date, t.location_id, t.ledger_type, -t.amount_cents AS deposit_cents, t.patient_id,
    t.provider_id, t.patient_payment_billing_check_number, t.patient_payment_billing_bank_number,
    t.patient_payment_billing_reference_number, t.note
  FROM transactions AS t
  WHERE ${allOf(
    datesSql('t.transaction_date', days),
    't.is_active IS TRUE',
    `t.ledger_type IN ${textsSql(MONEY)}`,
    inLocationsSql(question, 't.location_id'),
  )}`;
    return statement({ columns, order, rows });
  },
};
