import { type FailureCode, refusal } from '../../catalog/failures.ts';
import type { LogRow, Store } from '../store/store.ts';
import { type AuditEntry, auditRow } from './entries.ts';

/**
 * When the entry of a read is on disk: `strict`, before the first byte of the answer; `buffered`, at most 250 ms after it
 * (contract §8).
 */
export type AuditMode = 'strict' | 'buffered';

/** Delay until noted entries are written together; what is left of 250 ms is for writing them. */
const DELAY_MS = 150;

/** Entries per write: nobody else is served while they are written. */
const BATCH = 500;

/** Maximum noted entries: while so many wait to be written, nobody could tell who has read what. */
const MAX_NOTED = 10_000;

const UNAVAILABLE: FailureCode = 'audit.unavailable';

/**
 * The way of reads into the audit log (D54). From the first write that fails until one succeeds nothing is read; changes
 * have their entries in their own transactions (`appendAudit`).
 */
export class ReadTrail {
  private noted: LogRow[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private failing = false;

  /** Called when an entry could not be written. */
  onFault: (error: unknown, requestId?: string) => void = () => {};

  constructor(
    private readonly store: Store,
    readonly mode: AuditMode = 'strict',
  ) {}

  /** Whether entries can be written, as far as is known. */
  get isWritable(): boolean {
    return !this.failing;
  }

  /** Whether what has happened can be noted, to be written now or when that is possible again. */
  get takesNotes(): boolean {
    return this.noted.length < MAX_NOTED;
  }

  /** Throws a Refusal (503) while entries cannot be written. Call it before a read. */
  admit(): void {
    if (this.failing || !this.takesNotes) throw unavailable();
  }

  /**
   * The entry of an answer that is about to be sent; await it before the first byte. Rejects with a Refusal (503) when the
   * entry cannot be written, and the answer must not be sent then.
   */
  disclose(entry: AuditEntry): Promise<void> | undefined {
    this.admit();
    const row = auditRow(entry);
    if (this.mode === 'strict') return this.commit([row], entry.at, entry.actor.requestId);
    this.keep(row);
    return undefined;
  }

  /** The entries of answers that another process of this server is about to send; as `disclose` in strict mode. */
  record(rows: readonly LogRow[], at: string): Promise<void> {
    this.admit();
    return this.commit(rows, at, null);
  }

  /** The entry of what has happened already: it is written soon, and tried again until it is. */
  note(entry: AuditEntry): void {
    this.keep(auditRow(entry));
  }

  /** Writes noted entries, at the end of a process or to read them. Rejects when they cannot be written. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing ??= this.writeAll().finally(() => {
      this.writing = undefined;
    });
    return this.writing;
  }

  /** Entries of one turn of the event loop share a commit: the store sees to that. */
  private async commit(rows: readonly LogRow[], at: string, requestId: string | null): Promise<void> {
    try {
      await this.store.appendLogs(rows);
    } catch (error) {
      this.onFault(error, requestId ?? undefined);
      // The answer is not sent, so its entry would not be true. This one is: and whether it can be written shows when
      // reading may go on.
      if (!this.failing) this.noted.push(auditRow({ org: null, at, actor: SERVER, operation: UNAVAILABLE }));
      this.failing = true;
      this.schedule();
      throw unavailable();
    }
  }

  private keep(row: LogRow): void {
    this.noted.push(row);
    this.schedule();
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
    while (this.noted.length > 0) {
      const batch = this.noted.slice(0, BATCH);
      try {
        await this.store.appendLogs(batch);
      } catch (error) {
        this.failing = true;
        throw error;
      }
      this.noted = this.noted.slice(batch.length);
    }
    this.failing = false;
  }
}

const SERVER = { who: 'server', address: null, requestId: null };

function unavailable() {
  return refusal(UNAVAILABLE, null, 'The audit log cannot be written, so nothing is read. Try again in a moment.');
}
