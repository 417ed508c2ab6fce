import { type Migration, textFor } from './dialects.ts';

/** What several servers on one database have to agree about; lost without harm, so not kept through a crash. */
const TABLES = [
  // What one server at a time does: until when, UTC milliseconds of the database's clock, and which one.
  'CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, until BIGINT NOT NULL)',
  // Rate limits: requests that a caller has left at a time, and how many of them the last asking was given.
  'CREATE TABLE rate_buckets (caller TEXT PRIMARY KEY, tokens DOUBLE PRECISION NOT NULL, at BIGINT NOT NULL, granted BIGINT NOT NULL)',
];

export const SHARING: Migration = {
  name: 'sharing',
  statements: TABLES.map((table) => ({
    sqlite: table,
    postgres: textFor(table, 'postgres')?.replace('CREATE', 'CREATE UNLOGGED') ?? table,
  })),
};
