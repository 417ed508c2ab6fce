import type { Days } from '../calendar.ts';
import { named, of, PATIENT, PHONES } from '../columns.ts';
import { dateAtSql, onDaysSql } from '../localdays.ts';
import type { OfficeReport } from '../report.ts';
import { allOf, inLocationsSql, textsSql } from '../sqltext.ts';
import { statement } from '../statement.ts';

/** Statuses of appointments that nobody has confirmed. */
export const UNCONFIRMED = ['UNCONFIRMED', 'LEFT_MESSAGE', 'WILL_CALL', 'UNREACHABLE'] as const;

/** What is asked of the call list: the local days of starts. */
export interface CallListOptions extends Days {
  /** Statuses of appointments to confirm. */
  readonly statuses: readonly string[];
}

const columns = [
  ...of('date', 'date'),
  ...of('instant', 'start'),
  ...of('minutes', 'duration'),
  ...named('location'),
  ...named('provider'),
  ...PATIENT,
  ...of('text', 'patient.preferredName', 'patient.languageType', 'patient.contactMethod'),
  ...PHONES,
  ...of('text', 'emailAddress', 'status', 'note'),
  ...of('id', 'id'),
];

const order = ['start', 'patient.lastName', 'patient.firstName'];

/** Whom to call to confirm appointments. */
export const callList: OfficeReport<CallListOptions> = {
  name: 'call-list',
  description: 'Unconfirmed appointments of a day with the phones to call',
  definition:
    'Appointments in UNCONFIRMED, LEFT_MESSAGE, WILL_CALL or UNREACHABLE, or in the statuses asked for, whose local day at ' +
    'their location is one of the days asked for; a row for each appointment. ' +
    'Phones are those of the patient, else those of the primary contact, else those of the primary guarantor; never a fax.',
  columns: () => columns,
  order: () => order,
  sql: (question, options) => {
    const rows = `  SELECT a.id, ${dateAtSql(question, options, 'a.start', 'a.location_id')} AS date, a.start, a.duration,
    a.location_id, a.provider_id, a.patient_id, a.status, a.note
  FROM appointments AS a
  WHERE ${allOf(
    onDaysSql(question, options, 'a.start', 'a.location_id'),
    `a.status IN ${textsSql(options.statuses)}`,
    inLocationsSql(question, 'a.location_id'),
  )}`;
    return statement({ columns, order, rows });
  },
};
