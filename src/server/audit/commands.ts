import { userInfo } from 'node:os';
import { nowOf } from '../clock.ts';
import type { Service } from '../service.ts';
import type { Transaction } from '../store/store.ts';
import { type AuditEntry, appendAudit, auditRow } from './entries.ts';

/** What a command did; it concerns no single organization unless it says so. */
type Done = Omit<AuditEntry, 'at' | 'actor' | 'org'> & Partial<Pick<AuditEntry, 'org'>>;

/**
 * Writes the entry of a command by itself; it is on disk when this resolves, behind all that were there, and nothing may be
 * printed before.
 */
export async function writeCommand(service: Pick<Service, 'store' | 'clock'>, done: Done): Promise<void> {
  await service.store.sequenceEntries();
  await service.store.appendLogs([auditRow(entryOf(nowOf(service), done))]);
  await service.store.sequenceEntries();
}

/** Writes the entry of a command in the transaction of what it does. `who`: whoever runs it, when that is not this process. */
export function appendCommand(tx: Transaction, at: string, done: Done, who = commandUser()): Promise<void> {
  return appendAudit(tx, entryOf(at, done, who));
}

/** Whoever runs a command on the server's own data, as entries name them: `command USER` (contract §8). */
export function commandUser(): string {
  return `command ${userName()}`;
}

function entryOf(at: string, done: Done, who = commandUser()): AuditEntry {
  return { org: null, ...done, at, actor: { who, address: null, requestId: null } };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}
