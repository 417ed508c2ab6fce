import { operationOf, pathOf } from '../../../catalog/catalog.ts';
import { EXIT } from '../../../catalog/failures.ts';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { documents } from '../../../catalog/resources/documents.ts';
import { Failure, localFailure } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import { ApiFailure } from '../../transport/apifailure.ts';
import type { ApiClient } from '../../transport/client.ts';
import { reasonFor, type UploadOutcome } from '../outcome.ts';
import type { ReadyUpload } from './plan.ts';
import { hasWishes } from './sought.ts';
import type { StoredDocuments } from './stored.ts';
import { type OnBytes, UploadBody } from './uploadbody.ts';
import type { UploadJournal } from './uploadjournal.ts';
import { journalKeyOf, keyOf } from './uploadkey.ts';
import type { EarlierOutcome } from './uploadrow.ts';

export interface Uploading {
  readonly client: ApiClient;
  readonly stored: StoredDocuments;
  readonly journal: UploadJournal;
  readonly signal?: AbortSignal;
  readonly onBytes?: OnBytes;
  /** Told at the end of each file how many of its bytes did not have to go out. */
  readonly onSkipped?: (bytes: number) => void;
}

/** How an upload ended. `document` when it is stored; `repeated`: by an earlier run, not by this one. */
export interface Uploaded {
  readonly outcome: UploadOutcome;
  readonly document?: Row;
  readonly repeated: boolean;
  readonly failure?: Failure;
}

/** A timeout, and a first request with the same key that still runs (D46): the file may be stored for all that. */
const DOUBTFUL: readonly number[] = [408, 409];

/** Deleted documents whose keys still answer; more than these in a row is no accident. */
const GENERATIONS = 8;

/**
 * Uploads one file so that it is stored exactly once: noted in the journal before it is sent, under a key that is the
 * same in every run, and looked for on the server when the outcome of an attempt is unknown, of this run or an earlier
 * one. Never throws: what went wrong is in the outcome.
 */
export async function uploadFile(upload: ReadyUpload, uploading: Uploading): Promise<Uploaded> {
  const run = new Run(upload, uploading);
  try {
    return await run.upload();
  } catch (cause) {
    return await run.failed(cause);
  } finally {
    uploading.onSkipped?.(upload.source.size - run.body.sent);
  }
}

class Run {
  readonly body: UploadBody;
  private attempts: number;
  /** A POST went out and nothing has told yet whether it was done. */
  private inDoubt = false;
  /** An attempt left it open whether it was done, so that the server was looked at. */
  private hasLooked = false;
  /** Whether what failed leaves no document behind for sure. */
  private refused = false;
  private readonly target: ReadyUpload;
  private readonly key: string;
  private readonly uploading: Uploading;

  constructor(upload: ReadyUpload, uploading: Uploading) {
    this.target = upload;
    this.uploading = uploading;
    this.body = new UploadBody(upload, uploading.onBytes);
    this.key = journalKeyOf(upload, uploading.client);
    this.attempts = upload.row.earlier?.attempts ?? 0;
  }

  async upload(): Promise<Uploaded> {
    this.uploading.signal?.throwIfAborted();
    const found = await this.ofEarlierRuns();
    if (found !== undefined && !hasWishes(found, this.target)) throw storedOtherwise(found);
    if (found !== undefined) return this.done(found, true);
    for (let generation = 0; generation < GENERATIONS; generation++) {
      const ended = await this.post(generation);
      if (ended !== undefined) return ended;
    }
    throw localFailure('response.malformed', 'The server keeps answering with documents that are gone.');
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

  /** Whether a results file makes a look on the server necessary: not for what its own journal would know. */
  private mayBeStored(earlier: EarlierOutcome | undefined): boolean {
    if (earlier === undefined) return false;
    const isOpen = earlier.status === 'pending' || earlier.status === 'failed';
    return !isOpen || earlier.elsewhere === true || !this.uploading.journal.isContinued;
  }

  async failed(cause: unknown): Promise<Uploaded> {
    if (this.refused) await this.uploading.journal.refused(this.key).catch(() => undefined);
    const interrupted = this.uploading.signal?.aborted === true;
    const failure = failureOf(cause, interrupted);
    const status = this.inDoubt ? 'unknown' : interrupted ? 'pending' : 'failed';
    const where = failure.requestId === null ? '' : ` [request ${failure.requestId}]`;
    const doubt = status === 'unknown' ? ' It may have been stored; the next run looks first.' : '';
    const error = `${reasonFor(this.target.row.file, failure.message)}${doubt}${where}`;
    const { exitCode } = failure;
    const outcome: UploadOutcome = { status, id: null, storedName: null, attempts: this.attempts, error, exitCode };
    return { outcome, repeated: false, failure };
  }

  /** One key's worth of attempts; undefined when its document was deleted since and another key has to be used. */
  private async post(generation: number): Promise<Uploaded | undefined> {
    const { client, stored } = this.uploading;
    await this.uploading.journal.sending(this.key);
    const first = ++this.attempts;
    this.inDoubt = true;
    try {
      const answer = await client.request({
        method: 'POST',
        path: pathOf(operationOf(documents, 'create')),
        body: this.body,
        idempotencyKey: keyOf(this.target, client, generation),
        lookUp: () => this.lookUp(),
        onRetry: () => this.attempts++,
        ...(this.uploading.signal && { signal: this.uploading.signal }),
      });
      this.inDoubt = false;
      const document = readDocument(answer.data, answer.requestId);
      if (answer.headers['idempotency-replayed'] !== 'true') return this.done(document, false);
      const present = await stored.get(String(document.id));
      return present === undefined ? undefined : await this.done(present, this.attempts === first);
    } catch (cause) {
      this.settle(cause);
      if (!(cause instanceof ApiFailure) || !cause.problems.some(({ source }) => source === 'Idempotency-Key'))
        throw cause;
      return this.usedKey();
    }
  }

  private lookUp(): Promise<Row | undefined> {
    this.hasLooked = true;
    return this.uploading.stored.find(this.target, { asWished: true });
  }

  /** Notes what a failed POST may have stored: the client has looked on the server where an attempt left that open. */
  private settle(cause: unknown): void {
    if (!(cause instanceof Failure) || this.uploading.signal?.aborted) return;
    this.inDoubt = cause.code === 'network.outcome_unknown';
    const isRefusal = cause instanceof ApiFailure && cause.status < 500 && !DOUBTFUL.includes(cause.status);
    this.refused = isRefusal && !this.hasLooked;
  }

  /** The key was used with another body: the same file was uploaded with other tags, date or crop. */
  private async usedKey(): Promise<undefined> {
    this.refused = false;
    const found = await this.uploading.stored.find(this.target);
    if (found === undefined) return undefined;
    throw storedOtherwise(found);
  }

  private async done(document: Row, repeated: boolean): Promise<Uploaded> {
    const id = String(document.id);
    this.uploading.stored.claim(id, this.target);
    // The document is there even where the disk is full; the journal says "sending" then, and the next run looks.
    await this.uploading.journal.stored(this.key, id).catch(() => undefined);
    const storedName = typeof document.name === 'string' ? document.name : this.target.storedName;
    const outcome: UploadOutcome = {
      status: 'done',
      id,
      storedName,
      attempts: this.attempts,
      error: null,
      exitCode: EXIT.done,
    };
    return { outcome, document, repeated };
  }
}

function failureOf(cause: unknown, interrupted: boolean): Failure {
  if (cause instanceof Failure) return cause;
  return localFailure(
    interrupted ? 'run.interrupted' : 'run.unexpected',
    interrupted ? 'Interrupted.' : String(cause),
    { cause },
  );
}

function readDocument(data: unknown, requestId: string | null): Row {
  if (isPlainObject(data) && /^[1-9]\d*$/.test(String(data.id))) return data;
  throw localFailure('response.malformed', 'The server did not answer with the document it stored.', { requestId });
}

/** A file that is stored already, but not as it is wanted now: exit 5, nothing is changed. */
function storedOtherwise(document: Row): Failure {
  return new Failure(`It is stored already as document ${document.id} with other tags, date or crop.`, {
    code: 'field.conflict',
    exitCode: EXIT.refused,
    hint: `Change its tags with molar documents update ${document.id}, or upload it under another --name.`,
  });
}
