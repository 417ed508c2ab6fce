import { statement } from './statement.ts';
import type { Reader, Transaction } from './store.ts';

/** `Transaction.nextId` in one statement. */
export async function nextId(tx: Pick<Reader, 'get'>, org: number, type: string): Promise<number> {
  const row = await tx.get<{ last_id: number }>(
    statement`INSERT INTO sequences (org, type, last_id) VALUES (${org}, ${type}, 1)
      ON CONFLICT (org, type) DO UPDATE SET last_id = sequences.last_id + 1 RETURNING last_id`,
  );
  return row?.last_id ?? 1;
}

/** Keeps an imported id from ever being given again. */
export async function raiseSequence(tx: Transaction, org: number, type: string, id: number): Promise<void> {
  await tx.run(
    statement`INSERT INTO sequences (org, type, last_id) VALUES (${org}, ${type}, ${id})
      ON CONFLICT (org, type) DO UPDATE SET last_id = excluded.last_id WHERE excluded.last_id > sequences.last_id`,
  );
}
