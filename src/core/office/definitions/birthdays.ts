import { type Days, datesOf } from '../calendar.ts';
import { named, of, PATIENT, PHONES } from '../columns.ts';
import { monthDaySql, yearSql } from '../dialect.ts';
import type { OfficeReport } from '../report.ts';
import { allOf, inLocationsSql, textSql, textsSql } from '../sqltext.ts';
import { statement } from '../statement.ts';

/** What is asked of birthdays. */
export interface BirthdaysOptions extends Days {
  readonly patientStatuses: readonly string[];
}

const columns = [
  ...of('date', 'birthday'),
  ...of('count', 'turns'),
  ...PATIENT,
  ...of('text', 'patient.preferredName'),
  ...of('date', 'patient.dateOfBirth'),
  ...named('location'),
  ...PHONES,
  ...of('text', 'emailAddress'),
];

const order = ['birthday', 'patient.lastName', 'patient.firstName'];

/** Dates, and the month and day of birth of those who have their birthday on them. */
function birthdaysOf(days: Days): [date: string, born: string][] {
  return datesOf(days).flatMap((date): [string, string][] => {
    const born = date.slice(5);
    const isLeap = new Date(Date.UTC(Number(date.slice(0, 4)), 1, 29)).getUTCDate() === 29;
    // In years without a 29 February its birthdays are on the 28th.
    return born === '02-28' && !isLeap
      ? [
          [date, born],
          [date, '02-29'],
        ]
      : [[date, born]];
  });
}

/** Whose birthday it is. */
export const birthdays: OfficeReport<BirthdaysOptions> = {
  name: 'birthdays',
  description: 'Birthdays of current patients in the next days',
  definition:
    'Current patients (NEW or ACTIVE, or of the statuses asked for) whose birthday is one of the days asked for. ' +
    'Who was born on 29 February has it on 28 February in other years. The day of birth itself is no birthday.',
  columns: () => columns,
  order: () => order,
  sql: (question, options) => {
    const dates = birthdaysOf(options).map(([date, born]) => `(${textSql(date)}, ${textSql(born)})`);
    const turns = `${yearSql('d.birthday')} - ${yearSql('p.date_of_birth')}`;
    const rows = `  WITH days (birthday, born) AS (VALUES ${dates.join(', ')})
  SELECT d.birthday, ${turns} AS turns, p.id AS patient_id, p.preferred_location_id AS location_id
  FROM days AS d JOIN patients AS p ON ${monthDaySql('p.date_of_birth')} = d.born
  WHERE ${allOf(
    `${turns} > 0`,
    `p.patient_status IN ${textsSql(options.patientStatuses)}`,
    inLocationsSql(question, 'p.preferred_location_id'),
  )}`;
    return statement({ columns, order, rows });
  },
};
