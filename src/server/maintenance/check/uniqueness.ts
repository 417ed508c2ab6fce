import sql, { join, raw } from 'sql-template-tag';
import type { CheckContext } from './context.ts';
import type { Book } from './findings.ts';

/** What may stand once: the rules that unique indexes guard, and one that follows from how files are named. */
const RULES = [
  {
    table: 'documents',
    columns: ['org', 'owner', 'base_fold'],
    message: 'has the name of another document of its owner',
  },
  { table: 'documents', columns: ['guid'], message: 'has the file of another document' },
  { table: 'transactiontags', columns: ['org', 'tag_type', 'tag_text_fold'], message: 'has the text of another tag' },
] as const;

/** Of each rule so many are listed, of those with the same the one with the highest id. */
const LISTED = 1000;

/** Looks at the rows themselves, since an index that is to guard a rule may be the damage. */
export async function checkUniqueness(context: CheckContext, book: Book): Promise<void> {
  const findings = book.of('uniqueness');
  for (const { table, columns, message } of RULES) {
    const counted = await context.read.get<{ rows: number }>(sql`SELECT COUNT(*) AS rows FROM ${raw(table)}`);
    findings.looked(counted?.rows ?? 0);
    const given = join(
      columns.map((column) => sql`${raw(column)} IS NOT NULL`),
      ' AND ',
    );
    const rows = await context.read.all<{ org: number; id: number }>(
      sql`SELECT MAX(org) AS org, MAX(id) AS id FROM ${raw(table)} WHERE ${given} GROUP BY ${raw(columns.join(', '))}
        HAVING COUNT(*) > 1 ORDER BY MAX(org), MAX(id) LIMIT ${LISTED}`,
    );
    for (const { org, id } of rows) {
      findings.report({ table, organization: context.organization(org), id, message });
    }
    await context.turn(table, counted?.rows ?? 0);
  }
}
