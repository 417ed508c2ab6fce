import type { Migration, SchemaStatement } from './dialects.ts';

/** The number below which every organization may have lost messages; a stream that lost none has none. */
const LOST = "COALESCE((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'stream_floor'), 0)";
/** The first kept message of the organization of a head; what comes after the last one where there is none. */
const OLDEST = 'COALESCE((SELECT MIN(m.seq) FROM stream_messages m WHERE m.org = stream_heads.org), seq + 1)';

const MESSAGE = 'org, routing_key, sent_at, correlation_id, payload, places, record, record_id, patient_id, seq';

/** SQLite makes the table anew; PostgreSQL has the index that becomes its key. */
const KEYED_BY_ORGANIZATION: readonly SchemaStatement[] = [
  { sqlite: 'ALTER TABLE stream_messages RENAME TO earlier_messages' },
  {
    sqlite: `CREATE TABLE stream_messages (org INTEGER NOT NULL, routing_key TEXT NOT NULL, sent_at TEXT NOT NULL,
      correlation_id TEXT, payload TEXT NOT NULL, places TEXT, record TEXT, record_id INTEGER, patient_id INTEGER,
      seq INTEGER NOT NULL, PRIMARY KEY (org, seq))`,
  },
  { sqlite: `INSERT INTO stream_messages (${MESSAGE}) SELECT ${MESSAGE} FROM earlier_messages ORDER BY id` },
  { sqlite: 'DROP TABLE earlier_messages' },
  { postgres: 'ALTER TABLE stream_messages DROP COLUMN id' },
  { postgres: 'ALTER TABLE stream_messages ALTER COLUMN seq DROP DEFAULT' },
  {
    postgres: `ALTER TABLE stream_messages
      ADD CONSTRAINT stream_messages_pkey PRIMARY KEY USING INDEX stream_messages_by_organization`,
  },
];

/** A stream for each organization, whose positions say which history they belong to (D53). */
export const EPOCHS: Migration = {
  name: 'epochs',
  statements: [
    // Which history the store goes on with (streamheads.ts); a restore changes it.
    {
      sqlite: `INSERT INTO settings (name, value) VALUES ('stream_epoch', lower(hex(randomblob(16))))`,
      postgres: `INSERT INTO settings (name, value) VALUES ('stream_epoch', gen_random_uuid()::text)`,
    },
    // Where the database can tell, a promoted standby and a dump that was loaded have another one. Both functions are open
    // to everybody; a database that has no such functions tells what a restore wrote alone.
    {
      postgres: `CREATE FUNCTION stream_epoch() RETURNS TEXT LANGUAGE plpgsql STABLE AS $$
        DECLARE own TEXT := (SELECT value FROM settings WHERE name = 'stream_epoch');
        BEGIN
          RETURN own || ' ' || (SELECT system_identifier FROM pg_control_system()) || ' '
            || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || ' ' || CAST('stream_heads'::regclass AS OID);
        EXCEPTION WHEN undefined_function OR insufficient_privilege OR feature_not_supported THEN RETURN own;
        END $$`,
    },
    // The highest number that was deleted; the epoch that the head was last moved in, and where its numbers began.
    ...['floor INTEGER NOT NULL DEFAULT 0', "epoch TEXT NOT NULL DEFAULT ''", 'base INTEGER NOT NULL DEFAULT 0'].map(
      (column) => `ALTER TABLE stream_heads ADD COLUMN ${column}`,
    ),
    `UPDATE stream_heads SET floor = CASE WHEN ${OLDEST} - 1 > shared THEN ${OLDEST} - 1
      WHEN ${LOST} < shared THEN ${LOST} ELSE shared END`,
    {
      sqlite: `INSERT INTO settings (name, value) SELECT 'stream_first_epoch', value FROM settings WHERE name = 'stream_epoch'`,
      postgres: `INSERT INTO settings (name, value) SELECT 'stream_first_epoch', stream_epoch()`,
    },
    "UPDATE stream_heads SET epoch = (SELECT value FROM settings WHERE name = 'stream_first_epoch')",
    // How far each broker has the messages of an organization. None of them is sent again, and none is left out: where some
    // were deleted that the broker may lack, the position is below the floor.
    `CREATE TABLE relay_positions (org INTEGER NOT NULL, target TEXT NOT NULL, position TEXT NOT NULL,
      PRIMARY KEY (org, target)) WITHOUT ROWID`,
    `INSERT INTO relay_positions (org, target, position) SELECT h.org, s.name, '' || COALESCE(
        (SELECT MAX(m.seq) FROM stream_messages m WHERE m.org = h.org AND m.id <= CAST(s.value AS INTEGER)),
        CASE WHEN CAST(s.value AS INTEGER) < ${LOST} THEN 0 ELSE h.floor END)
      FROM stream_heads h CROSS JOIN settings s WHERE s.name LIKE 'relay %'`,
    "DELETE FROM settings WHERE name = 'stream_floor' OR name LIKE 'relay %'",
    // The key of a message is its organization and its number there; nothing counts all organizations.
    "DELETE FROM log_heads WHERE name = 'stream'",
    ...KEYED_BY_ORGANIZATION,
  ],
};
