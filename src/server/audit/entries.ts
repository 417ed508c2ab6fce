import type { LogRow, Transaction } from '../store/store.ts';

/** Who does what is asked: goes into the audit log as it is. */
export interface Actor {
  /** `token ID`, `link` for a signed download link, `command` for the command line on the server's own machine. */
  readonly who: string;
  /** Where the request came from; null for the command line. */
  readonly address: string | null;
  /** The request's `X-Request-ID` (D5). */
  readonly requestId: string | null;
}

/** One thing that was done with patient data: who, when and which, never what it says. */
export interface AuditEntry {
  /** Key of the organization in the store; null for what concerns no single one. */
  readonly org: number | null;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly at: string;
  readonly actor: Actor;
  /** As the catalog names it, `patients.list`; a change of one record is `create`, `update` or `delete` of its resource. */
  readonly operation: string;
  /** The records, where they are known one by one. */
  readonly ids?: readonly (string | number)[] | undefined;
  /** How many records. */
  readonly count?: number | undefined;
  /** Keys of the filter: names, never values. */
  readonly filterKeys?: readonly string[];
}

/** Writes an entry in the transaction of what it tells, so that neither is there without the other. */
export function appendAudit(tx: Transaction, entry: AuditEntry): Promise<void> {
  return tx.append(auditRow(entry));
}

export function auditRow(entry: AuditEntry): LogRow {
  const { org, at, actor, operation, ids, count, filterKeys } = entry;
  const { who, address, requestId } = actor;
  const keys = filterKeys === undefined || filterKeys.length === 0 ? null : [...new Set(filterKeys)].join(',');
  const records = ids?.join(',') ?? null;
  return {
    log: 'audit',
    values: [org, at, who, address, requestId, operation, records, count ?? ids?.length ?? null, keys],
  };
}
