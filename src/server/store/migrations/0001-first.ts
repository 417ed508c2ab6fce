import type { Migration } from './migrate.ts';

/** A resource table: key led by the organization, the columns that filters need, the wire JSON last. */
function records(table: string, columns: string): string {
  return `CREATE TABLE ${table} (org INTEGER NOT NULL, id INTEGER NOT NULL, ${columns}, json TEXT NOT NULL, PRIMARY KEY (org, id))`;
}

/** Rows for a filter key of which a record may have several values. */
function manyValues(table: string): string[] {
  return [
    `CREATE TABLE ${table} (org INTEGER NOT NULL, value TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (org, value, id)) WITHOUT ROWID`,
    `CREATE INDEX ${table}_by_id ON ${table} (org, id)`,
  ];
}

function index(table: string, columns: string, where = ''): string {
  const name = `${table}_by_${columns.replaceAll(', ', '_')}`;
  return `CREATE INDEX ${name} ON ${table} (org, ${columns}, id)${where && ` WHERE ${where}`}`;
}

const present = (table: string, column: string) => index(table, column, `${column} IS NOT NULL`);

/** Appointments that take up their operatory and provider; the planner knows it by these very words (reports/openings/busy.ts). */
const OCCUPYING = "status NOT IN ('BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE')";

export const FIRST: Migration = {
  name: 'first',
  statements: [
    // SQLite has it built in: where a text is found in another, from 1; 0 when it is not.
    {
      postgres: `CREATE FUNCTION instr(TEXT, TEXT) RETURNS INTEGER LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
        AS 'SELECT strpos($1, $2)'`,
    },
    'CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)',
    'CREATE TABLE organizations (org INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT, timezone TEXT NOT NULL, created_date TEXT NOT NULL)',
    `CREATE TABLE access_tokens (hash TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, organizations TEXT NOT NULL, scopes TEXT NOT NULL,
      label TEXT, created_at TEXT NOT NULL, expires_at TEXT)`,
    'CREATE TABLE api_clients (client_id TEXT PRIMARY KEY, secret_hash TEXT NOT NULL, organizations TEXT NOT NULL, scopes TEXT NOT NULL)',
    'CREATE TABLE sequences (org INTEGER NOT NULL, type TEXT NOT NULL, last_id INTEGER NOT NULL, PRIMARY KEY (org, type)) WITHOUT ROWID',
    `CREATE TABLE reference_records (org INTEGER NOT NULL, type TEXT NOT NULL, id INTEGER NOT NULL, filed_under INTEGER, json TEXT NOT NULL,
      PRIMARY KEY (org, type, id)) WITHOUT ROWID`,
    'CREATE INDEX reference_records_by_filed_under ON reference_records (org, type, filed_under) WHERE filed_under IS NOT NULL',

    records(
      'patients',
      `first_name TEXT, first_name_fold TEXT, last_name TEXT, last_name_fold TEXT, preferred_name TEXT, preferred_name_fold TEXT,
      gender TEXT, patient_status TEXT, date_of_birth TEXT, email_address TEXT, chart_number TEXT, preferred_location_id INTEGER,
      primary_guarantor_id INTEGER, duplicate_of_patient_id INTEGER, primary_contact_id INTEGER, first_visit_date TEXT,
      last_modified TEXT, referred_by_patient_id INTEGER, referred_by_referral_id INTEGER`,
    ),
    ...manyValues('patients_phones_number'),
    index('patients', 'last_name_fold'),
    index('patients', 'first_name_fold'),
    index('patients', 'patient_status'),
    index('patients', 'date_of_birth'),
    index('patients', 'preferred_location_id'),
    index('patients', 'primary_guarantor_id'),
    index('patients', 'last_modified'),
    present('patients', 'first_visit_date'),
    present('patients', 'preferred_name_fold'),
    present('patients', 'email_address'),
    present('patients', 'chart_number'),
    present('patients', 'duplicate_of_patient_id'),
    present('patients', 'primary_contact_id'),
    present('patients', 'referred_by_patient_id'),
    present('patients', 'referred_by_referral_id'),

    records(
      'documents',
      `owner_organization_id TEXT, owner_patient_id INTEGER, owner_perio_exam_id INTEGER, owner TEXT NOT NULL,
      base_fold TEXT NOT NULL, guid TEXT NOT NULL, variants TEXT NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL`,
    ),
    'CREATE UNIQUE INDEX documents_by_name ON documents (org, owner, base_fold)',
    'CREATE INDEX documents_by_guid ON documents (guid)',
    present('documents', 'owner_organization_id'),
    present('documents', 'owner_patient_id'),
    present('documents', 'owner_perio_exam_id'),
    ...manyValues('documents_tags'),
    'CREATE TABLE file_removals (name TEXT PRIMARY KEY)',
    'CREATE TABLE document_tags (org INTEGER NOT NULL, fold TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (org, fold)) WITHOUT ROWID',

    records(
      'appointments',
      `needs_follow_up INTEGER, status TEXT, patient_id INTEGER, operatory_id INTEGER, location_id INTEGER, provider_id INTEGER,
      asap INTEGER, start TEXT, last_modified TEXT, production_cents INTEGER, write_off_cents INTEGER`,
    ),
    index('appointments', 'patient_id'),
    index('appointments', 'location_id, start'),
    index('appointments', 'start'),
    index('appointments', 'last_modified'),
    index('appointments', 'operatory_id, start', OCCUPYING),
    index('appointments', 'provider_id, start', OCCUPYING),

    records('appointmenthistories', 'appointment_id INTEGER, last_modified TEXT'),
    index('appointmenthistories', 'appointment_id'),
    index('appointmenthistories', 'last_modified'),

    records(
      'missedappointments',
      'location_id INTEGER, start TEXT, patient_id INTEGER, operatory_id INTEGER, appointment_id INTEGER, is_open INTEGER NOT NULL',
    ),
    index('missedappointments', 'appointment_id'),
    index('missedappointments', 'patient_id'),
    index('missedappointments', 'start'),

    records(
      'transactions',
      `ledger_type TEXT, patient_id INTEGER, provider_id INTEGER, transaction_date TEXT, location_id INTEGER, last_modified TEXT,
      is_active INTEGER, amount_cents INTEGER, estimated_insurance_cents INTEGER, estimated_write_off_cents INTEGER`,
    ),
    index('transactions', 'patient_id'),
    index('transactions', 'transaction_date'),
    index('transactions', 'location_id, transaction_date'),
    index('transactions', 'last_modified'),
    // What active credits actively distribute: cents of a credit on a charge.
    `CREATE TABLE distributions (org INTEGER NOT NULL, charge_id INTEGER NOT NULL, credit_id INTEGER NOT NULL, cents INTEGER NOT NULL,
      by_insurance INTEGER NOT NULL, PRIMARY KEY (org, charge_id, credit_id)) WITHOUT ROWID`,
    'CREATE INDEX distributions_by_credit ON distributions (org, credit_id, charge_id, cents)',
    // Active transactions as the aging report reads them: a page of a location lies together.
    `CREATE TABLE ledger (org INTEGER NOT NULL, location_id INTEGER NOT NULL, guarantor_id INTEGER NOT NULL, id INTEGER NOT NULL,
      transaction_date TEXT NOT NULL, is_charge INTEGER NOT NULL, open_cents INTEGER NOT NULL, insurance_cents INTEGER NOT NULL,
      write_off_cents INTEGER NOT NULL, PRIMARY KEY (org, location_id, guarantor_id, id)) WITHOUT ROWID`,
    'CREATE INDEX ledger_by_id ON ledger (org, id)',
    'CREATE INDEX ledger_by_guarantor ON ledger (org, guarantor_id, open_cents)',
    'CREATE TABLE ledger_changes (org INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (org, id)) WITHOUT ROWID',
    'CREATE TABLE ledger_versions (org INTEGER PRIMARY KEY, version INTEGER NOT NULL)',

    records('transactiontags', 'tag_text TEXT, tag_text_fold TEXT, tag_type TEXT'),
    'CREATE UNIQUE INDEX transactiontags_by_text ON transactiontags (org, tag_type, tag_text_fold)',

    records('patientinsuranceplans', 'patient_id INTEGER, last_modified TEXT'),
    index('patientinsuranceplans', 'patient_id'),
    index('patientinsuranceplans', 'last_modified'),

    records('imageattachments', 'insurance_claim_id INTEGER'),
    index('imageattachments', 'insurance_claim_id'),

    records('scheduletemplatereasons', 'location_id INTEGER'),
    index('scheduletemplatereasons', 'location_id'),

    records(
      'events',
      `title TEXT, title_fold TEXT, start TEXT, operatory_id INTEGER, location_id INTEGER, provider_id INTEGER, last_modified TEXT,
      group_id TEXT`,
    ),
    index('events', 'start'),
    index('events', 'location_id, start'),
    index('events', 'last_modified'),
    present('events', 'group_id'),
    index('events', 'operatory_id, start', 'operatory_id IS NOT NULL'),
    index('events', 'provider_id, start', 'provider_id IS NOT NULL'),

    `CREATE TABLE idempotency_keys (org INTEGER NOT NULL, token TEXT NOT NULL, route TEXT NOT NULL, name TEXT NOT NULL,
      body_hash TEXT NOT NULL, status INTEGER NOT NULL, answer TEXT NOT NULL, created_at TEXT NOT NULL,
      PRIMARY KEY (org, token, route, name))`,
    'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)',
  ],
};
