import sql, { empty, raw } from 'sql-template-tag';
import { refusal } from '../../catalog/failures.ts';
import { findOrganization, findOrganizationByKey } from '../organizations.ts';
import { ENTRY_COLUMNS } from '../store/auditlog.ts';
import type { IndexedEntry } from '../store/patientindex.ts';
import { type Reader, StoreUnusable } from '../store/store.ts';
import { readIdList } from './idlist.ts';

/** An entry as it is stored. Times are UTC; `ids` and `patients` are texts of `readIdList`, `filter_keys` are joined by commas. */
export interface AuditRow extends IndexedEntry {
  readonly at: string;
  readonly who: string;
  readonly address: string | null;
  readonly request_id: string | null;
  readonly record_count: number | null;
  readonly filter_keys: string | null;
  readonly via: string | null;
  readonly status: number | null;
  readonly client: string | null;
  readonly hash: string;
}

/** Which entries are read: times are UTC date-times, `from` included and `to` not; all when nothing is given. */
export interface AuditRange {
  /** Number of an entry: those behind it. */
  readonly after?: number;
  /** Key of one organization in the store. */
  readonly org?: number;
  readonly from?: string;
  readonly to?: string;
}

const PAGE_SIZE = 1000;

/** The columns of an `AuditRow`. */
export const AUDIT_COLUMNS = raw(['id', ...ENTRY_COLUMNS, 'hash'].join(', '));

/** Entries in the order of their numbers, page by page; rows that wait for their place or stand behind the end are none. */
export async function* auditPages(read: Reader, options: AuditRange = {}): AsyncGenerator<readonly AuditRow[]> {
  const { org, from, to } = options;
  const only = sql`${org === undefined ? empty : sql` AND org = ${org}`}${
    from === undefined ? empty : sql` AND at >= ${from}`
  }${to === undefined ? empty : sql` AND at < ${to}`}`;
  for (let after = options.after ?? 0; ; ) {
    const page = await read.all<AuditRow>(
      sql`SELECT ${AUDIT_COLUMNS} FROM audit_entries WHERE id > ${after} AND NOT (id < 0 AND hash = '')
        AND id <= (SELECT last_id FROM log_heads WHERE name = 'audit')${only} ORDER BY id LIMIT ${PAGE_SIZE}`,
    );
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < PAGE_SIZE) return;
    after = last.id;
  }
}

/** The key of an organization. Throws a Refusal (404) for an unknown one. */
export async function organizationKey(read: Reader, id: string): Promise<number> {
  const organization = await findOrganization(read, id);
  if (organization === undefined) throw refusal('record.not_found', '--for', `There is no organization ${id} here.`);
  return organization.org;
}

/** Entries as people and programs read them (contract §8), in the order of the pages. */
export async function* exportEntries(read: Reader, pages: AsyncIterable<readonly AuditRow[]>) {
  const names = new Map<number, string | null>();
  const nameOf = async (key: number) => {
    if (!names.has(key)) names.set(key, (await findOrganizationByKey(read, key))?.id ?? null);
    return names.get(key) ?? null;
  };
  for await (const page of pages) {
    for (const row of page) {
      const { id, at, org, who, address, request_id, operation, via, status, client, covers_all } = row;
      const { ids, patients, filterKeys } = readLists(row);
      yield {
        id,
        at,
        organization: org === null ? null : await nameOf(org),
        who: who === '' ? null : who,
        address,
        requestId: request_id,
        operation,
        ids,
        patients,
        count: row.record_count,
        filterKeys,
        hash: row.hash,
        ...(via !== null && { via }),
        ...(status !== null && { status }),
        ...(client !== null && { client }),
        ...(covers_all !== null && { all: true }),
      };
    }
  }
}

/** The lists of an entry. Throws `StoreUnusable` for what molar does not write. */
function readLists({ id, ids, patients, filter_keys }: AuditRow) {
  return readable(id, () => ({
    ids: readIdList(ids),
    patients: readIdList(patients),
    filterKeys: filter_keys?.split(',') ?? [],
  }));
}

/** Reads something of an entry. Throws `StoreUnusable` where it is not as molar writes it. */
export function readable<T>(id: number, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const next = 'Run molar server audit verify, keep the data as it is, and compare it with a backup.';
    throw new StoreUnusable(`Entry ${id} of the audit log cannot be read: it was changed, or damaged.`, next, cause);
  }
}
