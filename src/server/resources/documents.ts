import sql from 'sql-template-tag';
import type { Problem } from '../../catalog/failures.ts';
import { foldText } from '../../catalog/filter/values.ts';
import { baseNameOf, baseNameProblem, type MimeType, storedName } from '../../catalog/resources/documentnames.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { variantUrls } from '../files/signing.ts';
import type { JsonRecord } from '../store/layout.ts';
import { ownerKey } from '../store/owncolumns.ts';
import type { StoredRecord } from '../store/records.ts';
import type { Reader } from '../store/store.ts';
import type { Behaviour, Draft, RenderContext } from './behaviour.ts';
import { keepTags, settleTags } from './documenttags.ts';

/** A stored document: which variants of its file exist. */
export interface DocumentRow extends StoredRecord {
  readonly guid: string;
  readonly variants: string;
  readonly size: number;
  readonly sha256: string;
}

/** Documents (specification, Document; D36–D38). */
export const documentBehaviour: Behaviour = {
  resource: documents,
  render: renderDocument,
  check(draft) {
    checkName(draft.after, draft.before, draft.problems);
  },
  async complete(read, draft) {
    draft.after.name = await freeName(read, draft);
    draft.after.tags = await settleTags(read, draft);
  },
  ownValues({ own, row }) {
    const { variants = '', size = 0, sha256 = '' } = (own ?? row) as Partial<DocumentRow>;
    return { variants, size, sha256 };
  },
  async stored(tx, draft) {
    await keepTags(tx, draft.organization.org, draft.after.tags as string[]);
    return false;
  },
};

/** The base of a name has 1 to 70 characters; the name that GET returned is always accepted, however long numbering made it (D36). */
export function checkName(after: JsonRecord, before: JsonRecord | undefined, problems: Problem[]): void {
  const { name, mimeType } = after as { name: string | null | undefined; mimeType: MimeType | null | undefined };
  if (name == null) return;
  // While the type is unknown, whatever looks like an extension does not count.
  const base = mimeType == null ? name.replace(/\.[A-Za-z]{3,4}$/, '') : baseNameOf(name, mimeType);
  if (mimeType != null && before?.name === storedName(base, mimeType)) return;
  const wrong = baseNameProblem(base);
  if (wrong !== undefined) problems.push({ code: 'field.length', source: 'name', description: wrong });
}

/** The stored name of a document's base: its own when it keeps it, otherwise the lowest free ` (n)` (D36). */
async function freeName(read: Reader, draft: Draft): Promise<string> {
  const type = draft.after.mimeType as MimeType;
  const base = baseNameOf(draft.after.name as string, type);
  if (draft.before?.name === storedName(base, type)) return storedName(base, type);
  const { org } = draft.organization;
  for (let n = 0; ; n++) {
    const candidate = n === 0 ? base : `${base} (${n})`;
    const taken = await read.get(
      sql`SELECT 1 AS found FROM documents WHERE org = ${org} AND owner = ${ownerKey(draft.after)}
        AND base_fold = ${foldText(candidate)} AND id <> ${draft.after.id}`,
    );
    if (taken === undefined) return storedName(candidate, type);
  }
}

/** Stored JSON with fresh download links (D38). */
function renderDocument(row: StoredRecord, context: RenderContext): string {
  const { variants } = row as DocumentRow;
  const storage = JSON.stringify(variantUrls(context, row.id, variants.split(',')));
  return `${row.json.slice(0, -1)},"storage":${storage}}`;
}
