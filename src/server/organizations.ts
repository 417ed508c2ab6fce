import sql from 'sql-template-tag';
import type { Organization } from './service.ts';
import type { Reader } from './store/store.ts';

interface OrganizationRow {
  readonly org: number;
  readonly id: string;
  readonly timezone: string;
  readonly created_date: string;
}

export async function findOrganization(read: Reader, id: string): Promise<Organization | undefined> {
  const row = await read.get<OrganizationRow>(sql`SELECT org, id, timezone, created_date FROM organizations WHERE id = ${id}`);
  return row && { org: row.org, id: row.id, timezone: row.timezone, createdDate: row.created_date };
}
