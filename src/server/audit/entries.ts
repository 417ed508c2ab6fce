import { refusal } from '../../catalog/failures.ts';
import type { LogRow, Store, Transaction } from '../store/store.ts';

/** Who requests something, as the audit log records it. */
export interface Actor {
  /** `token ID`, `client CLIENTID`, `person SUBJECT`, `certificate NAME`, `command USER` for the command line, `import`. */
  readonly who: string;
  /** Where the request came from; null for the command line. */
  readonly address: string | null;
  /** The request's `X-Request-ID` (D5). */
  readonly requestId: string | null;
}

/** One access to patient data: who, when and which records, never what they say. */
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
  /** Whose data it was. */
  readonly patients?: readonly number[];
  /** `link`: through a signed download link. */
  readonly via?: string;
  /** HTTP status of a refusal, and the client that it named. */
  readonly status?: number;
  readonly client?: string;
  /** It held everything of the organization, or of every organization. */
  readonly all?: boolean;
}

/** Writes an entry in the transaction of what it records, so that neither exists without the other. */
export function appendAudit(tx: Transaction, entry: AuditEntry): Promise<void> {
  return tx.append(auditRow(entry));
}

function auditRow(entry: AuditEntry): LogRow {
  const { org, at, actor, operation, ids, count, filterKeys, patients, via, status, client, all } = entry;
  const { who, address, requestId } = actor;
  const keys = filterKeys === undefined || filterKeys.length === 0 ? null : [...new Set(filterKeys)].join(',');
  const records = ids?.join(',') ?? null;
  return {
    log: 'audit',
    values: [
      ...[org, at, who, address, requestId, operation, records, count ?? ids?.length ?? null, keys],
      ...[patients?.join(',') ?? null, via ?? null, status ?? null, client ?? null, all ? 1 : null],
    ],
  };
}

/** Maximum delay until buffered entries are written together: a write for each read would cost more than the read. */
const DELAY_MS = 250;

/** Entries per write: nobody else is served while they are written. */
const BATCH = 500;

/** Maximum buffered entries. When so many cannot be written, nobody could tell who has read what: reads are refused. */
const MAX_BUFFERED = 10_000;

/**
 * Buffers the entries of reads. A read is answered before its entry is on disk: a process that is killed loses the
 * entries of its last quarter of a second, one that shuts down loses none. Changes are written by `appendAudit` instead.
 */
export class ReadTrail {
  private buffered: LogRow[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;

  /** Called when entries could not be written; they are tried again. */
  onFault: (error: unknown) => void = () => {};

  constructor(private readonly store: Store) {}

  /** Throws a Refusal (503) while the buffer is full. Call it before a read. */
  admit(): void {
    if (this.buffered.length < MAX_BUFFERED) return;
    throw refusal('server.unavailable', null, 'The audit log cannot be written, so reads are refused.');
  }

  /** Buffers the entry of a read. */
  note(entry: AuditEntry): void {
    this.buffered.push(auditRow(entry));
    this.schedule();
  }

  /** Writes buffered entries, at the end of a process or to read them. Rejects when they cannot be written. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing ??= this.writeAll().finally(() => {
      this.writing = undefined;
    });
    return this.writing;
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => {
      this.flush().catch((error: unknown) => {
        this.onFault(error);
        this.schedule();
      });
    }, DELAY_MS);
  }

  private async writeAll(): Promise<void> {
    while (this.buffered.length > 0) {
      const batch = this.buffered.slice(0, BATCH);
      await this.store.appendLogs(batch);
      this.buffered = this.buffered.slice(batch.length);
    }
  }
}
