import { BLOCKS } from './blocks.ts';
import { type Migration, textFor } from './dialects.ts';
import { EPOCHS } from './epochs.ts';
import { IMPORTS } from './imports.ts';
import { PHASES } from './phases.ts';

const FIRST: Migration = {
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

const STREAM: Migration = {
  name: 'stream',
  statements: [
    // Numbers are never used again, not even when every message has been deleted.
    `CREATE TABLE stream_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, org INTEGER NOT NULL, routing_key TEXT NOT NULL,
      sent_at TEXT NOT NULL, correlation_id TEXT, payload TEXT NOT NULL)`,
    'CREATE INDEX stream_messages_by_organization ON stream_messages (org, id)',
    // What async endpoints still have to deliver, each with how far it has come.
    `CREATE TABLE async_deliveries (id INTEGER PRIMARY KEY AUTOINCREMENT, org INTEGER NOT NULL, correlation_id TEXT NOT NULL,
      operation TEXT NOT NULL, filter TEXT, response_fields TEXT, after_id INTEGER NOT NULL, reached_id INTEGER,
      total INTEGER NOT NULL, created_at TEXT NOT NULL)`,
  ],
};

const LOGS: Migration = {
  name: 'logs',
  statements: [
    // The last number of each log, and the hash of the last row where rows are chained.
    `CREATE TABLE log_heads (name TEXT PRIMARY KEY, last_id INTEGER NOT NULL, hash TEXT NOT NULL)`,
    {
      sqlite: `INSERT INTO log_heads (name, last_id, hash)
        SELECT 'stream', COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'stream_messages'), 0), ''`,
      postgres: `INSERT INTO log_heads (name, last_id, hash) VALUES ('stream', 0, '')`,
    },
    `INSERT INTO log_heads (name, last_id, hash) VALUES ('audit', 0, '')`,
    // Who read and wrote what: no values of records, none of filters. org is NULL for what concerns no single one.
    `CREATE TABLE audit_entries (id INTEGER PRIMARY KEY, org INTEGER, at TEXT NOT NULL, who TEXT NOT NULL, address TEXT,
      request_id TEXT, operation TEXT NOT NULL, ids TEXT, record_count INTEGER, filter_keys TEXT, hash TEXT NOT NULL)`,
    'CREATE INDEX audit_entries_by_organization ON audit_entries (org, id)',
  ],
};

/** What several servers on one database have to agree about; it may be lost in a crash. */
const TABLES = [
  // What one server at a time does: until when, UTC milliseconds of the database's clock, and which one.
  'CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, until BIGINT NOT NULL)',
  // Rate limits: requests that a caller has left at a time, and how many of them the last asking was given.
  'CREATE TABLE rate_buckets (caller TEXT PRIMARY KEY, tokens DOUBLE PRECISION NOT NULL, at BIGINT NOT NULL, granted BIGINT NOT NULL)',
];

const SHARING: Migration = {
  name: 'sharing',
  statements: TABLES.map((table) => ({
    sqlite: table,
    postgres: textFor(table, 'postgres')?.replace('CREATE', 'CREATE UNLOGGED') ?? table,
  })),
};

const AGING: Migration = {
  name: 'aging',
  statements: [
    // Holds all that the aging report reads: the report of a whole organization never goes back to the rows.
    'DROP INDEX ledger_by_guarantor',
    `CREATE INDEX ledger_by_guarantor ON ledger
      (org, guarantor_id, location_id, transaction_date, is_charge, open_cents, insurance_cents, write_off_cents)`,
    // SQLite has it built in: the text at a path such as $.firstName of a record; null where there is none.
    {
      postgres: `CREATE OR REPLACE FUNCTION json_extract(TEXT, TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
        AS 'SELECT CAST($1 AS JSON) #>> string_to_array(substr($2, 3), ''.'')'`,
    },
  ],
};

const SCHEMA_STATE: Migration = {
  name: 'schema',
  statements: [
    // What the tables of resources follow: the fingerprint of the whole, and a record of each table (store/schema).
    'CREATE TABLE schema_state (name TEXT PRIMARY KEY, value TEXT NOT NULL)',
    // Tables whose rows are being brought to a new form, and the key of the last row that has it.
    `CREATE TABLE schema_backfills (table_name TEXT PRIMARY KEY, goal TEXT NOT NULL, org INTEGER NOT NULL, id INTEGER NOT NULL,
      done INTEGER NOT NULL, total INTEGER NOT NULL)`,
  ],
};

const DISCLOSURES: Migration = {
  name: 'disclosures',
  statements: [
    // Whose data an answer held; how it was reached; the status of a refusal and the client that it named; covers_all is 1
    // for what held everything of the organization, or of all of them.
    ...['patients TEXT', 'via TEXT', 'status INTEGER', 'client TEXT', 'covers_all INTEGER'].map(
      (column) => `ALTER TABLE audit_entries ADD COLUMN ${column}`,
    ),
  ],
};

const RIGHTS: Migration = {
  name: 'rights',
  statements: [
    // JSON of ids: the only locations that exist for the holder; NULL: all.
    'ALTER TABLE access_tokens ADD COLUMN locations TEXT',
    'ALTER TABLE access_tokens ADD COLUMN read_only INTEGER NOT NULL DEFAULT 0',
    // The client that the token was issued to.
    'ALTER TABLE access_tokens ADD COLUMN client_id TEXT',
  ],
};

const CHECKPOINTS: Migration = {
  name: 'checkpoints',
  statements: [
    // Signed statements about the audit log (audit/checkpoints.ts). removed_id is 0 where retention has removed nothing.
    `CREATE TABLE audit_checkpoints (number INTEGER PRIMARY KEY, at TEXT NOT NULL, id INTEGER NOT NULL, hash TEXT NOT NULL,
      entries INTEGER NOT NULL, reason TEXT NOT NULL, removed_id INTEGER NOT NULL, removed_hash TEXT NOT NULL,
      removed_checkpoints INTEGER NOT NULL, previous TEXT NOT NULL, key TEXT NOT NULL, signature TEXT NOT NULL)`,
    // Rows that others wrote behind the end of the audit log, moved out of its way: what is in them proves nothing.
    `CREATE TABLE audit_strays (stray INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL, org INTEGER, at TEXT, who TEXT,
      address TEXT, request_id TEXT, operation TEXT, ids TEXT, hash TEXT)`,
  ],
};

const PLACES: Migration = {
  name: 'places',
  statements: [
    // Who sees a message of those who are bound to locations, and the record that some see for the first time (stream/places.ts).
    'ALTER TABLE stream_messages ADD COLUMN places TEXT',
    'ALTER TABLE stream_messages ADD COLUMN record TEXT',
    // JSON of ids: the only locations that exist for who asked; NULL: all.
    'ALTER TABLE async_deliveries ADD COLUMN locations TEXT',
  ],
};

const CREDENTIALS: Migration = {
  name: 'credentials',
  statements: [
    // When it was last used, to the minute.
    'ALTER TABLE access_tokens ADD COLUMN last_used_at TEXT',
    // Tokens of clients were told by their label before.
    `UPDATE access_tokens SET client_id = (SELECT c.client_id FROM api_clients c WHERE 'client ' || c.client_id = label)
      WHERE client_id IS NULL AND label LIKE 'client %'`,
    'CREATE INDEX access_tokens_by_client ON access_tokens (client_id) WHERE client_id IS NOT NULL',
    // Rights as of a token; old_secrets is JSON of secrets that were replaced, each with its hash and its end.
    ...[
      'locations TEXT',
      'read_only INTEGER NOT NULL DEFAULT 0',
      ...['label', 'created_at', 'rotated_at', 'expires_at', 'last_used_at', 'old_secrets'].map(
        (name) => `${name} TEXT`,
      ),
    ].map((column) => `ALTER TABLE api_clients ADD COLUMN ${column}`),
    // Keys of download links, base64; the one that signs has no end.
    'CREATE TABLE link_keys (id TEXT PRIMARY KEY, secret TEXT NOT NULL, created_at TEXT NOT NULL, ends_at TEXT)',
    // The one key that links had is in every backup: it opens nothing any more, and only tells one store from another.
    "UPDATE settings SET name = 'store_id' WHERE name = 'signing_key'",
  ],
};

const WHOSE: Migration = {
  name: 'whose',
  statements: [
    // By whose data entries of the audit log are found: the id of a patient, a block of ids, or all (patientindex.ts). org is 0
    // for what concerns no single organization.
    `CREATE TABLE audit_patients (bucket INTEGER NOT NULL, org INTEGER NOT NULL, entry INTEGER NOT NULL,
      PRIMARY KEY (bucket, org, entry)) WITHOUT ROWID`,
    // Of entries that are there already as much as they say: which patient was read or changed.
    {
      sqlite: `INSERT INTO audit_patients (bucket, org, entry)
        SELECT CAST(ids AS INTEGER), COALESCE(org, 0), id FROM audit_entries
        WHERE operation LIKE 'patients.%' AND length(ids) BETWEEN 1 AND 15 AND ids NOT GLOB '*[^0-9]*'`,
      postgres: `INSERT INTO audit_patients (bucket, org, entry)
        SELECT CAST(ids AS BIGINT), COALESCE(org, 0), id FROM audit_entries
        WHERE operation LIKE 'patients.%' AND ids ~ '^[0-9]{1,15}$'`,
    },
    // Which record a message tells of, and whose data it is.
    'ALTER TABLE stream_messages ADD COLUMN record_id INTEGER',
    'ALTER TABLE stream_messages ADD COLUMN patient_id INTEGER',
    // Who asked for a delivery, from where, and by which request; NULL: it was accepted by an earlier version.
    ...['who', 'address', 'request_id'].map((column) => `ALTER TABLE async_deliveries ADD COLUMN ${column} TEXT`),
  ],
};

const POSITIONS: Migration = {
  name: 'positions',
  statements: [
    // The number of a message among those of its organization. What there is keeps the number that it was sent with.
    'ALTER TABLE stream_messages ADD COLUMN seq INTEGER NOT NULL DEFAULT 0',
    'UPDATE stream_messages SET seq = id',
    'DROP INDEX stream_messages_by_organization',
    'CREATE UNIQUE INDEX stream_messages_by_organization ON stream_messages (org, seq)',
    // The last number of each organization. Up to shared, numbers were those of all organizations and may leave some out;
    // none is given again, and a position from then stays where it was.
    'CREATE TABLE stream_heads (org INTEGER PRIMARY KEY, seq INTEGER NOT NULL, shared INTEGER NOT NULL)',
    `INSERT INTO stream_heads (org, seq, shared) SELECT o.org, h.last_id, h.last_id
      FROM (SELECT org FROM organizations UNION SELECT org FROM stream_messages) AS o
      CROSS JOIN log_heads h WHERE h.name = 'stream' AND h.last_id > 0`,
  ],
};

const SEQUENCED: Migration = {
  name: 'sequenced',
  statements: [
    // Until an entry has its place in the log it has a number below zero, and no hash (auditlog.ts).
    {
      postgres: `ALTER TABLE audit_entries ALTER COLUMN id
        ADD GENERATED BY DEFAULT AS IDENTITY (INCREMENT BY -1 START WITH -1)`,
    },
  ],
};

const FILE_RETENTION: Migration = {
  name: 'file retention',
  statements: [
    // Until when a file is kept whose document is gone, UTC; empty: it is to be removed at once.
    "ALTER TABLE file_removals ADD COLUMN due_at TEXT NOT NULL DEFAULT ''",
    'CREATE INDEX file_removals_by_due ON file_removals (due_at)',
  ],
};

const COUNTS: Migration = {
  name: 'counts',
  statements: [
    // How many records each table of a resource has at each place, 0 for those without: filled when the tables are complete.
    `CREATE TABLE record_counts (org INTEGER NOT NULL, table_name TEXT NOT NULL, place INTEGER NOT NULL, records INTEGER NOT NULL,
      PRIMARY KEY (org, table_name, place)) WITHOUT ROWID`,
  ],
};

/** The hand-written part of the schema, step by step: whatever is no table of a resource (those follow from the catalog, store/schema). */
export const MIGRATIONS: readonly Migration[] = [
  FIRST,
  STREAM,
  LOGS,
  SHARING,
  AGING,
  SCHEMA_STATE,
  DISCLOSURES,
  RIGHTS,
  CHECKPOINTS,
  PLACES,
  CREDENTIALS,
  WHOSE,
  POSITIONS,
  SEQUENCED,
  EPOCHS,
  FILE_RETENTION,
  COUNTS,
  BLOCKS,
  PHASES,
  IMPORTS,
];
