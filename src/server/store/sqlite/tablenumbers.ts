import type { Connection } from './open.ts';

/** Another process may commit in the very moment after a commit of ours: numbers are kept no longer than this. */
const LONGEST_MS = 5000;

/** Texts of statements whose tables are known; filters make texts without end. */
const MOST_TEXTS = 500;

const WRITTEN = /\b(?:INTO|UPDATE|DELETE FROM)\s+"?(\w+)/gi;

const tablesOf = new Map<string, readonly string[]>();

/** The tables that a statement writes to, at least, by its text. */
export function writtenTables(sql: string): readonly string[] {
  const known = tablesOf.get(sql);
  if (known !== undefined) return known;
  const tables = [...sql.matchAll(WRITTEN)].map(([, table]) => String(table).toLowerCase());
  if (tablesOf.size >= MOST_TEXTS) tablesOf.clear();
  tablesOf.set(sql, tables);
  return tables;
}

/**
 * Numbers worked out of what is committed in one table, until that table is written (`Store.whileUnchanged`). The writers
 * of this process tell what they write. That somebody else has committed is seen by the version of the data, which is
 * looked at whenever a writer has the lock and when it has committed.
 */
export class TableNumbers {
  private readonly kept = new Map<string, { readonly numbers: Map<string, number>; readonly since: number }>();
  private readonly version: () => unknown;
  private seen: unknown;

  /** `reading`: a connection that writes nothing. */
  constructor(reading: Connection) {
    const version = reading.prepare('PRAGMA data_version').pluck();
    this.version = () => version.get();
    this.seen = this.version();
  }

  /** The numbers of a table. */
  of(table: string): Map<string, number> {
    this.look();
    const known = this.kept.get(table);
    if (known !== undefined && performance.now() - known.since < LONGEST_MS) return known.numbers;
    const numbers = new Map<string, number>();
    this.kept.set(table, { numbers, since: performance.now() });
    return numbers;
  }

  /** A writer has the lock. */
  begun(): void {
    this.look();
  }

  /** It has written to these tables. */
  committed(tables: ReadonlySet<string>): void {
    for (const table of tables) this.kept.delete(table);
    this.seen = this.version();
  }

  /** Forgets everything when another process has committed. */
  private look(): void {
    const version = this.version();
    if (version !== this.seen) this.kept.clear();
    this.seen = version;
  }
}
