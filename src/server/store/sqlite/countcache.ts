import type { Connection } from '../../../sqlite/open.ts';

/** Maximum age of cached counts: another process may commit in the very moment after a commit of ours. */
const MAX_AGE_MS = 5000;

/** Maximum cached texts; filters make texts without end. */
const MAX_PARSED_TEXTS = 500;

const WRITTEN = /\b(?:INTO|UPDATE|DELETE FROM)\s+"?(\w+)/gi;

const tablesOf = new Map<string, readonly string[]>();

/** The tables that a statement writes to, at least, by its text. */
export function writtenTables(sql: string): readonly string[] {
  const known = tablesOf.get(sql);
  if (known !== undefined) return known;
  const tables = [...sql.matchAll(WRITTEN)].map(([, table]) => String(table).toLowerCase());
  if (tablesOf.size >= MAX_PARSED_TEXTS) tablesOf.clear();
  tablesOf.set(sql, tables);
  return tables;
}

/**
 * Caches counts of one table until that table is written (`Store.countCache`). The writers of this process report what they
 * write. Commits of other processes are noticed by the version of the data, which is read whenever a writer has taken the
 * lock and when it has committed.
 */
export class TableCountCache {
  private readonly cached = new Map<string, { readonly numbers: Map<string, number>; readonly since: number }>();
  private readonly version: () => unknown;
  private lastVersion: unknown;

  /** `reading`: a connection that writes nothing. */
  constructor(reading: Connection) {
    const version = reading.prepare('PRAGMA data_version').pluck();
    this.version = () => version.get();
    this.lastVersion = this.version();
  }

  /** The cached counts of a table. */
  of(table: string): Map<string, number> {
    this.refresh();
    const known = this.cached.get(table);
    if (known !== undefined && performance.now() - known.since < MAX_AGE_MS) return known.numbers;
    const numbers = new Map<string, number>();
    this.cached.set(table, { numbers, since: performance.now() });
    return numbers;
  }

  /** A writer has taken the lock. */
  begun(): void {
    this.refresh();
  }

  /** It has committed writes to these tables. */
  committed(tables: ReadonlySet<string>): void {
    for (const table of tables) this.cached.delete(table);
    this.lastVersion = this.version();
  }

  /** Clears the cache when another process has committed. */
  private refresh(): void {
    const version = this.version();
    if (version !== this.lastVersion) this.cached.clear();
    this.lastVersion = version;
  }
}
