import { hasDigitSql } from './dialect.ts';

/** A common table expression of the phones to call: with a digit, and no fax. The functions below read it. */
export const PHONES_SQL = `phones AS NOT MATERIALIZED (
  SELECT f.patient_id, f.number, CASE f.phone_type WHEN 'MOBILE' THEN 1 WHEN 'HOME' THEN 2 WHEN 'WORK' THEN 3 ELSE 4 END AS kind,
    f.sequence, f.phone_id, f.ordinal
  FROM patient_phones AS f
  WHERE coalesce(f.phone_type, '') <> 'FAX' AND ${hasDigitSql('f.number')}
)`;

/** Whether a patient has a phone to call. `patient`: an expression for the id. */
export function hasPhoneSql(patient: string): string {
  return `EXISTS (SELECT 1 FROM phones AS f WHERE f.patient_id = ${patient})`;
}

/**
 * Whose phones reach a patient: the patient's own, else the primary contact's, else the primary guarantor's; the patient
 * where nobody has one. `patient`: an expression for the id; `row`: the name of the patient's row, which may be null.
 */
export function phoneOwnerSql(patient: string, row: string): string {
  const others = [`${row}.primary_contact_id`, `${row}.primary_guarantor_id`];
  return `CASE WHEN ${hasPhoneSql(patient)} THEN ${patient}
    ${others.map((other) => `WHEN ${hasPhoneSql(other)} THEN ${other}`).join('\n    ')}
    ELSE ${patient} END`;
}

/** The number of a patient's first, second or third phone: mobile, home, work, then others, each by sequence, then id. */
export function phoneSql(patient: string, place: 1 | 2 | 3): string {
  const order = 'f.kind, f.sequence NULLS LAST, f.phone_id NULLS LAST, f.ordinal';
  return `(SELECT f.number FROM phones AS f WHERE f.patient_id = ${patient} ORDER BY ${order} LIMIT 1 OFFSET ${place - 1})`;
}
