import { operationOf, pathOf } from '../../../catalog/catalog.ts';
import { EXIT } from '../../../catalog/failures.ts';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { documents } from '../../../catalog/resources/documents.ts';
import { Failure, localFailure } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import { ApiFailure } from '../../transport/apifailure.ts';
import type { ApiClient } from '../../transport/client.ts';
import { reasonFor } from '../outcome.ts';
import { type CountedBody, countedBody, type OnBytes } from './body.ts';
import { hasTagsAndDate } from './documentmatch.ts';
import { journalKeyOf, keyOf, type ReadyUpload } from './plan.ts';
import type { StoredDocuments } from './stored.ts';
import type { UploadJournal } from './uploadjournal.ts';
import type { EarlierOutcome, UploadOutcome } from './uploadrow.ts';

/** What uploading a file needs; shared by all files of a run. */
export interface Uploading {
  readonly client: ApiClient;
  readonly stored: StoredDocuments;
  readonly journal: UploadJournal;
  readonly signal?: AbortSignal;
  readonly onBytes?: OnBytes;
  /** Called at the end of each file with the number of its bytes that did not have to be sent. */
  readonly onSkipped?: (bytes: number) => void;
}

/** How an upload ended. `document` when it is stored; `repeated`: by an earlier run, not by this one. */
export interface Uploaded {
  readonly outcome: UploadOutcome;
  readonly document?: Row;
  readonly repeated: boolean;
  readonly failure?: Failure;
}

/** A timeout, and a first request with the same key that still runs (D46): the file may be stored all the same. */
const DOUBTFUL: readonly number[] = [408, 409];

/** Maximum number of keys tried in a row whose documents were deleted: more is no accident. */
const MAX_GENERATIONS = 8;

/**
 * Uploads one file so that it is stored exactly once: recorded in the journal before it is sent, under a key that is the
 * same in every run, and looked for on the server when the outcome of an attempt is unknown, of this run or an earlier
 * one. Never throws: what went wrong is in the outcome.
 */
export async function uploadFile(upload: ReadyUpload, uploading: Uploading): Promise<Uploaded> {
  const run = new FileUpload(upload, uploading);
  try {
    return await run.upload();
  } catch (cause) {
    return await run.failed(cause);
  } finally {
    uploading.onSkipped?.(upload.source.size - run.body.sent);
  }
}

class FileUpload {
  readonly body: CountedBody;
  private attempts: number;
  /** A POST went out whose outcome is not known yet. */
  private inDoubt = false;
  /** An attempt had an unknown outcome, so that the server was searched. */
  private hasSearched = false;
  /** The failure certainly left no document behind. */
  private refused = false;
  private readonly target: ReadyUpload;
  private readonly key: string;

  constructor(
    upload: ReadyUpload,
    private readonly uploading: Uploading,
  ) {
    this.target = upload;
    this.body = countedBody(upload.fields, upload, uploading.onBytes);
    this.key = journalKeyOf(upload, uploading.client);
    this.attempts = upload.row.earlier?.attempts ?? 0;
  }

  async upload(): Promise<Uploaded> {
    this.uploading.signal?.throwIfAborted();
    const found = await this.ofEarlierRuns();
    if (found !== undefined && !hasTagsAndDate(found, this.target)) throw storedOtherwise(found);
    if (found !== undefined) return this.done(found, true);
    for (let generation = 0; generation < MAX_GENERATIONS; generation++) {
      const uploaded = await this.post(generation);
      if (uploaded !== undefined) return uploaded;
    }
    throw localFailure('response.malformed', 'The server returned only documents that were deleted since.');
  }

  /** The document that an earlier run stored: known from the journal, or looked for when an outcome was unknown. */
  private async ofEarlierRuns(): Promise<Row | undefined> {
    const { stored, journal } = this.uploading;
    const { earlier } = this.target.row;
    const entry = journal.entryOf(this.key);
    if (entry?.state === 'stored') return stored.known(entry.id, this.target);
    if (entry?.state !== 'sending' && !this.mayBeStored(earlier)) return undefined;
    this.inDoubt = entry?.state === 'sending' || earlier?.status !== 'failed';
    const found = await stored.find(this.target, { noted: earlier?.id });
    this.inDoubt = false;
    return found;
  }

  /** Whether a results file makes a search necessary: not for what its own journal would know. */
  private mayBeStored(earlier: EarlierOutcome | undefined): boolean {
    if (earlier === undefined) return false;
    const isOpen = earlier.status === 'pending' || earlier.status === 'failed';
    return !isOpen || earlier.elsewhere === true || !this.uploading.journal.isContinued;
  }

  async failed(cause: unknown): Promise<Uploaded> {
    const { journal, signal } = this.uploading;
    if (this.refused) await journal.note(this.key, { state: 'refused' }).catch(() => undefined);
    const isInterrupted = signal?.aborted === true;
    const failure = failureOf(cause, isInterrupted);
    const status = this.inDoubt ? 'unknown' : isInterrupted ? 'pending' : 'failed';
    const doubt = status === 'unknown' ? ' It may have been stored; the next run looks first.' : '';
    const request = failure.requestId === null ? '' : ` [request ${failure.requestId}]`;
    const error = `${reasonFor(this.target.row.file, failure.message)}${doubt}${request}`;
    const { attempts } = this;
    const outcome = { status, id: null, storedName: null, attempts, error, exitCode: failure.exitCode } as const;
    return { outcome, repeated: false, failure };
  }

  /** The attempts with one key; undefined when its document was deleted since and another key has to be used. */
  private async post(generation: number): Promise<Uploaded | undefined> {
    const { client, stored, journal, signal } = this.uploading;
    await journal.note(this.key, { state: 'sending' });
    const first = ++this.attempts;
    this.inDoubt = true;
    try {
      const response = await client.request({
        method: 'POST',
        path: pathOf(operationOf(documents, 'create')),
        body: this.body,
        idempotencyKey: keyOf(this.target, client, generation),
        lookUp: () => this.lookUp(),
        onRetry: () => this.attempts++,
        ...(signal && { signal }),
      });
      this.inDoubt = false;
      const document = readDocument(response.data, response.requestId);
      if (response.headers['idempotency-replayed'] !== 'true') return this.done(document, false);
      const present = await stored.get(String(document.id));
      return present && (await this.done(present, this.attempts === first));
    } catch (cause) {
      this.assess(cause);
      if (!(cause instanceof ApiFailure) || !cause.problems.some(({ source }) => source === 'Idempotency-Key'))
        throw cause;
      return this.usedKey();
    }
  }

  private lookUp(): Promise<Row | undefined> {
    this.hasSearched = true;
    return this.uploading.stored.find(this.target, { exact: true });
  }

  /** Decides whether a failed POST may have stored a document: the client has searched where an attempt left that open. */
  private assess(cause: unknown): void {
    if (!(cause instanceof Failure) || this.uploading.signal?.aborted) return;
    this.inDoubt = cause.code === 'network.outcome_unknown';
    const isRefusal = cause instanceof ApiFailure && cause.status < 500 && !DOUBTFUL.includes(cause.status);
    this.refused = isRefusal && !this.hasSearched;
  }

  /** The key was used with another body: the same file was uploaded with other tags, date or crop. */
  private async usedKey(): Promise<undefined> {
    this.refused = false;
    const found = await this.uploading.stored.find(this.target);
    if (found !== undefined) throw storedOtherwise(found);
  }

  private async done(document: Row, repeated: boolean): Promise<Uploaded> {
    const { stored, journal } = this.uploading;
    const id = String(document.id);
    stored.claim(id, this.target);
    // The document is there even where the disk is full; the journal says "sending" then, and the next run looks.
    await journal.note(this.key, { state: 'stored', id }).catch(() => undefined);
    const storedName = typeof document.name === 'string' ? document.name : this.target.storedName;
    const { attempts } = this;
    const outcome = { status: 'done', id, storedName, attempts, error: null, exitCode: EXIT.done } as const;
    return { outcome, document, repeated };
  }
}

function failureOf(cause: unknown, isInterrupted: boolean): Failure {
  if (cause instanceof Failure) return cause;
  return isInterrupted
    ? localFailure('run.interrupted', 'Interrupted.', { cause })
    : localFailure('run.unexpected', String(cause), { cause });
}

function readDocument(data: unknown, requestId: string | null): Row {
  if (isPlainObject(data) && /^[1-9]\d*$/.test(String(data.id))) return data;
  throw localFailure('response.malformed', 'The server did not return the document it stored.', { requestId });
}

/** The failure of a file that is stored already, but not as it is wanted now: exit 5, nothing is changed. */
function storedOtherwise(document: Row): Failure {
  return new Failure(`It is stored already as document ${document.id} with other tags, date or crop.`, {
    code: 'field.conflict',
    exitCode: EXIT.refused,
    hint: `Change its tags with molar documents update ${document.id}, or upload it under another --name.`,
  });
}
