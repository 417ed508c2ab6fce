import { userInfo } from 'node:os';
import { nowOf } from '../clock.ts';
import type { Service } from '../service.ts';
import { type Actor, type AuditEntry, auditRow } from './entries.ts';

/**
 * The entry of a command on the server's own data; it is on disk when this resolves, behind all that were there, and
 * nothing may be printed before.
 */
export async function auditCommand(
  service: Pick<Service, 'store' | 'clock'>,
  entry: Pick<AuditEntry, 'org' | 'operation' | 'ids' | 'all' | 'count'>,
): Promise<void> {
  await service.store.sequenceEntries();
  await service.store.appendLogs([auditRow({ ...entry, at: nowOf(service), actor: commandActor() })]);
  await service.store.sequenceEntries();
}

/** Whoever may run commands on the server's own data, as the audit log names them: `command USER` (contract §8). */
export function commandActor(): Actor {
  return { who: `command ${userName()}`, address: null, requestId: null };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}
