import { named, of, PATIENT } from '../columns.ts';
import { equalsIgnoringCaseSql } from '../dialect.ts';
import type { OfficeReport } from '../report.ts';
import { allOf, inLocationsSql, listSql, textSql, textsSql } from '../sqltext.ts';
import { statement } from '../statement.ts';

/** What is asked of documents. */
export interface MissingDocumentsOptions {
  /** Tags that each patient should have a document of, one at least. */
  readonly tags: readonly string[];
  /** Documents of an earlier date do not count, nor those without one; null: all do. */
  readonly since: string | null;
  readonly patientStatuses: readonly string[];
}

const columns = [
  ...PATIENT,
  ...of('text', 'patient.chartNumber'),
  ...named('location'),
  ...of('text', 'missing'),
  ...of('count', 'documents'),
];

const order = ['patient.lastName', 'patient.firstName'];

/** Whether a patient lacks a document with a tag. */
function lacksSql(tag: string, since: string | null): string {
  return `p.id NOT IN (SELECT d.owner_patient_id FROM document_tags AS g JOIN documents AS d ON d.id = g.document_id
      WHERE d.owner_patient_id IS NOT NULL AND ${equalsIgnoringCaseSql('g.tag', tag)}${since === null ? '' : ` AND d.user_defined_date >= ${textSql(since)}`})`;
}

/** Whose chart lacks a document. */
export const missingDocuments: OfficeReport<MissingDocumentsOptions> = {
  name: 'missing-documents',
  description: 'Current patients without a document of a tag',
  definition:
    'Current patients (NEW or ACTIVE, or of the statuses asked for) who own no document with one of the tags asked for, in any ' +
    'letter case; with a date, none whose own date is that day or later. The number of documents is of all that the patient owns, ' +
    'whatever their tags and dates.',
  columns: () => columns,
  order: () => order,
  sql: (question, { tags, since, patientStatuses }) => {
    const lacks = tags.map((tag) => [tag, lacksSql(tag, since)] as const);
    const rows = `  SELECT p.id AS patient_id, p.preferred_location_id AS location_id,
    ${listSql(lacks)} AS missing,
    (SELECT count(*) FROM documents AS d WHERE d.owner_patient_id = p.id) AS documents
  FROM patients AS p
  WHERE ${allOf(
    `p.patient_status IN ${textsSql(patientStatuses)}`,
    `(${lacks.map(([, condition]) => condition).join('\n      OR ')})`,
    inLocationsSql(question, 'p.preferred_location_id'),
  )}`;
    return statement({ columns, order, rows });
  },
};
