import { operationOf } from '../../catalog/catalog.ts';
import { type Problem, Refusal, refusal, type Warning } from '../../catalog/failures.ts';
import type { Link } from '../../catalog/fields/composites.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { readFields } from '../../catalog/record.ts';
import { isImage, type MimeType } from '../../catalog/resources/documentnames.ts';
import { documents, type FileInput, VARIANTS } from '../../catalog/resources/documents.ts';
import type { Actor } from '../audit/entries.ts';
import { DocumentBody } from '../body/documentbody.ts';
import { nowOf } from '../clock.ts';
import { recordChange, responseOf, settle, storeDraft } from '../engine/writing.ts';
import { fileName, type StagedFile } from '../files/files.ts';
import { type Crop, ImageTooLarge, ImageUnusable, looksLike, makeVariants } from '../files/images.ts';
import { removeUnlessKept, scheduleRemoval, settleStaged } from '../files/recovery.ts';
import type { Organization } from '../organizations.ts';
import { checkLinks, linksOf } from '../references.ts';
import { blankRecord } from '../rendering.ts';
import { notFound, pathIdOf, readContext } from '../requests.ts';
import type { Handler, OperationRequest, Service } from '../service.ts';
import type { JsonRecord } from '../store/layout.ts';
import { findRecord, removeRecord } from '../store/records.ts';
import type { Draft } from './behaviour.ts';
import { checkName, type DocumentRow, documentBehaviour } from './documents.ts';
import { dropUnusedTags } from './documenttags.ts';

/** POST `/documents`: the file is where it lasts before the record commits, and the record before the response is sent (D38). */
const createDocument: Handler = async (request) => {
  const { body } = request;
  // A request without a body is not even read by the parser of bodies.
  if (!(body instanceof DocumentBody)) throw refusal('body.shape', 'body', 'The body must be one JSON object.');
  const guid = body.content && guidOf(body.content);
  const { files } = request.service;
  const stored = await storeDocument(request, body).catch(async (error: unknown) => {
    if (guid !== undefined) await discardFiles(request.service, guid, error);
    throw error;
  });
  // The record is committed, so it is answered whatever happens: a file that a full disk leaves staged is read where it
  // is, and kept by the next start.
  for (const variant of stored.variants) await files.finalize(fileName(guid ?? '', variant)).catch(() => undefined);
  return stored.answer;
};

const MISSING_CONTENT: Problem = {
  code: 'field.missing',
  source: 'file.content',
  description: 'file.content is required.',
};

async function storeDocument(request: OperationRequest, body: DocumentBody) {
  const { service, organization, actor } = request;
  const { values, problems } = readValues(request, body);
  await checkLinks(service.store.read, organization, linksOf(documents.fields, values), problems);
  const content = body.content;
  if (problems.length === 0 && content === undefined) problems.push(MISSING_CONTENT);
  if (problems.length > 0 || content === undefined) throw new Refusal(problems);
  const { org } = organization;
  const variants = await makeImages(service, values, content, request.warnings, {
    inTurn: (work) => service.budgets.images.run(org, work),
  });
  await service.files.persist(variants.map((variant) => fileName(guidOf(content), variant)));
  const answer = await service.store.write(async (tx) => {
    const id = await tx.nextId(organization.org, documents.type);
    const draft = newDocument({ service, organization, actor, id, values, content, variants });
    await settle(tx, documentBehaviour, draft);
    await storeDraft(tx, documentBehaviour, draft, nowOf(service));
    const made = responseOf(documentBehaviour, request, draft, undefined);
    await request.storeResponse(tx, made);
    return made;
  }, organization.org);
  return { answer, variants };
}

/** A document about to be stored, made of checked values and its staged content. */
export function newDocument(parts: {
  readonly service: Service;
  readonly organization: Organization;
  readonly actor: Actor | undefined;
  readonly id: number;
  readonly values: DocumentValues;
  readonly content: StagedFile;
  readonly variants: readonly string[];
}): Draft {
  const { service, organization, actor, id, values, content, variants } = parts;
  const guid = guidOf(content);
  const { storage: _, ...blank } = blankRecord(documents);
  return {
    service,
    organization,
    actor,
    before: undefined,
    row: undefined,
    after: {
      ...blank,
      ...ownedBy(organization.id, values),
      id,
      name: values.name,
      mimeType: values.mimeType,
      tags: values.tags ?? [],
      userDefinedDate: values.userDefinedDate ?? null,
      guidName: guid,
      thumbNailId: variants.includes('thumbnail') ? fileName(guid, 'thumbnail') : null,
    },
    given: new Set(),
    problems: [],
    own: { variants: variants.join(','), size: content.size, sha256: content.sha256 },
  };
}

function guidOf(content: StagedFile): string {
  return content.name.slice(0, -'-original'.length);
}

/** Drops every file staged for a document that did not come to be. */
async function discardFiles({ store, files }: Service, guid: string, error: unknown): Promise<void> {
  const names = VARIANTS.map((variant) => fileName(guid, variant));
  if (error instanceof Refusal) {
    for (const name of names) await files.discard(name);
    return;
  }
  // A database that went away may have committed before: the record decides, now or, when it cannot be read, later.
  await settleStaged(store, files, names).catch(() => undefined);
}

export type DocumentValues = Readonly<Record<string, unknown>> & { readonly file?: FileInput };

function readValues(request: OperationRequest, body: DocumentBody): { values: DocumentValues; problems: Problem[] } {
  if (!isPlainObject(body.json)) throw refusal('body.shape', 'body', 'The body must be one JSON object.');
  const context = readContext(request, 'create');
  const values: DocumentValues = readFields(documents.fields, withContent(body, body.json), context);
  if (body.problem !== undefined) context.problems.push(body.problem);
  checkDocument(values, body.content, request.organization.id, context.problems);
  return { values, problems: context.problems };
}

/** Rules on a new document that the catalog cannot say: one owner, the name's length, bytes that fit an image type. */
export function checkDocument(
  values: DocumentValues,
  content: StagedFile | undefined,
  organizationId: string,
  problems: Problem[],
): void {
  checkOwner(values, organizationId, problems);
  checkName({ name: values.name, mimeType: values.mimeType }, undefined, problems);
  checkImage(values, content, problems);
}

/**
 * Content that is already on disk, or already reported, stands in the body as a word that is not empty. A body without
 * `file` lacks `file.content`.
 */
function withContent(body: DocumentBody, json: Record<string, unknown>): Record<string, unknown> {
  const file = json.file ?? {};
  const present = body.content !== undefined || body.problem !== undefined;
  return { ...json, file: present && isPlainObject(file) ? { ...file, content: 'staged' } : file };
}

function checkOwner(values: DocumentValues, organizationId: string, problems: Problem[]): void {
  const owners = ['ownerOrganization', 'ownerPatient', 'ownerPerioExam'].filter((name) => values[name] != null);
  if (owners.length > 1) {
    const description = `A document has one owner; ${owners.join(' and ')} are given.`;
    for (const source of owners) problems.push({ code: 'field.conflict', source, description });
  }
  const owner = values.ownerOrganization as { id: string } | null | undefined;
  if (owner != null && owner.id !== organizationId) {
    const description = 'ownerOrganization.id must be the organization of the request.';
    problems.push({ code: 'field.conflict', source: 'ownerOrganization.id', description });
  }
}

function ownedBy(organizationId: string, values: DocumentValues): Record<string, unknown> {
  const patient = values.ownerPatient as Link | null | undefined;
  const exam = values.ownerPerioExam as Link | null | undefined;
  if (patient != null) return { ownerType: 'Patient', ownerPatient: patient };
  if (exam != null) return { ownerType: 'PerioExam', ownerPerioExam: exam };
  return { ownerType: 'Organization', ownerOrganization: { id: organizationId } };
}

function checkImage(values: DocumentValues, content: StagedFile | undefined, problems: Problem[]): void {
  const type = values.mimeType as MimeType | undefined;
  if (type === undefined || content === undefined || looksLike(type, content.head)) return;
  problems.push({
    code: 'file.content',
    source: 'file.content',
    description: `file.content does not hold a ${type} image.`,
  });
}

/** How the variants of an image are made. */
interface ImageWork {
  /** Runs the work when its turn has come; at once when not given. */
  readonly inTurn?: (work: () => Promise<void>) => Promise<void>;
  /** Pixels of the image and of what is made of it; the budget when not given. */
  readonly maxPixels?: number | undefined;
}

/**
 * Makes the variants of an image when all five crop values are there; answers which variants exist (specification,
 * Documents). `inTurn` runs the work on it: an import, which works on one image after another, needs no turns.
 */
export async function makeImages(
  { files, budgets }: Pick<Service, 'files' | 'budgets'>,
  values: DocumentValues,
  content: StagedFile,
  warnings: Warning[],
  { inTurn = (work) => work(), maxPixels = budgets.limits.imagePixels }: ImageWork = {},
): Promise<readonly string[]> {
  const { file } = values;
  const given = (['fromX', 'fromY', 'width', 'height', 'ratio'] as const).filter((name) => file?.[name] != null);
  if (given.length === 0) return ['original'];
  if (!isImage(values.mimeType as MimeType) || given.length < 5) {
    const description =
      given.length < 5
        ? 'The file was not cropped: that takes all of fromX, fromY, width, height and ratio.'
        : 'The file was not cropped: only JPEG, PNG and GIF can be.';
    warnings.push({ title: 'Crop ignored', description, source: `file.${given[0]}` });
    return ['original'];
  }
  const name = (variant: string) => fileName(guidOf(content), variant);
  try {
    const outputs = { cropped: name('cropped'), resized: name('resized'), thumbnail: name('thumbnail') };
    await inTurn(() => makeVariants(files, content.path, file as Crop & FileInput, outputs, maxPixels));
    return VARIANTS;
  } catch (error) {
    if (!(error instanceof ImageUnusable)) throw error;
    if (error instanceof ImageTooLarge) budgets.refused('image-pixels');
    throw refusal(error.source === 'file.content' ? 'file.content' : 'field.range', error.source, error.message);
  }
}

/**
 * DELETE `/documents/{id}`: record, tag uses and unused tags go together, and with them the files, which nobody can reach
 * while they are kept (specification, Document lifecycle; D38).
 */
const deleteDocument: Handler = async (request) => {
  const { service, organization, actor } = request;
  const id = pathIdOf(request, documents);
  const names = await service.store.write(async (tx) => {
    const row = await findRecord<DocumentRow>(tx, organization, documents, id);
    if (row === undefined) throw notFound(documents.one, id);
    const before = JSON.parse(row.json) as JsonRecord;
    await removeRecord(tx, organization.org, documents, id, before);
    await recordChange(tx, { organization, actor, resource: documents, before, after: undefined, at: nowOf(service) });
    await dropUnusedTags(tx, organization.org);
    const files = row.variants.split(',').map((variant) => fileName(row.guid, variant));
    await scheduleRemoval(tx, service, files);
    return files;
  }, organization.org);
  // The record is gone already: what cannot be removed now stays noted for the next start.
  await removeUnlessKept(service, names).catch(() => undefined);
  return { data: JSON.stringify({ id }) };
};

/** Operations on documents that move files. */
export const documentHandlers: Readonly<Record<string, Handler>> = {
  [operationOf(documents, 'create').id]: createDocument,
  [operationOf(documents, 'delete').id]: deleteDocument,
};
