import { countOperation, filterKeys, getOperation, key, listOperation, resource } from '../define.ts';
import { link, list, map, object } from '../fields/composites.ts';
import { dollars, id, yesNo } from '../fields/numbers.ts';
import { choice, line, text, typeName } from '../fields/text.ts';
import { date, dateTime } from '../fields/times.ts';
import { choiceValue, dateTimeValue, dateValue, idValue, locationValue } from '../filter/values.ts';
import { EQUALS, EQUALS_IN, EQUALS_NOT, EQUALS_NOT_IN, IN, RANGE } from '../operators.ts';
import { TRANSACTION_PAGING } from '../paging.ts';
import { readOnly } from '../record.ts';

export const LEDGER_TYPES = [
  'PatientChargeAdjustment',
  'PatientCreditAdjustment',
  'InsuranceRefundAdjustment',
  'PatientCreditCardRefund',
  'PatientCreditCardVoid',
  'PatientProcedureLedger',
  'InsurancePayment',
  'PatientProcedurePayment',
] as const;

/** Transaction of the unified ledger (specification, Transaction; D24). Amounts are dollars, charges positive, credits negative. */
export const transactionFields = {
  id: readOnly(id(), 'Transaction id'),
  type: readOnly(typeName('Transaction'), 'Always Transaction'),
  ledgerType: readOnly(choice(LEDGER_TYPES), 'Kind of ledger entry'),
  amount: readOnly(dollars(), 'Dollars: charges positive, credits negative'),
  ownership: readOnly(choice(['PATIENT', 'GUARANTOR']), 'Who owns the entry'),
  transactionDate: readOnly(date(), 'Date of the transaction'),
  entryDate: readOnly(dateTime(), 'When it was entered'),
  lastModified: readOnly(dateTime(), 'Last change'),
  isAutomaticallyPosted: readOnly(yesNo(), 'Posted by the system'),
  isActive: readOnly(yesNo(), 'False when cancelled or replaced'),
  isPartialPayment: readOnly(yesNo(), 'Partial payment'),
  note: readOnly(text({ max: 255 }), 'Note'),
  metBasic: readOnly(dollars(), 'Deductible met, basic'),
  metPreventive: readOnly(dollars(), 'Deductible met, preventive'),
  metMajor: readOnly(dollars(), 'Deductible met, major'),
  metOrtho: readOnly(dollars(), 'Deductible met, ortho'),
  previousTransaction: readOnly(link('Transaction'), 'Transaction this one corrects'),
  replacedByTransaction: readOnly(link('Transaction'), 'Correction that replaced this one'),
  patient: readOnly(link('PatientV1'), 'Patient'),
  location: readOnly(link('Location'), 'Location'),
  provider: readOnly(link('Provider'), 'Provider'),
  organizationLedgerType: readOnly(link('OrganizationLedgerType'), 'Ledger type of the organization'),
  patientProcedure: readOnly(link('PatientProcedure'), 'Procedure'),
  insuranceClaim: readOnly(link('InsuranceClaim'), 'Insurance claim'),
  insurancePayment: readOnly(link('InsurancePayment'), 'Insurance payment'),
  transactionTags: readOnly(map(link('TransactionTagV1')), 'Tags by order index'),
  reasonTags: readOnly(map(link('TransactionTagV1')), 'Transfer reasons by order index'),
  patientPaymentBilling: readOnly(
    object({
      checkNumber: readOnly(line(), 'Check number'),
      bankNumber: readOnly(line(), 'Bank number'),
      referenceNumber: readOnly(line(), 'Reference number'),
    }),
    'Payment details',
  ),
  distributions: readOnly(
    list(
      object({
        chargeId: readOnly(id(), 'Charge the credit is applied to'),
        appliedAmount: readOnly(dollars(), 'Dollars applied, positive'),
        isActive: readOnly(yesNo(), 'Whether it counts'),
      }),
    ),
    'How a credit is spread over charges',
  ),
} as const;

export const transactionFilters = filterKeys({
  id: key(IN, idValue, 'Transaction ids', { flags: { id: '->' } }),
  ledgerType: key(EQUALS_NOT, choiceValue(LEDGER_TYPES), 'Kind of ledger entry', { flags: { 'ledger-type': '==' } }),
  'patient.id': key(EQUALS_IN, idValue, 'Patient', { flags: { patient: '->' }, index: 'plain' }),
  'provider.id': key(EQUALS, idValue, 'Provider', { flags: { provider: '==' }, index: 'none', fewValues: true }),
  transactionDate: key(RANGE, dateValue, 'Transaction date', { flags: { from: '>=', to: '<=' } }),
  'location.id': key(EQUALS_NOT_IN, locationValue, 'Location', { flags: { location: '->' }, index: 'none' }),
  lastModified: key(RANGE, dateTimeValue, 'Last change', { flags: { 'modified-since': '>=', 'modified-before': '<' } }),
});

const defaultDate = { key: 'transactionDate', limiting: ['transactionDate', 'lastModified'] } as const;
/** Whether a service counts `lastModified` as date-limiting is left open (specification, Transactions). */
const dateLimit = { key: 'transactionDate', limiting: ['transactionDate'] } as const;

export const transactions = resource({
  name: 'transactions',
  type: 'Transaction',
  one: 'transaction',
  many: 'transactions',
  about: 'The ledger: charges, payments and adjustments',
  fields: transactionFields,
  locatedBy: ['location', 'patient'],
  filters: transactionFilters,
  tableColumns: ['id', 'transactionDate', 'ledgerType', 'amount', 'patient.id', 'isActive'],
  indexes: [{ keys: ['location.id', 'transactionDate'] }],
  operations: {
    list: listOperation('/transactions', {
      summary: 'List transactions',
      filters: transactionFilters,
      filterRequired: true,
      paging: TRANSACTION_PAGING,
      fields: transactionFields,
      defaultDate,
      dateLimit,
    }),
    count: countOperation('/transactions/totalcount', {
      summary: 'Count transactions',
      filters: transactionFilters,
      filterRequired: true,
      countNames: ['total'],
      defaultDate,
      dateLimit,
    }),
    get: getOperation('/transactions/{transactionId}', { summary: 'Show one transaction', fields: transactionFields }),
  },
});
