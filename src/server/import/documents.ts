import { Refusal } from '../../catalog/failures.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { fileName } from '../files/files.ts';
import { scheduleRemoval } from '../files/recovery.ts';
import { checkDocument, type DocumentValues, makeImages, newDocument } from '../resources/documentfiles.ts';
import { type DocumentRow, documentBehaviour } from '../resources/documents.ts';
import { dropUnusedTags, keepTags } from '../resources/documenttags.ts';
import type { Organization } from '../service.ts';
import { findRecord, putRecord, removeRecord } from '../store/records.ts';
import type { ImportState } from './records.ts';

/** A document with its file, as in POST (contract §7): the same rules, the same numbering of names. */
export async function importDocument(
  state: ImportState,
  organization: Organization,
  id: number,
  given: Record<string, unknown>,
  line: number,
): Promise<void> {
  const values = given as DocumentValues;
  const content = await state.files.stage(values.file?.content ?? '');
  if (content === undefined) {
    state.problems.add(line, 'file.content', 'file.content is not base64, or empty.');
    return;
  }
  const problems: Parameters<typeof checkDocument>[3] = [];
  checkDocument(values, content, organization.id, problems);
  state.problems.addAll(line, problems);
  if (problems.length > 0) return;
  await removeDocument(state, organization.org, id);
  const variants = await makeImages(state.service.files, values, content, []).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    state.problems.addAll(line, error.problems);
    return undefined;
  });
  if (variants === undefined) return;
  const draft = newDocument({ service: state.service, organization, id, values, content, variants });
  state.files.noteVariants(variants.map((variant) => fileName(draft.after.guidName as string, variant)));
  await documentBehaviour.complete?.(state.tx, draft);
  await putRecord(state.tx, organization.org, documents, draft.after, documentBehaviour.ownColumns?.(draft));
  await keepTags(state.tx, organization.org, draft.after.tags as string[]);
}

/** Takes a document out; its files go when the import has committed. */
export async function removeDocument(state: ImportState, org: number, id: number): Promise<void> {
  const row = await findRecord<DocumentRow>(state.tx, org, documents, id, ['guid', 'variants']);
  if (row === undefined) return;
  const names = row.variants.split(',').map((variant) => fileName(row.guid, variant));
  await removeRecord(state.tx, org, documents, id);
  await dropUnusedTags(state.tx, org);
  await scheduleRemoval(state.tx, names);
  state.files.replaced.push(...names);
}
