import sql from 'sql-template-tag';
import { chainHash, LOGS, NO_HASH } from '../store/logs.ts';
import type { LogValues, Reader } from '../store/store.ts';
import { type AuditRow, auditPages } from './export.ts';

/** A link of the chain: the number of an entry and its hash. */
export interface Link {
  readonly id: number;
  readonly hash: string;
}

/** A sign that the audit log was tampered with. */
export interface ChainProblem {
  /** Number of the entry, of the first one for several. */
  readonly id: number;
  readonly problem: string;
}

/** The outcome of a verification. */
export interface ChainReport {
  readonly entries: number;
  /** Numbers of the first and the last entry; null when there are none. */
  readonly first: number | null;
  readonly last: number | null;
  /** `ID:HASH` of the end: stored elsewhere it proves later that nothing up to here was changed. */
  readonly head: string;
  readonly problems: readonly ChainProblem[];
}

/** Maximum reported problems; the rest is the same damage more often than not. */
const MAX_PROBLEMS = 100;

/** The setting that holds the last entry that retention has deleted. */
export const ANCHOR = 'audit_anchor';

/**
 * Verifies the hashes and numbers of the complete audit log, and its end against the head. `expected`: an end that was
 * recorded earlier and must still be part of the log. Memory does not depend on the length.
 */
export async function verifyChain(read: Reader, expected?: Link): Promise<ChainReport> {
  for (;;) {
    const anchor = await anchorOf(read);
    const report = await walkChain(read, anchor, expected);
    // What retention deleted meanwhile is no damage.
    if (report.problems.length === 0 || (await anchorOf(read)).id === anchor.id) return report;
  }
}

async function walkChain(read: Reader, anchor: Link, expected: Link | undefined): Promise<ChainReport> {
  // Read before the entries, so that those written meanwhile are ignored.
  const head = await headOf(read);
  const problems: ChainProblem[] = [];
  const report = (id: number, problem: string) => void problems.push({ id, problem });
  let end = anchor;
  let entries = 0;
  let first: number | null = null;
  let awaited = expected;
  const compare = () => {
    if (awaited?.id !== end.id) return;
    if (awaited.hash !== end.hash) report(end.id, 'is not the entry that was recorded as the end');
    awaited = undefined;
  };
  if (awaited !== undefined && awaited.id < anchor.id) {
    report(awaited.id, 'was deleted by retention since it was recorded and can no longer be compared');
    awaited = undefined;
  }
  compare();
  for await (const page of auditPages(read, { after: anchor.id })) {
    for (const row of page) {
      if (row.id > head.id) continue;
      entries++;
      first ??= row.id;
      const next = end.id + 1;
      if (row.id > next) report(next, row.id - next === 1 ? 'is missing' : `to ${row.id - 1} are missing`);
      else if (row.hash !== hashAfter(end.hash, row)) {
        report(row.id, 'was changed after it was written, or the entry before it was');
      }
      end = row;
      compare();
    }
  }
  if (end.id < head.id) {
    const next = end.id + 1;
    report(next, next === head.id ? 'is missing at the end' : `to ${head.id} are missing at the end`);
  } else if (end.hash !== head.hash) {
    report(end.id, 'is not the end that the head of the log records');
  }
  if (awaited !== undefined) report(awaited.id, 'was recorded as the end and no longer exists');
  return {
    entries,
    first,
    last: entries === 0 ? null : end.id,
    head: `${head.id}:${head.hash}`,
    problems: problems.slice(0, MAX_PROBLEMS),
  };
}

/** The hash that an entry must have after another. */
function hashAfter(before: string, row: AuditRow): string {
  const values = LOGS.audit.columns.map((column) => row[column as keyof AuditRow]) as LogValues;
  return chainHash(before, row.id, values);
}

/** Where the stored part of the chain begins: behind the last entry that retention deleted, else before the first. */
async function anchorOf(read: Reader): Promise<Link> {
  const row = await read.get<{ value: string }>(sql`SELECT value FROM settings WHERE name = ${ANCHOR}`);
  const [id = '0', hash = NO_HASH] = row?.value.split(':') ?? [];
  return { id: Number(id), hash };
}

/** The end of the chain as its head records it. */
async function headOf(read: Reader): Promise<Link> {
  const row = await read.get<{ last_id: number; hash: string }>(
    sql`SELECT last_id, hash FROM log_heads WHERE name = 'audit'`,
  );
  return { id: row?.last_id ?? 0, hash: row?.hash ?? NO_HASH };
}
