import sql from 'sql-template-tag';
import { bucketsOf, type IndexedEntry } from '../store/patientindex.ts';
import { bound, manyRows } from '../store/statement.ts';
import type { Reader } from '../store/store.ts';
import { type LogProblem, MAX_PROBLEMS } from './chain.ts';

/** Rows that are looked for, or read, at once. */
const ROWS = 2000;

/** Which of the rows are not there. A subquery for each looks into the key: a join may read the whole table. */
const MISSING = manyRows(
  'WITH expected (bucket, org, entry) AS (',
  3,
  ROWS,
  `) SELECT DISTINCT CAST(entry AS BIGINT) AS entry FROM expected x WHERE (SELECT 1 FROM audit_patients a
    WHERE a.bucket = CAST(x.bucket AS BIGINT) AND a.org = CAST(x.org AS BIGINT) AND a.entry = CAST(x.entry AS BIGINT)) IS NULL`,
);

/** Of rows whose numbers are beyond those of any entry. */
const STRANGE: LogProblem = {
  ...{ code: 'audit.altered', kind: 'head', id: null },
  problem: 'does not agree with the index of patients: audit_patients has rows that no entry has',
};

/** A row of the index, and the entry that it leads to; `id` is null where there is none. */
interface HeldRow extends Omit<IndexedEntry, 'id'> {
  readonly bucket: number;
  readonly held: number;
  readonly entry: number;
  readonly id: number | null;
}

/**
 * Compares the index of patients with the entries that it is made from: row by row what must be there, by their number
 * what must not. Its memory does not depend on their number.
 */
export class IndexCheck {
  private readonly problems = new Map<number, string>();
  private waiting: number[] = [];
  private expected = 0;

  constructor(private readonly read: Reader) {}

  /** The next entry. */
  async next(entry: IndexedEntry): Promise<void> {
    const buckets = readBuckets(entry);
    if (buckets === undefined) return this.report(entry.id, 'has lists that cannot be read');
    this.expected += buckets.size;
    for (const bucket of buckets) {
      if (this.waiting.push(bucket, entry.org ?? 0, entry.id) === ROWS * 3) await this.look();
    }
  }

  /** What is wrong with the index of the entries up to `last`; rows of those that were written meanwhile are not looked at. */
  async finish(last: number): Promise<readonly LogProblem[]> {
    const [bucket, org, entry] = this.waiting.slice(-3);
    // The one text has so many rows: the last one is looked for several times.
    while (this.waiting.length > 0 && this.waiting.length < ROWS * 3) {
      this.waiting.push(bucket as number, org as number, entry as number);
    }
    if (this.waiting.length > 0) await this.look();
    if (this.problems.size === 0 && (await this.held(last)) === this.expected) return [];
    await this.findForeign(last);
    if (this.problems.size === 0) return [STRANGE];
    return [...this.problems].map(([id, problem]) => ({ code: 'audit.altered', kind: 'entry', id, problem }));
  }

  private async look(): Promise<void> {
    const values = this.waiting;
    this.waiting = [];
    for (const { entry } of await this.read.all<{ entry: number }>(bound(MISSING, values))) {
      this.report(
        entry,
        'is missing in the index of patients (audit_patients), so that audit patient does not find it',
      );
    }
  }

  private async held(last: number): Promise<number> {
    const row = await this.read.get<{ found: number }>(
      sql`SELECT COUNT(*) AS found FROM audit_patients a WHERE ${within(last)}`,
    );
    return row?.found ?? 0;
  }

  /** Rows that follow from no entry. */
  private async findForeign(last: number): Promise<void> {
    let [bucket, org, entry] = [Number.MIN_SAFE_INTEGER, 0, 0];
    while (this.problems.size < MAX_PROBLEMS) {
      const page = await this.read.all<HeldRow>(sql`
        SELECT a.bucket, a.org AS held, a.entry, e.id, e.org, e.operation, e.ids, e.patients, e.covers_all
        FROM audit_patients a LEFT JOIN audit_entries e ON e.id = a.entry AND e.id <= ${last}
        WHERE ${within(last)} AND a.bucket <= ${Number.MAX_SAFE_INTEGER} AND (a.bucket, a.org, a.entry) > (${bucket}, ${org}, ${entry})
        ORDER BY a.bucket, a.org, a.entry LIMIT ${ROWS}`);
      for (const row of page) {
        if (row.id === null) this.report(row.entry, 'is in the index of patients (audit_patients), and does not exist');
        else if (row.held !== (row.org ?? 0) || readBuckets(row)?.has(row.bucket) === false) {
          this.report(
            row.entry,
            'is in the index of patients (audit_patients) under patients of whom it does not tell',
          );
        }
      }
      const end = page.at(-1);
      if (page.length < ROWS || end === undefined) return;
      ({ bucket, held: org, entry } = end);
    }
  }

  private report(id: number, problem: string): void {
    if (this.problems.size < MAX_PROBLEMS && !this.problems.has(id)) this.problems.set(id, problem);
  }
}

/** Rows of entries up to `last`, and of those that the log does not have yet. */
function within(last: number) {
  return sql`(a.entry <= ${last} OR a.entry > (SELECT last_id FROM log_heads WHERE name = 'audit'))`;
}

function readBuckets(entry: Omit<IndexedEntry, 'id'>): ReadonlySet<number> | undefined {
  try {
    return bucketsOf(entry);
  } catch {
    return undefined;
  }
}
