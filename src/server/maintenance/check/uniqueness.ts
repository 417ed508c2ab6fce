import sql, { join, raw } from 'sql-template-tag';
import type { CheckContext } from './context.ts';
import type { Book } from './findings.ts';

/** What may stand once, and where: the rules that unique indexes guard, looked at without them. */
const RULES = [
  {
    table: 'documents',
    columns: ['org', 'owner', 'base_fold'],
    message: 'has the name of another document of its owner',
  },
  { table: 'transactiontags', columns: ['org', 'tag_type', 'tag_text_fold'], message: 'has the text of another tag' },
] as const;

/** Two records with the same are listed by the higher id. */
const LISTED = 1000;

export async function checkUniqueness(context: CheckContext, book: Book): Promise<void> {
  const findings = book.of('uniqueness');
  for (const { table, columns, message } of RULES) {
    const counted = await context.read.get<{ rows: number }>(sql`SELECT COUNT(*) AS rows FROM ${raw(table)}`);
    findings.looked(counted?.rows ?? 0);
    const same = join(
      columns.map((column) => sql`${raw(`b.${column} = a.${column}`)}`),
      ' AND ',
    );
    // A plus keeps SQLite from taking a damaged unique index at its word.
    const rows = await context.read.all<{ org: number; id: number }>(
      sql`SELECT a.org, a.id FROM ${raw(table)} a WHERE EXISTS
        (SELECT 1 FROM ${raw(table)} b WHERE ${same} AND b.id < a.id) ORDER BY a.org, a.id LIMIT ${LISTED}`,
    );
    for (const { org, id } of rows) {
      findings.report({ table, organization: context.organization(org), id, message });
    }
    await context.turn(table, counted?.rows ?? 0);
  }
}
