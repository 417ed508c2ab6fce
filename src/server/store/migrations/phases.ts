import type { Migration } from './dialects.ts';

/** Upgrades in phases: an older server goes on beside a newer one until it is stopped. */
export const PHASES: Migration = {
  name: 'phases',
  isAdditive: true,
  statements: [
    // Which processes have the database open, of which schema, and when they said so last: UTC milliseconds of its clock.
    `CREATE TABLE servers (id TEXT PRIMARY KEY, molar TEXT NOT NULL, fingerprint TEXT NOT NULL, seen_at INTEGER NOT NULL,
      is_running INTEGER NOT NULL)`,
    // Rows that were written in an earlier form beside a newer server, which brings them to its own (store/schema/repairs.ts).
    `CREATE TABLE schema_repairs (org INTEGER NOT NULL, table_name TEXT NOT NULL, id INTEGER NOT NULL,
      PRIMARY KEY (org, table_name, id)) WITHOUT ROWID`,
    // Whoever writes needs no right on the table of notes, which may be new. A note that is there is locked, so that it
    // cannot be dealt with before this write is committed.
    {
      postgres: `CREATE OR REPLACE FUNCTION note_repair() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
        AS $$ DECLARE noted RECORD;
        BEGIN
          IF TG_OP = 'DELETE' THEN noted := OLD; ELSE noted := NEW; END IF;
          INSERT INTO schema_repairs (org, table_name, id) VALUES (noted.org, TG_TABLE_NAME, noted.id)
            ON CONFLICT (org, table_name, id) DO UPDATE SET id = excluded.id;
          RETURN NULL;
        END $$`,
    },
  ],
};
