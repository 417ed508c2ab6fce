import type { Migration } from './dialects.ts';

export const AGING: Migration = {
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
