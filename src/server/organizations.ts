import sql from 'sql-template-tag';
import type { Reader } from './store/store.ts';

/** An organization: `org` is its key in the store, `id` its name on the wire. */
export interface Organization {
  readonly org: number;
  readonly id: string;
  readonly timezone: string;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly createdDate: string;
}

interface OrganizationRow {
  readonly org: number;
  readonly id: string;
  readonly timezone: string;
  readonly created_date: string;
}

const COLUMNS = sql`org, id, timezone, created_date`;

export async function findOrganization(read: Reader, id: string): Promise<Organization | undefined> {
  return toOrganization(await read.get<OrganizationRow>(sql`SELECT ${COLUMNS} FROM organizations WHERE id = ${id}`));
}

/** The organization by its key in the store. */
export async function findOrganizationByKey(read: Reader, org: number): Promise<Organization | undefined> {
  return toOrganization(await read.get<OrganizationRow>(sql`SELECT ${COLUMNS} FROM organizations WHERE org = ${org}`));
}

/** The ids of all organizations. */
export async function organizationIds(read: Reader): Promise<readonly string[]> {
  const rows = await read.all<{ id: string }>(sql`SELECT id FROM organizations ORDER BY id`);
  return rows.map(({ id }) => id);
}

function toOrganization(row: OrganizationRow | undefined): Organization | undefined {
  return row && { org: row.org, id: row.id, timezone: row.timezone, createdDate: row.created_date };
}
