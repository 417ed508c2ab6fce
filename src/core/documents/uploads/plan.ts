import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import pLimit from 'p-limit';
import { Failure, localFailure, usageFailure } from '../../failure.ts';
import { readFileType } from '../content/filetype.ts';
import { type ContentSource, fileSource, MAX_CONTENT, sha256Of, tooLarge, whileOpen } from '../content/source.ts';
import { type DocumentDraft, defaultName, draftDocument } from './draft.ts';
import type { EarlierOutcome, Review, UploadRow } from './uploadrow.ts';

/** A file that passed every check. `note`: what the person who uploads it should know. */
export interface ReadyUpload extends DocumentDraft {
  readonly row: UploadRow;
  readonly source: ContentSource;
  readonly sha256: string;
  readonly note?: string;
}

/** A row after the checks: ready to be sent, refused here, or done in an earlier run. */
export type PlannedUpload =
  | { readonly kind: 'ready'; readonly row: UploadRow; readonly upload: ReadyUpload }
  | { readonly kind: 'refused'; readonly row: UploadRow; readonly failure: Failure }
  | { readonly kind: 'done'; readonly row: UploadRow; readonly earlier: EarlierOutcome };

/** The files of a plan that are ready to be sent. */
export function readyUploads(plan: readonly PlannedUpload[]): ReadyUpload[] {
  return plan.flatMap((planned) => (planned.kind === 'ready' ? [planned.upload] : []));
}

/** What the checks need beside the rows. */
export interface PlanOptions {
  readonly organization: string;
  /** Folder that relative paths start from. */
  readonly folder: string;
  /** Spools standard input. */
  readonly stdin: () => Promise<ContentSource>;
  readonly maxContent?: number;
  readonly signal?: AbortSignal;
}

/** Files that are checked (read once, hashed) at the same time. */
const CONCURRENT_CHECKS = 4;

/** Checks all rows before anything is sent; a bad row does not stop a good one. */
export async function planUploads(rows: readonly UploadRow[], options: PlanOptions): Promise<PlannedUpload[]> {
  const limit = pLimit(CONCURRENT_CHECKS);
  const firstStdin = rows.findIndex(({ file }) => file === '-');
  const planned = await Promise.all(rows.map((row, index) => limit(() => planRow(row, index > firstStdin, options))));
  return refuseRepeated(planned, await doneBefore(planned, options));
}

async function planRow(row: UploadRow, stdinTaken: boolean, options: PlanOptions): Promise<PlannedUpload> {
  options.signal?.throwIfAborted();
  if (row.earlier?.status === 'done') return { kind: 'done', row, earlier: row.earlier };
  try {
    if (row.unread !== undefined) throw row.unread;
    if (row.review !== undefined) throw reviewFailure(row.file, row.review);
    if (row.problem !== undefined) throw usageFailure(`${row.file}: ${row.problem}`, { source: row.file });
    if (row.file === '-' && stdinTaken) throw usageFailure('stdin (-) can be uploaded only once.');
    return { kind: 'ready', row, upload: await check(row, options) };
  } catch (cause) {
    if (cause instanceof Failure) return { kind: 'refused', row, failure: cause };
    throw cause;
  }
}

function reviewFailure(file: string, { reason }: Review): Failure {
  return localFailure('run.partial', `${file}: ${reason}`);
}

async function check(row: UploadRow, options: PlanOptions): Promise<ReadyUpload> {
  const limit = options.maxContent ?? MAX_CONTENT;
  if (row.file === '-' && row.name === undefined)
    throw usageFailure('Content from stdin (-) needs a name: give --name.', { source: 'name' });
  const source =
    row.file === '-' ? await options.stdin() : await fileSource(resolve(options.folder, row.file), row.file);
  if (source.size === 0) throw usageFailure(`${row.file} is empty.`, { source: row.file });
  if (source.size > limit) throw tooLarge(row.file, limit, source.size);
  const declared =
    row.mimeType === undefined ? undefined : { type: row.mimeType, by: row.location ? 'its mimeType' : '--mime-type' };
  return whileOpen(source, async (opened) => {
    const { type, note } = await readFileType(opened, declared);
    const draft = draftDocument(row, type, options.organization);
    return { ...draft, row, source, sha256: await sha256Of(opened), ...(note !== undefined && { note }) };
  });
}

/** Rows done before that a ready one may repeat, by identity; only those of the same owner and name are read again. */
async function doneBefore(planned: readonly PlannedUpload[], options: PlanOptions): Promise<Map<string, UploadRow>> {
  const ready = new Set(planned.flatMap(({ kind, row }) => (kind === 'ready' ? [ownerAndName(row)] : [])));
  const found = new Map<string, UploadRow>();
  for (const { kind, row } of planned) {
    if (kind !== 'done' || row.file === '-' || !ready.has(ownerAndName(row))) continue;
    const upload = await check(row, options).catch(() => undefined);
    if (upload !== undefined) found.set(identityOf(upload), row);
  }
  return found;
}

/** The owner and the name of a row, as far as they are known without its content. */
function ownerAndName({ file, name, patient, perioExam }: UploadRow): string {
  return JSON.stringify([patient ?? '', perioExam ?? '', defaultName(name ?? file).toLowerCase()]);
}

function identityOf({ owner, storedName, sha256 }: ReadyUpload): string {
  return JSON.stringify([owner.field, owner.id, storedName.toLowerCase(), sha256]);
}

/** One content for one owner under one name is one document: a row that repeats another is refused, not sent twice. */
function refuseRepeated(planned: readonly PlannedUpload[], done: ReadonlyMap<string, UploadRow>): PlannedUpload[] {
  const first = new Map(done);
  return planned.map((entry) => {
    if (entry.kind !== 'ready') return entry;
    const { row, upload } = entry;
    const key = identityOf(upload);
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, row);
      return entry;
    }
    const where = earlier.location === undefined ? earlier.file : `${earlier.file} (${earlier.location})`;
    const message = `${row.file}: same content, owner and name as ${where}; it is uploaded once.`;
    const failure = localFailure('usage.invalid', message, { hint: 'Remove it, or give it another name.' });
    return { kind: 'refused', row, failure };
  });
}

/** Where uploads go: the server and the organization. */
export interface UploadTarget {
  readonly baseUrl: string;
  readonly organization: string;
}

/** Idempotency key (D46), the same in every run; `generation` counts documents of earlier keys that were deleted. */
export function keyOf(upload: ReadyUpload, target: UploadTarget, generation: number): string {
  return `molar-${digest(upload, target, generation)}`;
}

/** The key of an upload in the journal: the same parts, whatever was deleted since. */
export function journalKeyOf(upload: ReadyUpload, target: UploadTarget): string {
  return digest(upload, target, 'journal');
}

function digest({ owner, storedName, sha256 }: ReadyUpload, target: UploadTarget, use: number | string): string {
  const parts = [target.baseUrl, target.organization, owner.field, owner.id, storedName, sha256, use];
  return hash('sha256', JSON.stringify(parts), 'hex');
}
