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
  14: ['DROP TABLE record_counts'],
  15: ['DROP TABLE ledger_blocks', 'ALTER TABLE ledger_versions DROP COLUMN counted'],
};

/** A script that makes a SQLite database one of an earlier schema. */
export function downgradeScript(version: number): string {
  const later = Object.keys(UNDO)
    .map(Number)
    .filter((step) => step > version)
    .sort((a, b) => b - a);
  const undone = later.flatMap((step) => UNDO[step] ?? []);
  return [...undone, `DELETE FROM schema_migrations WHERE version > ${version}`].join(';\n');
}
