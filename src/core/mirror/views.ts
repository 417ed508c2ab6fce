import { locationField } from '../names/namecolumns.ts';
import { quoted } from './names.ts';
import { type MirrorColumn, type MirrorTable, SYNCED_AT } from './tables.ts';

/** A view: its name, and the query that it stands for. */
export interface View {
  readonly name: string;
  readonly query: string;
  readonly about: string;
  /** Tables it reads, which must have all of their columns. */
  readonly reads: readonly string[];
  /** It compares or shows times, of which a de-identified copy has the years alone. */
  readonly needsTimes?: true;
}

/** How the dialect of a database writes what views need. */
export interface ViewDialect {
  /** The local date and time of an instant at a location, an id in SQL, `YYYY-MM-DD HH:MM:SS`. */
  readonly local: (instant: string, location: string) => string;
  /** Its date, `YYYY-MM-DD`. */
  readonly localDate: (instant: string, location: string) => string;
  /** Dollars of cents. */
  readonly dollars: (cents: string) => string;
  /** The instant now, as instants are stored. */
  readonly now: string;
}

/** The row of `_zones` with the zone of whatever is at no location, or at one without a zone of its own. */
export const ELSEWHERE = 0;

/** The view of a table for people: dollars instead of cents, and local times behind instants (D52). */
export function tableView(
  { name, resource }: MirrorTable,
  columns: readonly MirrorColumn[],
  dialect: ViewDialect,
): View {
  const field = locationField(resource.fields);
  const at = columns.find(({ path, isLink }) => isLink === true && path[0] === field);
  const location = at === undefined ? String(ELSEWHERE) : `t.${quoted(at.name)}`;
  const parts = columns.flatMap((column) => {
    const value = `t.${quoted(column.name)}`;
    if (column.name === SYNCED_AT) return [value];
    if (column.type === 'cents') return [`${dialect.dollars(value)} AS ${quoted(withoutCents(column.name))}`];
    if (column.type === 'instant')
      return [value, `${dialect.local(value, location)} AS ${quoted(`${column.name}_local`)}`];
    return [value];
  });
  return {
    name: `v_${name}`,
    query: `SELECT ${parts.join(', ')} FROM ${quoted(name)} AS t`,
    about: `${name} with dollars and local times`,
    reads: [name],
  };
}

/** `amount_cents` is `amount`. */
export function withoutCents(name: string): string {
  return name.replace(/_cents$/, '');
}

const GUARANTOR = 'coalesce(p.primary_guarantor_id, t.patient_id)';

/** Appointments that take up their time, with who and where. */
function schedule({ local }: ViewDialect): View {
  return {
    name: 'v_schedule',
    about: 'Appointments with the names of their patients, and events, by start',
    reads: ['appointments', 'patients', 'events'],
    needsTimes: true,
    query: `SELECT 'appointment' AS kind, a.id, a.start, ${local('a.start', 'a.location_id')} AS start_local, a."end", ${local('a."end"', 'a.location_id')} AS end_local,
  a.duration, a.status, a.location_id, a.operatory_id, a.provider_id, a.patient_id,
  p.first_name AS patient_first_name, p.last_name AS patient_last_name, NULL AS title, a.note
FROM appointments AS a LEFT JOIN patients AS p ON p.id = a.patient_id
UNION ALL
SELECT 'event', e.id, e.start, ${local('e.start', 'e.location_id')}, e."end", ${local('e."end"', 'e.location_id')}, e.duration, NULL, e.location_id, e.operatory_id,
  e.provider_id, NULL, NULL, NULL, e.title, e.description
FROM events AS e`,
  };
}

/** Transactions with who pays. */
function ledger({ dollars }: ViewDialect): View {
  return {
    name: 'v_ledger',
    about: 'Transactions in dollars with patient and guarantor; charges positive, credits negative',
    reads: ['transactions', 'patients'],
    query: `SELECT t.id, t.transaction_date, t.ledger_type, ${dollars('t.amount_cents')} AS amount, t.is_active, t.location_id, t.provider_id,
  t.patient_id, p.first_name AS patient_first_name, p.last_name AS patient_last_name, ${GUARANTOR} AS guarantor_id,
  g.first_name AS guarantor_first_name, g.last_name AS guarantor_last_name, t.note
FROM transactions AS t LEFT JOIN patients AS p ON p.id = t.patient_id LEFT JOIN patients AS g ON g.id = ${GUARANTOR}`,
  };
}

/** What is owed: outstanding charges and unapplied credits of each guarantor and location (D34). */
function balances({ dollars }: ViewDialect): View {
  const applied = (own: string, other: string, sign: string) =>
    `coalesce((SELECT sum(d.applied_amount_cents) FROM transaction_distributions AS d JOIN transactions AS o ON o.id = d.${other}
      WHERE d.${own} = t.id AND d.is_active AND o.is_active AND o.amount_cents ${sign} 0), 0)`;
  return {
    name: 'v_balances',
    about: 'Outstanding charges and unapplied credits in dollars, a row for each guarantor and location',
    reads: ['transactions', 'patients'],
    query: `SELECT guarantor_id, location_id, ${dollars('sum(outstanding_cents)')} AS outstanding,
  ${dollars('sum(unapplied_cents)')} AS unapplied, ${dollars('sum(outstanding_cents + unapplied_cents)')} AS balance
FROM (
  SELECT ${GUARANTOR} AS guarantor_id, t.location_id,
    CASE WHEN t.amount_cents > 0 THEN t.amount_cents - ${applied('charge_id', 'transaction_id', '<')} ELSE 0 END AS outstanding_cents,
    CASE WHEN t.amount_cents < 0 THEN t.amount_cents + ${applied('transaction_id', 'charge_id', '>')} ELSE 0 END AS unapplied_cents
  FROM transactions AS t LEFT JOIN patients AS p ON p.id = t.patient_id
  WHERE t.is_active
) AS open_amounts
GROUP BY guarantor_id, location_id
HAVING sum(outstanding_cents) <> 0 OR sum(unapplied_cents) <> 0`,
  };
}

/** When patients came last (D21), and come next. */
function visits({ local, localDate, now }: ViewDialect): View {
  const lastOf = (query: string) => `SELECT max(day) FROM (${query}) AS days`;
  return {
    name: 'v_visits',
    about: 'The last and the next visit of each patient',
    reads: ['patients', 'appointments', 'transactions'],
    needsTimes: true,
    query: `SELECT p.id AS patient_id, p.first_name, p.last_name,
  (${lastOf(`SELECT ${localDate('a.start', 'a.location_id')} AS day FROM appointments AS a
      WHERE a.patient_id = p.id AND a.status IN ('COMPLETED', 'CHECKOUT')
    UNION ALL SELECT t.transaction_date FROM transactions AS t
      WHERE t.patient_id = p.id AND t.ledger_type = 'PatientProcedureLedger' AND t.is_active`)}) AS last_visit_date,
  n.start AS next_visit, ${local('n.start', 'n.location_id')} AS next_visit_local
FROM patients AS p LEFT JOIN appointments AS n ON n.id = (
  SELECT a.id FROM appointments AS a
  WHERE a.patient_id = p.id AND a.start >= ${now} AND a.status NOT IN ('BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE')
  ORDER BY a.start, a.id LIMIT 1)`,
  };
}

/** Views over several tables. */
export function joinedViews(dialect: ViewDialect): View[] {
  return [schedule(dialect), ledger(dialect), balances(dialect), visits(dialect)];
}
