import { statement } from '../statement.ts';
import type { Statement } from '../store.ts';

/**
 * The two statements of `Transaction.nextId`: the first raises the last id of a type, the second tells it as `last_id`.
 * They are two, since SQLite makes a table for a row that the first would return, which takes longer than both.
 */
export function nextIdStatements(org: number, type: string): readonly [raise: Statement, tell: Statement] {
  return [
    statement`INSERT INTO sequences (org, type, last_id) VALUES (${org}, ${type}, 1)
      ON CONFLICT (org, type) DO UPDATE SET last_id = sequences.last_id + 1`,
    statement`SELECT last_id FROM sequences WHERE org = ${org} AND type = ${type}`,
  ];
}
