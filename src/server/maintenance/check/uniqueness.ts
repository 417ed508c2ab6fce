import sql, { raw } from 'sql-template-tag';
import { STORED_RESOURCES } from '../../../catalog/catalog.ts';
import { layoutOf } from '../../store/layout.ts';
import { duplicates } from '../../store/schema/faults.ts';
import type { CheckContext } from './context.ts';
import type { Book } from './findings.ts';

/** What may stand once: the rules that unique indexes guard, and one that follows from how files are named. */
const RULES: readonly { readonly table: string; readonly columns: readonly string[]; readonly message: string }[] = [
  ...STORED_RESOURCES.flatMap((resource) => layoutOf(resource).indexes).flatMap(({ table, columns, unique }) =>
    unique === undefined ? [] : [{ table, columns, message: unique }],
  ),
  { table: 'documents', columns: ['guid'], message: 'has the file of another document' },
];

/** Of each rule so many are listed, of those with the same the one with the highest id. */
const LISTED = 1000;

/** Looks at the rows themselves, since an index that is to guard a rule may be the damage. */
export async function checkUniqueness(context: CheckContext, book: Book): Promise<void> {
  const findings = book.of('uniqueness');
  for (const { table, columns, message } of RULES) {
    const counted = await context.read.get<{ rows: number }>(sql`SELECT COUNT(*) AS rows FROM ${raw(table)}`);
    findings.looked(counted?.rows ?? 0);
    const rows = await duplicates(context.read, { table, columns }, LISTED);
    for (const { org, id } of rows) {
      findings.report({ table, organization: context.organization(org), id, message });
    }
    await context.turn(table, counted?.rows ?? 0);
  }
}
