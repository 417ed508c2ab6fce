import { randomUUID } from 'node:crypto';
import sql, { raw, type Sql } from 'sql-template-tag';
import { bound, insertStatements, type Texts } from './statement.ts';
import type { LogValues, Writing } from './store.ts';

/** The columns of a message, its number apart: its organization first. */
export const MESSAGE_COLUMNS = [
  ...['org', 'routing_key', 'sent_at', 'correlation_id', 'payload', 'places', 'record', 'record_id', 'patient_id'],
] as const;

/** The setting that a restore changes: the history that the store goes on with is not the one that it had. */
const EPOCH_SETTING = 'stream_epoch';

/** The epoch of the store. PostgreSQL adds what a failover, or loading a dump, changes (migration `epochs`). */
export const EPOCH: Texts = {
  sql: `(SELECT value FROM settings WHERE name = '${EPOCH_SETTING}')`,
  text: 'stream_epoch() COLLATE "C"',
};

/** From here on the store has a history of its own: positions of before lead to a resync (D53). */
export function beginEpoch(tx: Pick<Writing, 'run'>): Promise<number> {
  return tx.run(sql`UPDATE settings SET value = ${randomUUID()} WHERE name = ${EPOCH_SETTING}`);
}

/**
 * Where the numbers of an epoch may begin, all but the first: behind a multiple of this, which is 1,000,000 times the
 * seconds since 1970. Nobody writes that many a second, so that no number is given twice, however many were lost.
 */
const EPOCH_STEP = 1_000_000;

/** Whether an epoch may have begun behind this number, so that those before it may never have been given. */
export function isEpochBegin(number: number): boolean {
  return number > EPOCH_STEP ** 2 && number % EPOCH_STEP === 0;
}

const ALLOT: Texts = {
  sql: allotText(EPOCH.sql, 'MAX', ['?', '?', '?']),
  text: allotText(EPOCH.text, 'GREATEST', ['$1::bigint', '$2::bigint', '$3::bigint']),
};

/** `places`: organization, how many, where an epoch that begins now would. */
function allotText(epoch: string, greatest: string, [org, count, now]: readonly [string, string, string]): string {
  const goesOn = 'stream_heads.epoch = excluded.epoch';
  const begin = `${greatest}((stream_heads.seq / ${EPOCH_STEP} + 1) * ${EPOCH_STEP}, excluded.base)`;
  return `INSERT INTO stream_heads (org, seq, shared, floor, epoch, base)
    SELECT ${org}, base + ${count}, 0, 0, epoch, base FROM (
      SELECT epoch, CASE WHEN epoch = (SELECT value FROM settings WHERE name = 'stream_first_epoch') THEN 0
        ELSE ${now} END AS base FROM (SELECT ${epoch} AS epoch) AS now) AS new WHERE true
    ON CONFLICT (org) DO UPDATE SET
      seq = CASE WHEN ${goesOn} THEN stream_heads.seq ELSE ${begin} END + excluded.seq - excluded.base,
      base = CASE WHEN ${goesOn} THEN stream_heads.base ELSE ${begin} END, epoch = excluded.epoch
    RETURNING seq`;
}

/**
 * Allots the next numbers of an organization's messages: 1, 2, 3 and so on, or those of a new epoch. Returns the number
 * before the first of them. The organization's head stays locked to the end of the transaction, so that numbers follow
 * the order of commits: call it as late as the store can, and for several organizations in the order of their keys, so
 * that two transactions cannot wait for each other.
 */
export async function allotNumbers(tx: Pick<Writing, 'get'>, org: number, count: number): Promise<number> {
  const now = Math.floor(Date.now() / 1000) * EPOCH_STEP;
  const head = await tx.get<{ seq: number }>(bound(ALLOT, [org, count, now]));
  if (head === undefined) throw new Error('The organization has no head.');
  return head.seq - count;
}

const INSERT = `INSERT INTO stream_messages (${[...MESSAGE_COLUMNS, 'seq'].join(', ')})`;

/** Numbers messages and writes them. */
export async function writeMessages(tx: Pick<Writing, 'get' | 'queue'>, rows: readonly LogValues[]): Promise<void> {
  const counts = new Map<number, number>();
  for (const [org] of rows) counts.set(Number(org), (counts.get(Number(org)) ?? 0) + 1);
  const inOrder = [...counts].sort(([a], [b]) => a - b);
  // All are sent before anything else is: whoever writes another log, too, locks its head after these.
  const last = new Map(
    await Promise.all(inOrder.map(async ([org, count]) => [org, await allotNumbers(tx, org, count)] as const)),
  );
  const numbered = rows.map((row) => {
    const number = (last.get(Number(row[0])) ?? 0) + 1;
    last.set(Number(row[0]), number);
    return [...row, number];
  });
  for (const insert of insertStatements(INSERT, numbered)) await tx.queue(insert);
}

/** Numbers the messages that a statement selects, and writes them (`Transaction.appendSelected`). */
export async function writeSelected(
  tx: Pick<Writing, 'get' | 'run'>,
  org: number,
  select: Sql,
  rows: number,
): Promise<void> {
  const names = raw(MESSAGE_COLUMNS.join(', '));
  const before = await allotNumbers(tx, org, rows);
  await tx.run(sql`INSERT INTO stream_messages (${names}, seq)
    SELECT ${names}, s.position + CAST(${before} AS BIGINT) FROM (${select}) AS s ORDER BY s.position`);
}
