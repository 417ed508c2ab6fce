import { bookedSql } from './appointments.ts';
import { of, PATIENT, PHONES } from './columns.ts';
import type { OfficeColumn, Question } from './report.ts';
import { idsSql, textSql } from './sqltext.ts';
import { statement } from './statement.ts';

/** What a mirror knows of guarantors whom the API's aging report names. */
export const GUARANTOR_COLUMNS: readonly OfficeColumn[] = [
  ...PATIENT,
  ...PHONES,
  ...of('text', 'emailAddress'),
  ...of('date', 'lastPaymentDate'),
  ...of('cents', 'lastPaymentCents'),
  ...of('instant', 'nextVisit'),
  ...of('id', 'nextVisitPatient.id'),
];

/**
 * The statement that gives `GUARANTOR_COLUMNS` of guarantors, a row for each that the mirror has, by id. Their last payment is
 * the latest active one of the family, a positive amount; their next visit its first booked start from now on.
 */
export function guarantorsSql({ now }: Pick<Question, 'now'>, ids: readonly string[]): string {
  const rows = `  SELECT g.id AS patient_id, t.transaction_date AS last_payment_date, abs(t.amount_cents) AS last_payment_cents,
    a.start AS next_visit, a.patient_id AS next_visit_patient_id
  FROM patients AS g
  LEFT JOIN transactions AS t ON t.id = (
    SELECT t.id FROM patients AS f JOIN transactions AS t ON t.patient_id = f.id
    WHERE f.primary_guarantor_id = g.id AND t.ledger_type = 'PatientProcedurePayment' AND t.is_active IS TRUE
    ORDER BY t.transaction_date DESC, t.id DESC LIMIT 1)
  LEFT JOIN appointments AS a ON a.id = (
    SELECT a.id FROM patients AS f JOIN appointments AS a ON a.patient_id = f.id
    WHERE f.primary_guarantor_id = g.id AND a.start >= ${textSql(now)} AND ${bookedSql('a.status')}
    ORDER BY a.start, a.id LIMIT 1)
  WHERE g.id IN ${idsSql(ids)}`;
  return statement({ columns: GUARANTOR_COLUMNS, order: [], rows });
}
