import { nowOf } from '../clock.ts';
import type { Service } from '../service.ts';
import { commandActor } from './commandactor.ts';
import { type AuditEntry, auditRow } from './entries.ts';

/** The entry of a command on the server's own data; it is on disk when this resolves, and nothing may be printed before. */
export function auditCommand(
  service: Pick<Service, 'store' | 'clock'>,
  entry: Pick<AuditEntry, 'org' | 'operation' | 'ids' | 'all' | 'count'>,
): Promise<void> {
  return service.store.appendLogs([auditRow({ ...entry, at: nowOf(service), actor: commandActor() })]);
}
