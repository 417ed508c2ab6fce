import type { Reader } from '../store/store.ts';
import { anchorOf, auditPages, hashAfter, headOf, type Link } from './reading.ts';

/** Something that was done to the audit log behind its back. */
export interface ChainProblem {
  /** Number of the entry, of the first one for several. */
  readonly id: number;
  readonly problem: string;
}

export interface ChainReport {
  readonly entries: number;
  /** Numbers of the first and the last entry; null when there are none. */
  readonly first: number | null;
  readonly last: number | null;
  /** `ID:HASH` of the end: kept elsewhere it proves later that nothing up to here was changed. */
  readonly head: string;
  readonly problems: readonly ChainProblem[];
}

/** Problems that are told one by one; what is behind them is the same damage more often than not. */
const MOST_PROBLEMS = 100;

/**
 * Goes through the whole audit log: each entry must carry the hash over itself and the entry before it, numbers must
 * have no gaps, and the end must be the one that the head tells. `expected`: an end that was noted earlier and must
 * still be part of it. Memory does not depend on the length.
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
  // Before the entries, so that those written meanwhile do no harm.
  const head = await headOf(read);
  const walk = new Walk(anchor);
  if (expected !== undefined) walk.expect(expected);
  for await (const page of auditPages(read, { after: anchor.id })) {
    for (const row of page) if (row.id <= head.id) walk.step(row.id, row.hash, hashAfter(walk.before.hash, row));
  }
  walk.end(head);
  const { entries, first, before, problems } = walk;
  return {
    entries,
    first,
    last: entries === 0 ? null : before.id,
    head: `${head.id}:${head.hash}`,
    problems: problems.slice(0, MOST_PROBLEMS),
  };
}

class Walk {
  entries = 0;
  first: number | null = null;
  before: Link;
  readonly problems: ChainProblem[] = [];
  private expected: Link | undefined;

  constructor(anchor: Link) {
    this.before = anchor;
  }

  expect(expected: Link): void {
    this.expected = expected;
    if (expected.id < this.before.id) {
      this.add(expected.id, 'was deleted by retention since it was noted; it cannot be compared any more');
      this.expected = undefined;
    } else {
      this.compare(this.before);
    }
  }

  step(id: number, hash: string, right: string): void {
    this.entries++;
    this.first ??= id;
    const next = this.before.id + 1;
    if (id > next) {
      const missing = id - next === 1 ? 'is missing' : `to ${id - 1} are missing`;
      this.add(next, missing);
    } else if (hash !== right) {
      this.add(id, 'was changed after it was written, or the entry before it was');
    }
    this.before = { id, hash };
    this.compare(this.before);
  }

  end(head: Link): void {
    const { id, hash } = this.before;
    if (id < head.id) {
      const from = id + 1;
      this.add(from, from === head.id ? 'is missing at the end' : `to ${head.id} are missing at the end`);
    } else if (hash !== head.hash) {
      this.add(id, 'is not the end that the head of the log tells');
    }
    if (this.expected !== undefined) this.add(this.expected.id, 'was noted as an end, and is not there any more');
  }

  private compare(link: Link): void {
    if (this.expected?.id !== link.id) return;
    if (this.expected.hash !== link.hash) this.add(link.id, 'is not the entry that was noted as an end');
    this.expected = undefined;
  }

  private add(id: number, problem: string): void {
    this.problems.push({ id, problem });
  }
}
