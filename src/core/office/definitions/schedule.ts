import { bookedSql } from '../appointments.ts';
import type { Days } from '../calendar.ts';
import { named, of, PATIENT, PHONES } from '../columns.ts';
import { dateAtSql, onDaysSql } from '../localdays.ts';
import type { OfficeReport } from '../report.ts';
import { allOf, inLocationsSql } from '../sqltext.ts';
import { statement } from '../statement.ts';

/** What is asked of the schedule: the local days of starts. */
export interface ScheduleOptions extends Days {
  /** What comes first within a location. */
  readonly by: 'operatory' | 'provider';
  /** Broken, missed and cancelled appointments, too. */
  readonly allStatuses: boolean;
}

const columns = [
  ...of('date', 'date'),
  ...of('instant', 'start', 'end'),
  ...of('minutes', 'duration'),
  ...named('location'),
  ...named('operatory'),
  ...named('provider'),
  ...PATIENT,
  ...of('date', 'patient.dateOfBirth'),
  ...PHONES,
  ...of('text', 'status', 'note'),
  ...of('id', 'id'),
];

const orderBy = ({ by }: ScheduleOptions) => ['date', 'location.id', `${by}.id`, 'start'];

/** The appointments of some days. */
export const schedule: OfficeReport<ScheduleOptions> = {
  name: 'schedule',
  description: 'Booked appointments of a day, by location and operatory or provider',
  definition:
    'Appointments whose local day at their location is one of the days asked for; one over midnight is of the day it starts on. ' +
    'Those in BROKEN, NO_SHOW or CANCELLEDBYOFFICE are left out unless all statuses are asked for. Calendar events are not in it.',
  columns: () => columns,
  order: orderBy,
  sql: (question, options) => {
    const rows = `  SELECT a.id, ${dateAtSql(question, options, 'a.start', 'a.location_id')} AS date, a.start, a."end",
    a.duration, a.location_id, a.operatory_id, a.provider_id, a.patient_id, a.status, a.note
  FROM appointments AS a
  WHERE ${allOf(
    onDaysSql(question, options, 'a.start', 'a.location_id'),
    options.allStatuses ? '' : bookedSql('a.status'),
    inLocationsSql(question, 'a.location_id'),
  )}`;
    return statement({ columns, order: orderBy(options), rows });
  },
};
