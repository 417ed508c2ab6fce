import { randomUUID } from 'node:crypto';
import { type Problem, Refusal } from '../../catalog/failures.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { Base64Decoder } from '../files/base64.ts';
import { type Files, fileName, type StagedFile } from '../files/files.ts';
import { scheduleRemoval } from '../files/recovery.ts';
import type { Organization } from '../organizations.ts';
import type { Draft } from '../resources/behaviour.ts';
import { checkDocument, type DocumentValues, makeImages, newDocument } from '../resources/documentfiles.ts';
import { type DocumentRow, documentBehaviour } from '../resources/documents.ts';
import { dropUnusedTags, keepTags } from '../resources/documenttags.ts';
import type { Service } from '../service.ts';
import { findRecord, putRecord, removeRecord } from '../store/records.ts';
import type { Transaction } from '../store/store.ts';
import type { ProblemList } from './lines.ts';

/** The files of an import: staged and secured while it runs, kept when it commits, discarded when it does not. */
export class ImportedFiles {
  private staged: string[] = [];
  /** Files of documents that the import replaced or deleted. */
  readonly replaced: string[] = [];

  constructor(readonly files: Files) {}

  /** Stages base64 text; undefined when it is not base64, or empty. */
  async stage(content: string): Promise<StagedFile | undefined> {
    const decoder = new Base64Decoder();
    const body = decoder.push(content);
    const rest = decoder.end();
    if (body === undefined || rest === undefined || body.length + rest.length === 0) return undefined;
    const name = fileName(randomUUID(), 'original');
    this.staged.push(name);
    const stage = await this.files.stage(name);
    await stage.write(Buffer.concat([body, rest]));
    return stage.finish();
  }

  /** Removes a staged file that is not needed after all. */
  async drop(name: string): Promise<void> {
    this.staged = this.staged.filter((other) => other !== name);
    await this.files.discard(name);
  }

  /** Secures the files of one document: the staged one, and the variants made from it. */
  async secure(names: readonly string[]): Promise<void> {
    this.staged.push(...names.filter((name) => !this.staged.includes(name)));
    await this.files.persist(names);
  }

  /** After the commit. A file that cannot be kept now must not be discarded: the next start keeps it. */
  async keep(): Promise<void> {
    const staged = this.staged;
    this.staged = [];
    for (const name of staged) await this.files.finalize(name);
  }

  async discard(): Promise<void> {
    for (const name of this.staged) await this.files.discard(name);
  }
}

/** What the import of documents works with. */
interface DocumentImport {
  readonly tx: Transaction;
  readonly service: Service;
  readonly files: ImportedFiles;
  readonly problems: ProblemList;
}

/** Imports a document with its file, as in POST (contract §7): the same rules, the same numbering of names. */
export async function importDocument(
  state: DocumentImport,
  organization: Organization,
  id: number,
  given: Record<string, unknown>,
  line: number,
): Promise<void> {
  const values = given as DocumentValues;
  const content = await state.files.stage(values.file?.content ?? '');
  if (content === undefined) {
    state.problems.add(line, 'file.content', 'file.content is empty or not base64.');
    return;
  }
  const problems: Problem[] = [];
  checkDocument(values, content, organization.id, problems);
  state.problems.addAll(line, problems);
  if (problems.length > 0) return;
  const parts = { service: state.service, organization, actor: undefined, id, values };
  const known = await findDocument(state.tx, organization.org, id);
  if (known !== undefined && sameFile(known, content, values)) {
    // The stored file stays, under its name: repeating a line changes nothing.
    await state.files.drop(content.name);
    await deleteRow(state.tx, organization.org, id);
    const stored = { ...content, name: fileName(known.guid, 'original') };
    return store(state.tx, newDocument({ ...parts, content: stored, variants: ORIGINAL }));
  }
  await removeDocument(state, organization.org, id);
  const variants = await makeImages(state.service, values, content, []).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    state.problems.addAll(line, error.problems);
    return undefined;
  });
  if (variants === undefined) return;
  const draft = newDocument({ ...parts, content, variants });
  await state.files.secure(variants.map((variant) => fileName(draft.after.guidName as string, variant)));
  return store(state.tx, draft);
}

const ORIGINAL = ['original'];

/** Whether a document's file is the one that a line brings; variants are made anew. */
function sameFile(known: DocumentRow, content: StagedFile, { file }: DocumentValues): boolean {
  const crops = ['fromX', 'fromY', 'width', 'height', 'ratio'] as const;
  const plain = known.variants === ORIGINAL.join() && crops.every((name) => file?.[name] == null);
  return plain && known.sha256 === content.sha256 && known.size === content.size;
}

async function store(tx: Transaction, draft: Draft): Promise<void> {
  const { org } = draft.organization;
  await documentBehaviour.complete?.(tx, draft);
  await putRecord(tx, org, documents, draft.after, documentBehaviour.ownValues?.(draft));
  await keepTags(tx, org, draft.after.tags as string[]);
}

/** Deletes a document; its files are removed when the import has committed, or later. */
export async function removeDocument(
  { tx, service, files }: Pick<DocumentImport, 'tx' | 'service' | 'files'>,
  org: number,
  id: number,
): Promise<void> {
  const row = await findDocument(tx, org, id);
  if (row === undefined) return;
  const names = row.variants.split(',').map((variant) => fileName(row.guid, variant));
  await deleteRow(tx, org, id);
  await scheduleRemoval(tx, service, names);
  files.replaced.push(...names);
}

function findDocument(tx: Transaction, org: number, id: number): Promise<DocumentRow | undefined> {
  return findRecord<DocumentRow>(tx, { org }, documents, id);
}

async function deleteRow(tx: Transaction, org: number, id: number): Promise<void> {
  await removeRecord(tx, org, documents, id);
  await dropUnusedTags(tx, org);
}
