/** What takes each migration of a SQLite database back, by its number: whoever adds a migration adds a row. */
const UNDO: Readonly<Record<number, readonly string[]>> = {
  2: ['DROP TABLE stream_messages', 'DROP TABLE async_deliveries'],
  3: ['DROP TABLE audit_entries', 'DROP TABLE log_heads'],
  4: ['DROP TABLE leases', 'DROP TABLE rate_buckets'],
  5: [],
  6: ['DROP TABLE schema_state', 'DROP TABLE schema_backfills'],
  7: [
    // The hashes of entries cover columns that an earlier molar does not have.
    'DELETE FROM audit_entries',
    "UPDATE log_heads SET last_id = 0, hash = '' WHERE name = 'audit'",
    ...['patients', 'via', 'status', 'client', 'covers_all'].map(
      (name) => `ALTER TABLE audit_entries DROP COLUMN ${name}`,
    ),
  ],
  8: ['locations', 'read_only', 'client_id'].map((name) => `ALTER TABLE access_tokens DROP COLUMN ${name}`),
  9: ['DROP TABLE audit_checkpoints', 'DROP TABLE audit_strays'],
  10: [
    'ALTER TABLE stream_messages DROP COLUMN places',
    'ALTER TABLE stream_messages DROP COLUMN record',
    'ALTER TABLE async_deliveries DROP COLUMN locations',
  ],
  11: [
    "UPDATE settings SET name = 'signing_key' WHERE name = 'store_id'",
    'DROP TABLE link_keys',
    'DROP INDEX access_tokens_by_client',
    'ALTER TABLE access_tokens DROP COLUMN last_used_at',
    ...['locations', 'read_only', 'label', 'created_at', 'rotated_at', 'expires_at', 'last_used_at', 'old_secrets'].map(
      (name) => `ALTER TABLE api_clients DROP COLUMN ${name}`,
    ),
  ],
  12: [
    'DROP TABLE audit_patients',
    ...['record_id', 'patient_id'].map((name) => `ALTER TABLE stream_messages DROP COLUMN ${name}`),
    ...['who', 'address', 'request_id'].map((name) => `ALTER TABLE async_deliveries DROP COLUMN ${name}`),
  ],
  13: [
    'DROP TABLE stream_heads',
    'DROP INDEX stream_messages_by_organization',
    'ALTER TABLE stream_messages DROP COLUMN seq',
    'CREATE INDEX stream_messages_by_organization ON stream_messages (org, id)',
  ],
  14: [],
  15: [
    'CREATE UNIQUE INDEX stream_messages_by_organization ON stream_messages (org, seq)',
    "INSERT INTO log_heads (name, last_id, hash) SELECT 'stream', COALESCE(MAX(id), 0), '' FROM stream_messages",
    "DELETE FROM settings WHERE name IN ('stream_epoch', 'stream_first_epoch')",
    'DROP TABLE relay_positions',
    ...['floor', 'epoch', 'base'].map((column) => `ALTER TABLE stream_heads DROP COLUMN ${column}`),
  ],
  16: ['DROP INDEX file_removals_by_due', 'ALTER TABLE file_removals DROP COLUMN due_at'],
  17: ['DROP TABLE record_counts', 'DELETE FROM schema_state'],
  18: ['DROP TABLE ledger_blocks', 'ALTER TABLE ledger_versions DROP COLUMN counted'],
  19: ['DROP TABLE servers', 'DROP TABLE schema_repairs'],
  20: ['DROP TABLE imports', 'DROP TABLE import_lines', 'DROP TABLE import_links', 'DROP TABLE import_deferred'],
};

const MESSAGE = `org, seq, routing_key, sent_at, correlation_id, payload, places, record, record_id, patient_id`;

/**
 * What a step needs beside that on one kind of store. The number of a message among all: SQLite keeps the order in which
 * they were written, PostgreSQL does in a small table.
 */
const FIRST_UNDO: Readonly<Record<'sqlite' | 'postgres', Readonly<Record<number, readonly string[]>>>> = {
  sqlite: {
    15: [
      'ALTER TABLE stream_messages RENAME TO later_messages',
      `CREATE TABLE stream_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, org INTEGER NOT NULL, routing_key TEXT NOT NULL,
        sent_at TEXT NOT NULL, correlation_id TEXT, payload TEXT NOT NULL, places TEXT, record TEXT, record_id INTEGER,
        patient_id INTEGER, seq INTEGER NOT NULL DEFAULT 0)`,
      `INSERT INTO stream_messages (${MESSAGE}) SELECT ${MESSAGE} FROM later_messages ORDER BY rowid`,
      'DROP TABLE later_messages',
    ],
  },
  postgres: {
    14: ['ALTER TABLE audit_entries ALTER COLUMN id DROP IDENTITY'],
    15: [
      'ALTER TABLE stream_messages DROP CONSTRAINT stream_messages_pkey',
      'ALTER TABLE stream_messages ADD COLUMN id BIGINT',
      `UPDATE stream_messages SET id = n FROM (SELECT ctid AS place, row_number() OVER (ORDER BY ctid) AS n FROM stream_messages)
        AS numbered WHERE ctid = place`,
      'ALTER TABLE stream_messages ADD CONSTRAINT stream_messages_pkey PRIMARY KEY (id)',
      'DROP FUNCTION stream_epoch',
    ],
    19: ['DROP FUNCTION note_repair CASCADE'],
  },
};

/** A script that makes a database one of an earlier schema; one of PostgreSQL at most to before step 13. */
export function downgradeScript(version: number, dialect: 'sqlite' | 'postgres' = 'sqlite'): string {
  const later = Object.keys(UNDO)
    .map(Number)
    .filter((step) => step > version)
    .sort((a, b) => b - a);
  const undone = later.flatMap((step) => [...(FIRST_UNDO[dialect][step] ?? []), ...(UNDO[step] ?? [])]);
  return [...undone, `DELETE FROM schema_migrations WHERE version > ${version}`].join(';\n');
}
