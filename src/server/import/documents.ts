import { Refusal } from '../../catalog/failures.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { fileName, type StagedFile } from '../files/files.ts';
import { scheduleRemoval } from '../files/recovery.ts';
import type { Draft } from '../resources/behaviour.ts';
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
  const parts = { service: state.service, organization, actor: undefined, id, values };
  const known = await findDocument(state, organization.org, id);
  if (known !== undefined && sameFile(known, content, values)) {
    // The file that is there stays, under its name: the same line again changes nothing.
    await state.files.drop(content.name);
    await takeOut(state, organization.org, id);
    const kept = { ...content, name: fileName(known.guid, 'original') };
    return store(state, newDocument({ ...parts, content: kept, variants: ORIGINAL }));
  }
  await removeDocument(state, organization.org, id);
  const variants = await makeImages(state.service.files, values, content, []).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    state.problems.addAll(line, error.problems);
    return undefined;
  });
  if (variants === undefined) return;
  const draft = newDocument({ ...parts, content, variants });
  await state.files.secure(variants.map((variant) => fileName(draft.after.guidName as string, variant)));
  return store(state, draft);
}

const ORIGINAL = ['original'];

/** Whether a document's file is the one that an import line brings; variants are made anew. */
function sameFile(known: DocumentRow, content: StagedFile, { file }: DocumentValues): boolean {
  const crops = ['fromX', 'fromY', 'width', 'height', 'ratio'] as const;
  const plain = known.variants === ORIGINAL.join() && crops.every((name) => file?.[name] == null);
  return plain && known.sha256 === content.sha256 && known.size === content.size;
}

async function store(state: ImportState, draft: Draft): Promise<void> {
  const { org } = draft.organization;
  await documentBehaviour.complete?.(state.tx, draft);
  await putRecord(state.tx, org, documents, draft.after, documentBehaviour.ownValues?.(draft));
  await keepTags(state.tx, org, draft.after.tags as string[]);
}

/** Takes a document out; its files go when the import has committed. */
export async function removeDocument(state: ImportState, org: number, id: number): Promise<void> {
  const row = await findDocument(state, org, id);
  if (row === undefined) return;
  const names = row.variants.split(',').map((variant) => fileName(row.guid, variant));
  await takeOut(state, org, id);
  await scheduleRemoval(state.tx, names);
  state.files.replaced.push(...names);
}

function findDocument(state: ImportState, org: number, id: number): Promise<DocumentRow | undefined> {
  return findRecord<DocumentRow>(state.tx, org, documents, id);
}

async function takeOut(state: ImportState, org: number, id: number): Promise<void> {
  await removeRecord(state.tx, org, documents, id);
  await dropUnusedTags(state.tx, org);
}
