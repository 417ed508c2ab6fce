import { bookedSql } from '../appointments.ts';
import type { Days } from '../calendar.ts';
import { named, of, PATIENT, PHONES } from '../columns.ts';
import { onDaysSql } from '../localdays.ts';
import type { OfficeReport } from '../report.ts';
import { allOf, inLocationsSql, textsSql } from '../sqltext.ts';
import { statement } from '../statement.ts';

/** What is asked of missed appointments: the local days of their starts. */
export interface NoShowsOptions extends Days {
  /** `NO_SHOW`, `BROKEN`, or both. */
  readonly statuses: readonly string[];
  /** Those that have a new appointment, too. */
  readonly includeRebooked: boolean;
}

const columns = [
  ...of('instant', 'start'),
  ...of('text', 'status'),
  ...of('minutes', 'duration'),
  ...PATIENT,
  ...PHONES,
  ...of('text', 'emailAddress'),
  ...named('provider'),
  ...named('operatory'),
  ...named('location'),
  ...of('text', 'procedures', 'reasonCancelled'),
  ...of('instant', 'cancelledOn', 'rescheduledOn'),
  ...of('id', 'appointment.id', 'id'),
];

const order = ['-start'];

const NOT_REBOOKED = `m.rescheduled_on IS NULL
    AND NOT EXISTS (SELECT 1 FROM appointments AS a WHERE a.patient_id = m.patient_id AND a.start > m.start AND ${bookedSql('a.status')})`;

/** Missed appointments that nobody has rebooked. */
export const noShows: OfficeReport<NoShowsOptions> = {
  name: 'no-shows',
  description: 'Missed appointments that are not rebooked',
  definition:
    'Missed appointments whose local day at their location is one of the days asked for. One is rebooked, and left out unless ' +
    'rebooked ones are asked for, when it has been rescheduled or a booked appointment of the patient starts after it. ' +
    'An appointment in NO_SHOW or BROKEN without a record of a missed appointment is not one.',
  columns: () => columns,
  order: () => order,
  sql: (question, options) => {
    const rows = `  SELECT m.id, m.start, m.status, m.duration, m.patient_id, m.provider_id, m.operatory_id, m.location_id,
    m.procedures, m.reason_cancelled, m.cancelled_on, m.rescheduled_on, m.appointment_id
  FROM missed_appointments AS m
  WHERE ${allOf(
    onDaysSql(question, options, 'm.start', 'm.location_id'),
    `m.status IN ${textsSql(options.statuses)}`,
    inLocationsSql(question, 'm.location_id'),
    options.includeRebooked ? '' : NOT_REBOOKED,
  )}`;
    return statement({ columns, order, rows });
  },
};
