import sql, { empty, raw } from 'sql-template-tag';
import { chainHash, LOGS, NO_HASH } from '../store/logs.ts';
import type { LogValues, Reader } from '../store/store.ts';

/** An entry as it is stored. Times are UTC; `ids` are joined by commas, and so are `filter_keys`. */
export interface AuditRow {
  readonly id: number;
  readonly org: number | null;
  readonly at: string;
  readonly who: string;
  readonly address: string | null;
  readonly request_id: string | null;
  readonly operation: string;
  readonly ids: string | null;
  readonly record_count: number | null;
  readonly filter_keys: string | null;
  readonly hash: string;
}

/** A place in the chain: the number of an entry and its hash. */
export interface Link {
  readonly id: number;
  readonly hash: string;
}

/** The setting that holds the last entry that retention has deleted. */
export const ANCHOR = 'audit_anchor';

const PAGE = 1000;

const COLUMNS = raw(['id', ...LOGS.audit.columns, 'hash'].join(', '));

/** Which entries are read: times are UTC date-times, `from` included and `to` not; all when nothing is given. */
export interface AuditRange {
  /** Number of an entry: those behind it. */
  readonly after?: number;
  /** Key of one organization in the store. */
  readonly org?: number;
  readonly from?: string;
  readonly to?: string;
}

/** Entries in the order of their numbers, page by page. */
export async function* auditPages(read: Reader, options: AuditRange = {}): AsyncGenerator<readonly AuditRow[]> {
  const { org, from, to } = options;
  const only = sql`${org === undefined ? empty : sql` AND org = ${org}`}${
    from === undefined ? empty : sql` AND at >= ${from}`
  }${to === undefined ? empty : sql` AND at < ${to}`}`;
  for (let after = options.after ?? 0; ; ) {
    const page = await read.all<AuditRow>(
      sql`SELECT ${COLUMNS} FROM audit_entries WHERE id > ${after}${only} ORDER BY id LIMIT ${PAGE}`,
    );
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.id ?? after;
  }
}

/** The hash that an entry must have after another. */
export function hashAfter(before: string, row: AuditRow): string {
  const values = LOGS.audit.columns.map((column) => row[column as keyof AuditRow]) as LogValues;
  return chainHash(before, row.id, values);
}

/** Where the kept part of the chain begins: behind the last entry that retention deleted, else before the first. */
export async function anchorOf(read: Reader): Promise<Link> {
  const row = await read.get<{ value: string }>(sql`SELECT value FROM settings WHERE name = ${ANCHOR}`);
  const [id = '0', hash = NO_HASH] = row?.value.split(':') ?? [];
  return { id: Number(id), hash };
}

/** The end of the chain as its head tells it. */
export async function headOf(read: Reader): Promise<Link> {
  const row = await read.get<{ last_id: number; hash: string }>(
    sql`SELECT last_id, hash FROM log_heads WHERE name = 'audit'`,
  );
  return { id: row?.last_id ?? 0, hash: row?.hash ?? NO_HASH };
}
