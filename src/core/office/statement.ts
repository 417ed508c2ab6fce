import { quoted, snakeCase } from '../mirror/names.ts';
import { PHONES_SQL, phoneOwnerSql, phoneSql } from './phones.ts';
import type { OfficeColumn } from './report.ts';

/** Columns that come from the patient of a row, by their name in the table of patients. */
const OF_PATIENT: Readonly<Record<string, string>> = {
  'patient.firstName': 'first_name',
  'patient.lastName': 'last_name',
  'patient.preferredName': 'preferred_name',
  'patient.dateOfBirth': 'date_of_birth',
  'patient.chartNumber': 'chart_number',
  'patient.languageType': 'language_type',
  'patient.contactMethod': 'contact_method',
  contactMethod: 'contact_method',
  emailAddress: 'email_address',
};

const PHONES: Readonly<Record<string, string>> = {
  phone: phoneSql('phone_of_id', 1),
  phone_2: phoneSql('phone_of_id', 2),
  phone_3: phoneSql('phone_of_id', 3),
};

/** Names that the mirror does not have. */
const FROM_NAMES_FILE = /^(location|provider|operatory)\.name$/;

/** What a statement lists. */
export interface Listing {
  readonly columns: readonly OfficeColumn[];
  /** Keys of `--sort`; ties are by `id`, else by `patient.id`. */
  readonly order: readonly string[];
  /** A query with `patient_id` and each of `columns`, but for those of the patient, of phones and of the names file. */
  readonly rows: string;
}

/** The statement of a report: its rows, what their patients add, and the default order as far as SQL has it. */
export function statement({ columns, order, rows }: Listing): string {
  const own = columns.filter(({ name }) => !FROM_NAMES_FILE.test(name));
  const has = (name: string) => own.some((column) => column.name === name);
  const added = own.flatMap(({ name }) => {
    if (name === 'phoneOf.id') return [`${phoneOwnerSql('c.patient_id', 'p')} AS phone_of_id`];
    const column = OF_PATIENT[name];
    return column === undefined ? [] : [`p.${column} AS ${columnSql(name)}`];
  });
  const shown = own.map(({ name }) => `${PHONES[name] === undefined ? '' : `${PHONES[name]} AS `}${columnSql(name)}`);
  const keys = [...order, has('id') ? 'id' : 'patient.id'];
  return `WITH ${has('phoneOf.id') ? `${PHONES_SQL}, ` : ''}chosen AS MATERIALIZED (
${rows}
), listed AS MATERIALIZED (
  SELECT c.*${added.map((value) => `,\n    ${value}`).join('')}
  FROM chosen AS c LEFT JOIN patients AS p ON p.id = c.patient_id
)
SELECT ${shown.join(',\n  ')}
FROM listed
ORDER BY ${keys.map((key) => orderSql(key, own)).join(', ')}`;
}

/** The column of a statement for one of a report: `patient.firstName` is `patient_first_name`. */
function columnSql(name: string): string {
  const column = snakeCase(name);
  return column === 'end' ? quoted(column) : column;
}

/** Text is compared in any letter case first. */
function orderSql(key: string, columns: readonly OfficeColumn[]): string {
  const name = key.replace(/^-/, '');
  const column = columnSql(name);
  if (columns.find((one) => one.name === name)?.kind === 'text') return `lower(${column}) NULLS LAST, ${column}`;
  return `${column}${key.startsWith('-') ? ' DESC' : ''} NULLS LAST`;
}
