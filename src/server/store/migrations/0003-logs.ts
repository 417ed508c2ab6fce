import type { Migration } from './dialects.ts';

export const LOGS: Migration = {
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
