import sql from 'sql-template-tag';
import type { Reader } from '../../store/store.ts';
import type { CheckContext } from './context.ts';
import type { Book } from './findings.ts';
import { orgsOf } from './pages.ts';

/** The names on the wire of the organizations that the store knows. */
export async function organizationNames(read: Reader): Promise<ReadonlyMap<number, string>> {
  const rows = await read.all<{ org: number; id: string }>(sql`SELECT org, id FROM organizations`);
  return new Map(rows.map(({ org, id }) => [org, id]));
}

/** Rows of organizations that there are none of. */
export async function checkOrganizations(context: CheckContext, book: Book, tables: readonly string[]): Promise<void> {
  const findings = book.of('links');
  for (const table of tables) {
    for (const org of await orgsOf(context.read, table)) {
      if (context.organization(org) !== null) continue;
      findings.report({
        table,
        organization: null,
        id: null,
        message: `rows of organization key ${org}, which does not exist`,
      });
    }
  }
}
