import { randomUUID } from 'node:crypto';
import { type Problem, Refusal } from '../../catalog/failures.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { Base64Decoder } from '../files/base64.ts';
import { type Files, fileName, type StagedFile } from '../files/files.ts';
import { scheduleRemoval, settleStaged } from '../files/recovery.ts';
import type { Organization } from '../organizations.ts';
import type { Draft } from '../resources/behaviour.ts';
import { checkDocument, type DocumentValues, makeImages, newDocument } from '../resources/documentfiles.ts';
import { type DocumentRow, documentBehaviour } from '../resources/documents.ts';
import { dropUnusedTags, keepTags } from '../resources/documenttags.ts';
import type { Service } from '../service.ts';
import type { JsonRecord } from '../store/layout.ts';
import { findRecord, putRecord, removeRecord } from '../store/records.ts';
import type { Reader, Store, Transaction } from '../store/store.ts';
import type { ProblemList } from './lines.ts';

/** The files of an import: staged and secured while it runs, kept when it commits, discarded when it does not. */
export class ImportedFiles {
  private staged: string[] = [];
  private readonly secured = new Set<string>();
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

  /** Notes the files that were made of a staged one, which go where that goes. */
  made(names: readonly string[]): void {
    this.staged.push(...names);
  }

  /** Secures the files of one document, the staged one and those made of it, unless they are. */
  async secure(names: readonly string[]): Promise<void> {
    const left = names.filter((name) => !this.secured.has(name));
    await this.files.persist(left);
    for (const name of left) this.secured.add(name);
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

  /** After a commit that may have failed: the records decide, now or, when they cannot be read, later. */
  async settle(store: Store): Promise<void> {
    await settleStaged(store, this.files, this.staged).catch(() => undefined);
  }
}

/** What the import of documents works with. */
interface DocumentImport {
  readonly service: Service;
  readonly files: ImportedFiles;
  readonly problems: ProblemList;
  /** Maximum pixels of an image; the budget when not given. */
  readonly maxPixels?: number;
}

/** A document whose line has no problems, with its files. */
export interface PreparedDocument {
  readonly organization: Organization;
  readonly id: number;
  readonly values: DocumentValues;
  readonly content: StagedFile;
  readonly variants: readonly string[];
}

/** Imports a document with its file, as in POST (contract §7): the same rules, the same numbering of names. */
export async function importDocument(
  state: DocumentImport & { readonly tx: Transaction },
  organization: Organization,
  id: number,
  values: Record<string, unknown>,
  line: number,
): Promise<void> {
  const document = await prepareDocument(state, organization, id, values, line);
  if (document !== undefined) await storeDocument(state.tx, state, document);
}

/** Stages a document's file, and makes what else it needs; undefined when the line has problems. */
export async function prepareDocument(
  { service, files, problems, maxPixels }: DocumentImport,
  organization: Organization,
  id: number,
  given: Record<string, unknown>,
  line: number,
): Promise<PreparedDocument | undefined> {
  const values = given as DocumentValues;
  const content = await files.stage(values.file?.content ?? '');
  if (content === undefined) {
    problems.add(line, 'file.content', 'file.content is empty or not base64.');
    return undefined;
  }
  const own: Problem[] = [];
  checkDocument(values, content, organization.id, own);
  problems.addAll(line, own);
  if (own.length > 0) return undefined;
  try {
    const variants = await makeImages(service, values, content, [], { maxPixels });
    files.made(filesOf({ content, variants }).filter((name) => name !== content.name));
    return { organization, id, values, content, variants };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    problems.addAll(line, error.problems);
    return undefined;
  }
}

/** Whether the stored document has this very file. */
export async function isStored(
  read: Reader,
  { organization, id, values, content }: PreparedDocument,
): Promise<boolean> {
  const known = await findDocument(read, organization.org, id);
  return known !== undefined && sameFile(known, content, values);
}

/** Stores a document in place of the one with its id. Answers it as it is now. */
export async function storeDocument(
  tx: Transaction,
  { service, files }: Pick<DocumentImport, 'service' | 'files'>,
  { organization, id, values, content, variants }: PreparedDocument,
): Promise<JsonRecord> {
  const parts = { service, organization, actor: undefined, id, values };
  const known = await findDocument(tx, organization.org, id);
  if (known !== undefined && sameFile(known, content, values)) {
    // The stored file stays, under its name: repeating a line changes nothing.
    await files.drop(content.name);
    await deleteRow(tx, organization.org, id);
    const stored = { ...content, name: fileName(known.guid, 'original') };
    return store(tx, newDocument({ ...parts, content: stored, variants: ORIGINAL }));
  }
  await removeDocument({ tx, service, files }, organization.org, id);
  const draft = newDocument({ ...parts, content, variants });
  await secureFiles(files, { content, variants });
  return store(tx, draft);
}

/** Puts a document's files where they last. */
export function secureFiles(
  files: ImportedFiles,
  document: Pick<PreparedDocument, 'content' | 'variants'>,
): Promise<void> {
  return files.secure(filesOf(document));
}

function filesOf({ content, variants }: Pick<PreparedDocument, 'content' | 'variants'>): string[] {
  const guid = content.name.slice(0, -'-original'.length);
  return variants.map((variant) => fileName(guid, variant));
}

const ORIGINAL = ['original'];

/** Whether a document's file is the one that a line brings; variants are made anew. */
function sameFile(known: DocumentRow, content: StagedFile, { file }: DocumentValues): boolean {
  const crops = ['fromX', 'fromY', 'width', 'height', 'ratio'] as const;
  const plain = known.variants === ORIGINAL.join() && crops.every((name) => file?.[name] == null);
  return plain && known.sha256 === content.sha256 && known.size === content.size;
}

async function store(tx: Transaction, draft: Draft): Promise<JsonRecord> {
  const { org } = draft.organization;
  await documentBehaviour.complete?.(tx, draft);
  await putRecord(tx, org, documents, draft.after, documentBehaviour.ownValues?.(draft));
  await keepTags(tx, org, draft.after.tags as string[]);
  return draft.after;
}

/** Deletes a document; its files are removed when the import has committed, or later. */
export async function removeDocument(
  { tx, service, files }: Pick<DocumentImport, 'service' | 'files'> & { readonly tx: Transaction },
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

function findDocument(read: Reader, org: number, id: number): Promise<DocumentRow | undefined> {
  return findRecord<DocumentRow>(read, { org }, documents, id);
}

async function deleteRow(tx: Transaction, org: number, id: number): Promise<void> {
  await removeRecord(tx, org, documents, id);
  await dropUnusedTags(tx, org);
}
