import type { Days } from '../calendar.ts';
import { named, of, PATIENT } from '../columns.ts';
import { tagsOfRecordSql } from '../dialect.ts';
import type { OfficeReport, Question } from '../report.ts';
import { allOf, datesSql, inLocationsSql, textsSql } from '../sqltext.ts';
import { statement } from '../statement.ts';

const KINDS = ['PatientChargeAdjustment', 'PatientCreditAdjustment'] as const;

const columns = [
  ...of('date', 'transactionDate'),
  ...of('instant', 'entryDate'),
  ...of('text', 'ledgerType'),
  ...of('cents', 'amountCents'),
  ...PATIENT,
  ...named('provider'),
  ...named('location'),
  ...of('text', 'tags', 'note'),
  ...of('boolean', 'isAutomaticallyPosted'),
  ...of('text', 'change'),
  ...of('cents', 'amountBeforeCents'),
  ...of('id', 'id'),
];

const order = ['transactionDate'];

/** What of an adjustment is compared with its first version. */
const COMPARED = ['amount_cents', 'transaction_date', 'patient_id', 'location_id', 'provider_id', 'note'];

const SHOWN = `t.id, t.transaction_date, t.entry_date, t.ledger_type, t.amount_cents, t.patient_id, t.provider_id, t.location_id,
    t.note, t.is_automatically_posted`;

const TAGS = `(SELECT string_agg(g.tag_text, '; ' ORDER BY l.ordinal)
      FROM transaction_transaction_tags AS l JOIN transaction_tags AS g ON g.id = l.transaction_tag_id WHERE l.transaction_id = t.id)`;

const CANCELLED = "CASE WHEN t.is_active IS TRUE THEN NULL ELSE 'cancelled' END";

/** Adjustments of a table: those that are there, or those that were deleted. */
function adjustmentsOf(table: string, tags: string, change: string, question: Question, days: Days): string {
  return `SELECT ${SHOWN},
    ${tags} AS tags, ${change} AS change
  FROM ${table} AS t
  WHERE ${allOf(
    datesSql('t.transaction_date', days),
    `t.ledger_type IN ${textsSql(KINDS)}`,
    inLocationsSql(question, 't.location_id'),
  )}`;
}

/** Adjustments with those that vanished, and what each of them was first. */
function withHistory(question: Question, days: Days): string {
  const vanished = adjustmentsOf('transactions_deleted', tagsOfRecordSql('t._record'), "'vanished'", question, days);
  const isChanged = COMPARED.map((column) => `h.${column} IS DISTINCT FROM t.${column}`).join(' OR ');
  const changed = (value: string) => `CASE WHEN t.change IS NULL AND (${isChanged}) THEN ${value} END`;
  return `  WITH adjusted AS MATERIALIZED (
  ${adjustmentsOf('transactions', TAGS, CANCELLED, question, days)}
  UNION ALL
  ${vanished}
  ), versions AS (
  SELECT h.id, ${COMPARED.map((column) => `h.${column}`).join(', ')},
    row_number() OVER (PARTITION BY h.id ORDER BY h._valid_from, h._valid_to NULLS LAST) AS version
  FROM adjusted AS t JOIN transactions_history AS h ON h.id = t.id
  )
  SELECT ${SHOWN}, t.tags, coalesce(t.change, ${changed("'changed'")}) AS change, ${changed('h.amount_cents')} AS amount_before_cents
  FROM adjusted AS t LEFT JOIN versions AS h ON h.id = t.id AND h.version = 1`;
}

/** Changes of what patients owe that are neither procedures nor payments; its options are transaction dates. */
export const adjustments: OfficeReport<Days> = {
  name: 'adjustments',
  description: 'Charge and credit adjustments, with those that were cancelled or changed',
  definition:
    'PatientChargeAdjustment and PatientCreditAdjustment rows by transaction date. Cancelled ones are listed and counted, but are not ' +
    'in the sums. Where the mirror keeps a history, so are those that vanished from the server; and those whose amount, date, patient, ' +
    'location, provider or note differ from the first version kept are told, with the amount of that version.',
  columns: () => columns,
  order: () => order,
  sql: (question, days) => {
    const now = `  ${adjustmentsOf('transactions', `NULL AS amount_before_cents, ${TAGS}`, CANCELLED, question, days)}`;
    return statement({ columns, order, rows: question.hasHistory ? withHistory(question, days) : now });
  },
};
