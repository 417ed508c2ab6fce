import sql, { raw } from 'sql-template-tag';
import { foldText } from '../../catalog/filter/values.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { sideTable } from '../store/layout.ts';
import type { Reader, Transaction } from '../store/store.ts';
import type { Draft } from './behaviour.ts';

const uses = raw(sideTable(documents, 'tags'));

/** A document's tags: repeated ones folded, each in the letter case first stored (specification, Document rule 5; D37). */
export async function settleTags(read: Reader, draft: Draft): Promise<string[]> {
  const names = new Map<string, string>();
  for (const name of (draft.after.tags as readonly string[] | null) ?? []) {
    const fold = foldText(name);
    if (!names.has(fold)) names.set(fold, (await storedTag(read, draft.organization.org, fold)) ?? name);
  }
  return [...names.values()];
}

async function storedTag(read: Reader, org: number, fold: string): Promise<string | undefined> {
  const row = await read.get<{ name: string }>(
    sql`SELECT name FROM document_tags WHERE org = ${org} AND fold = ${fold}`,
  );
  return row?.name;
}

/** Creates the tags that are new. */
export async function keepTags(tx: Transaction, org: number, tags: readonly string[]): Promise<void> {
  for (const name of tags) {
    await tx.run(
      sql`INSERT INTO document_tags (org, fold, name) VALUES (${org}, ${foldText(name)}, ${name}) ON CONFLICT DO NOTHING`,
    );
  }
}

/** Removes tags that no document has any more; deleting a document does this, changing one does not (D37). */
export async function dropUnusedTags(tx: Transaction, org: number): Promise<void> {
  await tx.run(sql`DELETE FROM document_tags WHERE org = ${org}
    AND NOT EXISTS (SELECT 1 FROM ${uses} u WHERE u.org = ${org} AND u.value = document_tags.fold)`);
}
