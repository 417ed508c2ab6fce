import type { Days } from '../calendar.ts';
import { named, of, PATIENT } from '../columns.ts';
import { onDaysSql } from '../localdays.ts';
import type { OfficeReport } from '../report.ts';
import { allOf, datesSql, inLocationsSql } from '../sqltext.ts';
import { statement } from '../statement.ts';

/** What is asked of the day sheet: transaction dates, or local days of entry. */
export interface DaySheetOptions extends Days {
  readonly byEntry: boolean;
}

const columns = [
  ...of('id', 'id'),
  ...of('date', 'transactionDate'),
  ...of('instant', 'entryDate'),
  ...of('text', 'ledgerType'),
  ...of('cents', 'amountCents'),
  ...PATIENT,
  ...named('location'),
  ...named('provider'),
  ...of('text', 'note', 'patientPaymentBilling.checkNumber'),
  ...of('id', 'previousTransaction.id'),
];

const order = ['location.id', 'entryDate'];

/** Everything that was posted on some days. */
export const daySheet: OfficeReport<DaySheetOptions> = {
  name: 'day-sheet',
  description: 'Everything posted to the ledger on a day',
  definition:
    'Active ledger rows whose transaction date is one of the days asked for; by entry: whose entry is of one of these local days ' +
    'at their location. A row that was cancelled or rebilled is not in it; its replacement is, on its own date. ' +
    'Charges are the amounts above zero, credits those below.',
  columns: () => columns,
  order: () => order,
  sql: (question, options) => {
    const rows = `  SELECT t.id, t.transaction_date, t.entry_date, t.ledger_type, t.amount_cents, t.patient_id, t.location_id,
    t.provider_id, t.note, t.patient_payment_billing_check_number, t.previous_transaction_id
  FROM transactions AS t
  WHERE ${allOf(
    options.byEntry
      ? onDaysSql(question, options, 't.entry_date', 't.location_id')
      : datesSql('t.transaction_date', options),
    't.is_active IS TRUE',
    inLocationsSql(question, 't.location_id'),
  )}`;
    return statement({ columns, order, rows });
  },
};
