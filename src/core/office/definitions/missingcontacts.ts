import { named, of, PATIENT, PHONES } from '../columns.ts';
import { hasPhoneSql } from '../phones.ts';
import type { OfficeReport } from '../report.ts';
import { allOf, inLocationsSql, listSql, textsSql } from '../sqltext.ts';
import { statement } from '../statement.ts';

/** What is asked of contacts. */
export interface MissingContactsOptions {
  /** What each patient should have. */
  readonly require: readonly ('phone' | 'email')[];
  readonly patientStatuses: readonly string[];
}

const columns = [
  ...PATIENT,
  ...of('text', 'patient.chartNumber'),
  ...named('location'),
  ...of('text', 'missing', 'contactMethod'),
  ...PHONES,
  ...of('text', 'emailAddress'),
];

const order = ['patient.lastName', 'patient.firstName'];

const LACKS = {
  phone: `NOT ${hasPhoneSql('p.id')}`,
  email: "coalesce(p.email_address, '') = ''",
} as const;

/** Who cannot be reached. */
export const missingContacts: OfficeReport<MissingContactsOptions> = {
  name: 'missing-contacts',
  description: 'Current patients without a phone or an e-mail address',
  definition:
    'Current patients (NEW or ACTIVE, or of the statuses asked for) who have no phone of their own, a fax or a number without digits ' +
    'being none, or no e-mail address. The phones shown may be those of the primary contact or the primary guarantor.',
  columns: () => columns,
  order: () => order,
  sql: (question, { require, patientStatuses }) => {
    const lacks = (['phone', 'email'] as const).filter((what) => require.includes(what));
    const rows = `  SELECT p.id AS patient_id, p.preferred_location_id AS location_id,
    ${listSql(lacks.map((what) => [what, LACKS[what]]))} AS missing
  FROM patients AS p
  WHERE ${allOf(
    `p.patient_status IN ${textsSql(patientStatuses)}`,
    `(${lacks.map((what) => LACKS[what]).join(' OR ')})`,
    inLocationsSql(question, 'p.preferred_location_id'),
  )}`;
    return statement({ columns, order, rows });
  },
};
