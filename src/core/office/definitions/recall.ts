import { bookedSql } from '../appointments.ts';
import { monthsBefore } from '../calendar.ts';
import { named, of, PATIENT, PHONES } from '../columns.ts';
import { monthsSinceSql } from '../dialect.ts';
import { dateAtSql, fromDaySql } from '../localdays.ts';
import type { OfficeReport, Question } from '../report.ts';
import { allOf, inLocationsSql, textSql, textsSql } from '../sqltext.ts';
import { statement } from '../statement.ts';

/** What is asked of recall. */
export interface RecallOptions {
  /** Months since the last visit, at least. */
  readonly months: number;
  /** Patients without any visit, too. */
  readonly includeNeverSeen: boolean;
  readonly patientStatuses: readonly string[];
}

const columns = [
  ...PATIENT,
  ...of('text', 'patient.chartNumber'),
  ...of('date', 'patient.dateOfBirth', 'lastVisitDate'),
  ...of('count', 'monthsSince'),
  ...named('location'),
  ...PHONES,
  ...of('text', 'emailAddress', 'contactMethod'),
];

const order = ['lastVisitDate', 'patient.lastName', 'patient.firstName'];

/** The last visit of the patient `p` (D21); null where there was none. */
function lastVisitSql(question: Question): string {
  const days = { from: '1970-01-01', to: question.today };
  return `(SELECT max(day) FROM (
      SELECT ${dateAtSql(question, days, 'a.start', 'a.location_id')} AS day FROM appointments AS a
      WHERE a.patient_id = p.id AND a.status IN ('COMPLETED', 'CHECKOUT')
      UNION ALL
      SELECT t.transaction_date FROM transactions AS t
      WHERE t.patient_id = p.id AND t.ledger_type = 'PatientProcedureLedger' AND t.is_active IS TRUE
    ) AS visits)`;
}

/** Who has not been seen for months, and is not booked. */
export const recall: OfficeReport<RecallOptions> = {
  name: 'recall',
  description: 'Current patients not seen for months and without an appointment',
  definition:
    'Current patients (NEW or ACTIVE, or of the statuses asked for) who were last seen on or before today minus the months asked for ' +
    'and have no booked appointment today or later at any location. The last visit is the latest of the local dates of COMPLETED and ' +
    'CHECKOUT appointments and of the transaction dates of active PatientProcedureLedger rows. Patients who were never seen are listed ' +
    'only when asked for. The API tells no recare dates.',
  columns: () => columns,
  order: () => order,
  sql: (question, { months, includeNeverSeen, patientStatuses }) => {
    const { today } = question;
    const isDue = `last_visit_date <= ${textSql(monthsBefore(today, months))}`;
    const rows = `  WITH seen AS MATERIALIZED (
  SELECT p.id AS patient_id, p.preferred_location_id AS location_id,
    ${lastVisitSql(question)} AS last_visit_date
  FROM patients AS p
  WHERE ${allOf(
    `p.patient_status IN ${textsSql(patientStatuses)}`,
    inLocationsSql(question, 'p.preferred_location_id'),
    `NOT EXISTS (SELECT 1 FROM appointments AS a WHERE a.patient_id = p.id
      AND ${bookedSql('a.status')} AND ${fromDaySql(question, today, 'a.start', 'a.location_id')})`,
  )}
  )
  SELECT patient_id, last_visit_date, ${monthsSinceSql('last_visit_date', today)} AS months_since, location_id
  FROM seen
  WHERE ${includeNeverSeen ? `${isDue} OR last_visit_date IS NULL` : isDue}`;
    return statement({ columns, order, rows });
  },
};
