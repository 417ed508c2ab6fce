import sql, { raw } from 'sql-template-tag';
import { STORED_RESOURCES } from '../../../catalog/catalog.ts';
import { layoutOf, tableOf } from '../../store/layout.ts';
import { duplicates } from '../../store/schema/faults.ts';
import type { Reader } from '../../store/store.ts';
import type { CheckContext, CheckFindings } from './context.ts';
import { orgsOf } from './pages.ts';

/** What may stand once: the rules that unique indexes guard, and one that follows from how files are named. */
const RULES: readonly { readonly table: string; readonly columns: readonly string[]; readonly message: string }[] = [
  ...STORED_RESOURCES.flatMap((resource) => layoutOf(resource).indexes).flatMap(({ table, columns, unique }) =>
    unique === undefined ? [] : [{ table, columns, message: unique }],
  ),
  { table: 'documents', columns: ['guid'], message: 'has the file of another document' },
];

/** Of each rule so many are listed, of those with the same the one with the highest id. */
const LISTED = 1000;

/** Reads the rows themselves, since the index that guards a rule may be what is damaged. */
export async function checkUniqueness(context: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('uniqueness');
  for (const { table, columns, message } of RULES) {
    const counted = await context.read.get<{ rows: number }>(sql`SELECT COUNT(*) AS rows FROM ${raw(table)}`);
    findings.counted(counted?.rows ?? 0);
    const rows = await duplicates(context.read, { table, columns }, LISTED);
    for (const { org, id } of rows) {
      findings.report({ table, organization: context.organization(org), id, message });
    }
    await context.turn(table, counted?.rows ?? 0);
  }
}

/** The highest id that an organization has of a type. */
interface Highest {
  readonly org: number;
  readonly type: string;
  readonly id: number;
}

/** An id that was given once is never given again (D15): the last one given is not below the highest that is there. */
export async function checkSequences(context: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('sequences');
  for (const { org, type, id } of await highestIds(context.read)) {
    findings.counted(1);
    const row = await context.read.get<{ last_id: number }>(
      sql`SELECT last_id FROM sequences WHERE org = ${org} AND type = ${type}`,
    );
    if ((row?.last_id ?? 0) >= id) continue;
    const message = `the last id given is ${row?.last_id ?? 'unknown'}, but ${id} is there`;
    findings.report({ table: 'sequences', organization: context.organization(org), id: type, message });
  }
}

/** The highest ids of every type that organizations have records of. */
export async function highestIds(read: Reader): Promise<Highest[]> {
  const found: Highest[] = [];
  for (const resource of STORED_RESOURCES) {
    const table = tableOf(resource);
    for (const org of await orgsOf(read, table)) {
      const row = await read.get<{ id: number }>(sql`SELECT MAX(id) AS id FROM ${raw(table)} WHERE org = ${org}`);
      if (row !== undefined) found.push({ org, type: resource.type, id: row.id });
    }
  }
  for (const org of await orgsOf(read, 'reference_records')) {
    const rows = await read.all<{ type: string; id: number }>(
      sql`SELECT type, MAX(id) AS id FROM reference_records WHERE org = ${org} GROUP BY type ORDER BY type`,
    );
    found.push(...rows.map((row) => ({ org, ...row })));
  }
  return found;
}
