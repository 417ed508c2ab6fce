import type { Migration } from './dialects.ts';

export const STREAM: Migration = {
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
