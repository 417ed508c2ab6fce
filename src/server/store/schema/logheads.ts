import { hash } from 'node:crypto';
import sql from 'sql-template-tag';
import type { Transaction } from '../store.ts';

/** A digest of the newest numbers of all logs, to which every change adds. */
export async function readLogHeads(tx: Transaction): Promise<string> {
  const streams = await tx.all<{ org: number; seq: number }>(sql`SELECT org, seq FROM stream_heads ORDER BY org`);
  const audit = await tx.get<{ last_id: number }>(sql`SELECT last_id FROM log_heads WHERE name = 'audit'`);
  return hash('sha256', JSON.stringify([streams.map(({ org, seq }) => [org, seq]), audit?.last_id]), 'hex');
}
