import { refusal } from '../../catalog/failures.ts';
import { findOrganization, findOrganizationByKey } from '../organizations.ts';
import type { Reader } from '../store/store.ts';
import { type AuditRange, type AuditRow, auditPages } from './reading.ts';

/** An entry as people and programs read it. */
export interface AuditRecord {
  readonly id: number;
  readonly at: string;
  readonly organization: string | null;
  readonly who: string;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly operation: string;
  readonly ids: readonly string[];
  readonly count: number | null;
  readonly filterKeys: readonly string[];
  readonly hash: string;
}

/** The key of an organization. Throws a Refusal (404) when there is none of the name. */
export async function organizationKey(read: Reader, id: string): Promise<number> {
  const organization = await findOrganization(read, id);
  if (organization === undefined) throw refusal('record.not_found', '--for', `There is no organization ${id} here.`);
  return organization.org;
}

/** Entries in the order of commits. */
export async function* exportEntries(read: Reader, range: AuditRange): AsyncGenerator<AuditRecord> {
  const names = new Map<number, string | null>();
  const nameOf = async (key: number) => {
    if (!names.has(key)) names.set(key, (await findOrganizationByKey(read, key))?.id ?? null);
    return names.get(key) ?? null;
  };
  for await (const page of auditPages(read, range)) {
    for (const row of page) yield recordOf(row, row.org === null ? null : await nameOf(row.org));
  }
}

function recordOf(row: AuditRow, organization: string | null): AuditRecord {
  const { id, at, who, address, operation, hash } = row;
  return {
    id,
    at,
    organization,
    who,
    address,
    requestId: row.request_id,
    operation,
    ids: listOf(row.ids),
    count: row.record_count,
    filterKeys: listOf(row.filter_keys),
    hash,
  };
}

function listOf(text: string | null): readonly string[] {
  return text === null ? [] : text.split(',');
}
