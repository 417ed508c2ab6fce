import sql, { type Sql } from 'sql-template-tag';
import type { Reach } from './store/reach.ts';
import type { Reader } from './store/store.ts';

/** An organization: `org` is its key in the store, `id` its name on the wire. */
export interface Organization extends Reach {
  readonly id: string;
  readonly timezone: string;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly createdDate: string;
}

/** The organization by its id on the wire. */
export function findOrganization(read: Reader, id: string): Promise<Organization | undefined> {
  return find(read, sql`id = ${id}`);
}

/** The organization by its key in the store. */
export function findOrganizationByKey(read: Reader, org: number): Promise<Organization | undefined> {
  return find(read, sql`org = ${org}`);
}

async function find(read: Reader, condition: Sql): Promise<Organization | undefined> {
  const row = await read.get<Omit<Organization, 'createdDate'> & { created_date: string }>(
    sql`SELECT org, id, timezone, created_date FROM organizations WHERE ${condition}`,
  );
  return row && { org: row.org, id: row.id, timezone: row.timezone, createdDate: row.created_date };
}

/** The organization as a caller has it who may see these locations alone; null: all of it. */
export function boundTo(organization: Organization, locations: readonly number[] | null): Organization {
  return locations === null ? organization : { ...organization, locations };
}
