import { refusal } from '../../catalog/failures.ts';
import type { LogRow, Store } from '../store/store.ts';
import { type AuditEntry, auditRow } from './entries.ts';

/** Entries wait so long at most until they are written together: a write for each read would cost more than the read. */
const DELAY_MS = 250;

/** Entries of one write: nobody else is answered while they are written. */
const GROUP = 500;

/** So many that cannot be written mean that nobody could tell any more who has read what: reading ends there. */
const MOST_WAITING = 10_000;

/**
 * Reads on their way into the audit log. A read is answered before its entry is on disk: a process that is killed loses
 * the reads of its last quarter of a second, one that ends as it should loses none. Changes are not written here, but
 * with what they change.
 */
export class ReadTrail {
  private readonly store: Store;
  private waiting: LogRow[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;

  /** Told when entries could not be written; they are tried again. */
  onFault: (error: unknown) => void = () => {};

  constructor(store: Store) {
    this.store = store;
  }

  /** Throws a Refusal (503) while what was read cannot be written down. Call it before a read. */
  admit(): void {
    if (this.waiting.length < MOST_WAITING) return;
    throw refusal('server.unavailable', null, 'The audit log cannot be written, so nothing is read now.');
  }

  note(entry: AuditEntry): void {
    this.waiting.push(auditRow(entry));
    this.writeSoon();
  }

  /** Writes what waits; for the end of a process and for those who want to see it. Rejects when it cannot be written. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing ??= this.writeAll().finally(() => {
      this.writing = undefined;
    });
    return this.writing;
  }

  private writeSoon(): void {
    this.timer ??= setTimeout(() => {
      this.flush().catch((error: unknown) => {
        this.onFault(error);
        this.writeSoon();
      });
    }, DELAY_MS);
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const group = this.waiting.slice(0, GROUP);
      await this.store.appendLogs(group);
      this.waiting = this.waiting.slice(group.length);
    }
  }
}
