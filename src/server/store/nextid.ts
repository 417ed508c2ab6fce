import { statement } from './statement.ts';
import type { Reader } from './store.ts';

/** `Transaction.nextId` in one statement. */
export async function nextId(tx: Pick<Reader, 'get'>, org: number, type: string): Promise<number> {
  const row = await tx.get<{ last_id: number }>(
    statement`INSERT INTO sequences (org, type, last_id) VALUES (${org}, ${type}, 1)
      ON CONFLICT (org, type) DO UPDATE SET last_id = sequences.last_id + 1 RETURNING last_id`,
  );
  return row?.last_id ?? 1;
}
