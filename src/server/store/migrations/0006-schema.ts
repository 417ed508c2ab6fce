import type { Migration } from './dialects.ts';

export const SCHEMA_STATE: Migration = {
  name: 'schema',
  statements: [
    // What the tables of resources follow: the fingerprint of the whole, and a record of each table (store/schema).
    'CREATE TABLE schema_state (name TEXT PRIMARY KEY, value TEXT NOT NULL)',
    // Tables whose rows are being brought to a new form, and the key of the last row that has it.
    `CREATE TABLE schema_backfills (table_name TEXT PRIMARY KEY, goal TEXT NOT NULL, org INTEGER NOT NULL, id INTEGER NOT NULL,
      done INTEGER NOT NULL, total INTEGER NOT NULL)`,
  ],
};
