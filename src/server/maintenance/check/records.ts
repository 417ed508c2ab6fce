import sql, { join, raw } from 'sql-template-tag';
import type { Resource } from '../../../catalog/define.ts';
import { foldText } from '../../../catalog/filter/values.ts';
import { layoutOf, type Side } from '../../store/layout.ts';
import { parseRecord } from '../../store/schema/backfill.ts';
import type { CheckContext, CheckFindings, CheckProblem } from './context.ts';
import { checkLinks, checkReferrals, type LinkedRecord } from './links.ts';
import { orgsOf, PAGE, type RecordPage, recordPages, within } from './pages.ts';

type Stored = Readonly<Record<string, unknown>> & { readonly id: number; readonly json: string };

/** The records of a resource: what is stored beside their JSON agrees with it, and their links lead somewhere. */
export async function checkRecords(context: CheckContext, book: CheckFindings, resource: Resource): Promise<void> {
  const { table, columns, sides } = layoutOf(resource);
  const following = columns.flatMap(({ name, of }) => (of === undefined ? [] : [{ name, of }]));
  const selected = ['id', ...following.map(({ name }) => name), 'json'];
  const orgs = await orgsOf(context.read, table);
  for await (const page of recordPages<Stored>(context.read, table, selected, orgs)) {
    const place = { table, organization: context.organization(page.org) };
    const readable: LinkedRecord[] = [];
    for (const row of page.rows) {
      const record = parseRecord(row.json);
      const report = (message: string) => book.of('records').report({ ...place, id: row.id, message });
      if (record === undefined) report('its JSON cannot be read');
      else if (record.id !== row.id) report('its JSON has another id');
      if (record === undefined) continue;
      readable.push({ id: row.id, record });
      for (const { name, of } of following) {
        if (!same(row[name], of(record))) report(`column ${name} does not agree with its JSON`);
      }
    }
    book.of('records').counted(page.rows.length);
    for (const side of sides) await checkSide(context, book, { page, side, readable, place });
    if (table === 'documents') await checkTags(context, book, page.org, readable);
    if (table === 'patients') await checkReferrals(context, book, page, readable);
    await checkLinks(context, book, { ...page, table, fields: resource.fields, records: readable });
    await context.turn(resource.many, page.rows.length);
  }
}

function same(stored: unknown, expected: unknown): boolean {
  return (stored ?? null) === (expected ?? null);
}

interface SideOfPage {
  readonly page: RecordPage<Stored>;
  readonly side: Side;
  readonly readable: readonly LinkedRecord[];
  readonly place: Pick<CheckProblem, 'table' | 'organization'>;
}

/** The values by which records are found, both ways: none is missing, and none is of a record that does not have it. */
async function checkSide({ read }: CheckContext, book: CheckFindings, { page, side, readable, place }: SideOfPage) {
  const findings = book.of('values');
  const kept = new Map<number, Set<string>>();
  const rows = await read.all<{ id: number; value: string }>(
    sql`SELECT id, value FROM ${raw(side.table)} WHERE org = ${page.org} AND ${within('id', page)}`,
  );
  for (const { id, value } of rows) kept.set(id, (kept.get(id) ?? new Set()).add(value));
  for (const { id, record } of readable) {
    const expected = side.of(record);
    const found = kept.get(id) ?? new Set();
    findings.counted(expected.length);
    if (found.size === expected.length && expected.every((value) => found.has(value))) continue;
    findings.report({ ...place, table: side.table, id, message: `does not agree with ${place.table}` });
  }
  const stored = new Set(page.rows.map((row) => row.id));
  for (const id of kept.keys()) {
    if (stored.has(id)) continue;
    findings.report({ ...place, table: side.table, id, message: `is of a record that is not in ${place.table}` });
  }
}

/** Each tag of a document is among the tags of its organization. */
async function checkTags(context: CheckContext, book: CheckFindings, org: number, readable: readonly LinkedRecord[]) {
  const tagged = readable.map(({ id, record }) => ({ id, tags: Array.isArray(record.tags) ? record.tags : [] }));
  const folds = [...new Set(tagged.flatMap(({ tags }) => tags.map((tag) => foldText(String(tag)))))];
  const known = new Set<string>();
  for (let at = 0; at < folds.length; at += PAGE) {
    const rows = await context.read.all<{ fold: string }>(
      sql`SELECT fold FROM document_tags WHERE org = ${org} AND fold IN (${join(folds.slice(at, at + PAGE))})`,
    );
    for (const { fold } of rows) known.add(fold);
  }
  for (const { id, tags } of tagged) {
    if (tags.every((tag) => known.has(foldText(String(tag))))) continue;
    const organization = context.organization(org);
    book
      .of('values')
      .report({ table: 'documents', organization, id, message: 'has a tag that is not in document_tags' });
  }
}
