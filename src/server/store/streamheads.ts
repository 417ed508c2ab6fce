import { statement } from './statement.ts';
import type { Reader } from './store.ts';

/**
 * Allots the next numbers of an organization's own messages: 1, 2, 3 and so on, whatever other organizations write (D53).
 * Returns the number before the first of them. Call it with the head of the stream's log locked, so that they follow the
 * order of commits.
 */
export async function allotNumbers(tx: Pick<Reader, 'get'>, org: number, count: number): Promise<number> {
  const head = await tx.get<{ seq: number }>(
    statement`INSERT INTO stream_heads (org, seq, shared) VALUES (${org}, ${count}, 0)
      ON CONFLICT (org) DO UPDATE SET seq = stream_heads.seq + excluded.seq RETURNING seq`,
  );
  if (head === undefined) throw new Error('The organization has no head.');
  return head.seq - count;
}

/**
 * Allots the numbers of messages, given the organization of each, in one statement for each organization. Returns what
 * gives them out: to each organization its next one.
 */
export async function numbersFor(tx: Pick<Reader, 'get'>, orgs: readonly number[]): Promise<(org: number) => number> {
  const counts = new Map<number, number>();
  for (const org of orgs) counts.set(org, (counts.get(org) ?? 0) + 1);
  const last = new Map<number, number>();
  for (const [org, count] of counts) last.set(org, await allotNumbers(tx, org, count));
  return (org) => {
    const number = (last.get(org) ?? 0) + 1;
    last.set(org, number);
    return number;
  };
}
