import { createHash } from 'node:crypto';
import { expect, vi } from 'vitest';
import { type Evidence, verifyLog } from '../../src/server/audit/verify.ts';
import { rawRows, tamper } from './rawsql.ts';
import type { TestService } from './service.ts';

/** An entry as the database has it. */
export interface RawEntry {
  readonly id: number;
  readonly hash: string;
  readonly [column: string]: unknown;
}

export const rawEntries = (service: TestService) =>
  rawRows<RawEntry>(service, 'SELECT * FROM audit_entries ORDER BY id');

/** The hash that an entry has after another, computed from what the documents say. */
export function hashAfter(before: string, { id, hash: _, ...values }: RawEntry): string {
  const all = Object.values(values);
  // Columns that came later count only where one of them has a value.
  const counted = all.slice(9).every((value) => value === null) ? all.slice(0, 9) : all;
  return createHash('sha256')
    .update(JSON.stringify([before, id, ...counted]))
    .digest('hex');
}

/** Makes the hashes anew from an entry on, and moves the head there: what somebody does who knows how it works. */
export async function rehash(service: TestService, from: number): Promise<void> {
  const rows = await rawEntries(service);
  let before = rows.find(({ id }) => id === from - 1)?.hash ?? '';
  for (const row of rows.filter(({ id }) => id >= from)) {
    before = hashAfter(before, row);
    await tamper(service, `UPDATE audit_entries SET hash = '${before}' WHERE id = ${row.id}`);
  }
  await tamper(service, `UPDATE log_heads SET last_id = ${rows.at(-1)?.id}, hash = '${before}' WHERE name = 'audit'`);
}

/** How long is waited, in hooks too, for what comes by itself. */
export const WAITING = { timeout: 60_000 };

let tags = 0;

/** Writes an entry. */
export async function writeEntry(service: TestService): Promise<void> {
  const body = { tagText: `entry ${++tags}`, isPredefined: false, tagType: 'PAYMENT_TAG' };
  expect((await service.call('POST', '/transactiontags', { body })).status).toBe(201);
}

/** Lets a minute pass, and waits for the checkpoint that covers what was written before, unless it has come already. */
export async function minute(service: TestService): Promise<void> {
  const uncovered = async () => {
    await service.service.store.sequenceEntries();
    return rawRows(service, 'SELECT id FROM audit_entries WHERE id > (SELECT MAX(id) FROM audit_checkpoints)');
  };
  if ((await uncovered()).length === 0) return;
  service.clock.advance(60_000);
  await vi.waitFor(async () => expect(await uncovered()).toEqual([]), WAITING);
}

export async function lastNumber(service: TestService): Promise<number> {
  const [row] = await rawRows<{ number: number | null }>(
    service,
    'SELECT MAX(number) AS number FROM audit_checkpoints',
  );
  return row?.number ?? 0;
}

/** The problems that are found: `code source`. */
export async function problemsOf(service: TestService, evidence: Evidence = {}): Promise<string[]> {
  await service.service.store.sequenceEntries();
  const keys = service.keeper.signing('verify').key.own;
  const { problems } = await verifyLog(service.service.store.read, { keys, ...evidence });
  return problems.map(({ code, kind, id }) => `${code} ${id === null ? kind : `${kind} ${id}`}`);
}
