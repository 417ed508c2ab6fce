import { chainHash, ENTRY_COLUMNS } from '../store/auditlog.ts';
import type { LogValues } from '../store/store.ts';
import type { Checkpoint, Link } from './checkpoints.ts';
import type { AuditRow } from './export.ts';

/** A sign that the audit log was tampered with. */
export interface LogProblem {
  readonly code: LogProblemCode;
  /** What it is about; for several entries or checkpoints the first one. */
  readonly kind: 'entry' | 'checkpoint' | 'head';
  /** Its number; null for the head. */
  readonly id: number | null;
  /** Goes on from `entry 5`, such as `is missing`. */
  readonly problem: string;
}

/** What can be wrong with an audit log (contract §8). */
export type LogProblemCode =
  | 'audit.altered'
  | 'audit.missing'
  | 'audit.inserted'
  | 'audit.above-head'
  | 'audit.checkpoint'
  | 'audit.rolled-back'
  | 'audit.shortened';

/** A checkpoint as the walk needs it. */
type Mark = Pick<Checkpoint, 'number' | 'id' | 'hash'>;

/** Maximum reported problems; the rest is the same damage more often than not. */
export const MAX_PROBLEMS = 100;

/** The next checkpoint; undefined behind the last one. */
export type NextMark = () => Promise<Mark | undefined>;

/**
 * Walks along the entries, first to last, and compares their numbers and hashes with each other, with checkpoints in the
 * order of their numbers, and with an end that was noted earlier. Its memory does not depend on their number.
 */
export class ChainWalk {
  /** Entries so far. */
  entries = 0;
  /** Number of the first entry; null before it. */
  first: number | null = null;
  readonly problems: LogProblem[] = [];
  private row: AuditRow | undefined;
  private end: Link;
  /** How far numbers are raised by entries that were inserted. */
  private shift = 0;
  private mark: Mark | undefined;
  /** The last entry that a checkpoint vouches for. */
  private proven: number;
  private awaited: Link | undefined;

  /** `floor`: the entry before the first; `noted`: an end that must be among the entries, or the floor. */
  constructor(
    floor: Link,
    private readonly nextMark: NextMark,
    noted?: Link,
  ) {
    this.end = floor;
    this.proven = floor.id;
    this.awaited = noted;
    if (noted === undefined) return;
    if (noted.id < floor.id) {
      this.report(
        'audit.missing',
        noted.id,
        'was deleted by retention since it was recorded and can no longer be compared',
      );
      this.awaited = undefined;
    }
    this.compareNoted();
  }

  /** The next entry. What is to be said of it may wait for the one after it. */
  async next(row: AuditRow): Promise<void> {
    if (this.row !== undefined) await this.pass(this.row, row);
    this.row = row;
  }

  /** Passes the entry that still waits for another. */
  async finish(): Promise<void> {
    if (this.row !== undefined) await this.pass(this.row, undefined);
    this.row = undefined;
  }

  /** Compares the end with the head of the log, and says what is missing behind it. */
  async compareHead(head: Link): Promise<void> {
    await this.finish();
    const { end } = this;
    const last = Math.max(end.id, head.id - this.shift);
    if (end.id < last) this.missing(end.id + 1, last, ' at the end');
    else if (end.hash !== head.hash) {
      this.add({
        code: 'audit.altered',
        kind: 'head',
        id: null,
        problem: `does not record entry ${end.id} as the end`,
      });
    }
    let beyond: Mark | undefined;
    for (let mark = this.mark ?? (await this.nextMark()); mark !== undefined; mark = await this.nextMark()) {
      if (mark.id > (beyond?.id ?? last)) beyond = mark;
    }
    if (beyond !== undefined) this.missing(last + 1, beyond.id, ` at the end: checkpoint ${beyond.number} had them`);
    if (this.awaited === undefined) return;
    this.report('audit.missing', this.awaited.id, 'was recorded as the end and no longer exists');
  }

  private async pass(row: AuditRow, after: AuditRow | undefined): Promise<void> {
    this.entries++;
    this.first ??= row.id;
    const id = row.id - this.shift;
    const expected = this.end.id + 1;
    if (id < expected) {
      this.report('audit.inserted', row.id, 'stands where no entry can be');
      return;
    }
    if (id > expected) this.missing(expected, id - 1);
    else if (row.hash !== hashAfter(this.end.hash, id, row)) {
      if (after !== undefined && after.hash === hashAfter(this.end.hash, id, after)) {
        this.report('audit.inserted', row.id, 'was inserted: the one behind it follows the one before it');
        this.shift++;
        return;
      }
      this.report('audit.altered', row.id, 'was changed after it was written, or the entry before it was');
    }
    this.end = { id, hash: row.hash };
    await this.compareMarks();
    this.compareNoted();
  }

  private async compareMarks(): Promise<void> {
    const { id, hash } = this.end;
    for (let mark = await this.markAt(id); mark !== undefined; mark = await this.markAt(id)) {
      this.mark = undefined;
      if (mark.hash === hash) {
        this.proven = id;
        continue;
      }
      const first = this.proven + 1;
      // Already reported: by the entries themselves, or by an earlier checkpoint.
      if (this.problems.some((known) => (known.id ?? 0) >= first)) continue;
      const which = first === id ? 'was changed' : `or one after it, up to ${id}, was changed`;
      this.report('audit.altered', first, `${which}, and hashes were made anew: checkpoint ${mark.number} has another`);
    }
  }

  /** The next checkpoint about this entry; those about entries before it are passed. */
  private async markAt(id: number): Promise<Mark | undefined> {
    while (this.mark === undefined || this.mark.id < id) {
      this.mark = await this.nextMark();
      if (this.mark === undefined) return undefined;
    }
    return this.mark.id === id ? this.mark : undefined;
  }

  private compareNoted(): void {
    const { awaited, end } = this;
    if (awaited?.id !== end.id) return;
    if (awaited.hash !== end.hash)
      this.report('audit.altered', end.id, 'is not the entry that was recorded as the end');
    this.awaited = undefined;
  }

  private missing(first: number, last: number, where = ''): void {
    this.report('audit.missing', first, first === last ? `is missing${where}` : `to ${last} are missing${where}`);
  }

  private report(code: LogProblemCode, id: number, problem: string): void {
    this.add({ code, kind: 'entry', id, problem });
  }

  private add(problem: LogProblem): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problem);
  }
}

/** The hash that an entry must have after another. */
function hashAfter(before: string, id: number, row: AuditRow): string {
  const values = ENTRY_COLUMNS.map((column) => row[column as keyof AuditRow]) as LogValues;
  return chainHash(before, id, values);
}
