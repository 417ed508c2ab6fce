import type { Migration } from './dialects.ts';

/** Tables of what is no resource: the tables of resources follow from the catalog (store/schema). */
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
    'CREATE TABLE file_removals (name TEXT PRIMARY KEY)',
    'CREATE TABLE document_tags (org INTEGER NOT NULL, fold TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (org, fold)) WITHOUT ROWID',
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
    `CREATE TABLE idempotency_keys (org INTEGER NOT NULL, token TEXT NOT NULL, route TEXT NOT NULL, name TEXT NOT NULL,
      body_hash TEXT NOT NULL, status INTEGER NOT NULL, answer TEXT NOT NULL, created_at TEXT NOT NULL,
      PRIMARY KEY (org, token, route, name))`,
    'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)',
  ],
};
