import { setMaxListeners } from 'node:events';
import { basename, dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { EXIT } from '../../../catalog/failures.ts';
import { quantity } from '../../count.ts';
import type { Failure } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import type { ApiClient } from '../../transport/client.ts';
import type { LinkFetching } from '../links/fetchlink.ts';
import type { OnBytes } from './body.ts';
import { journalKeyOf, type PlannedUpload, type ReadyUpload } from './plan.ts';
import { moveUnfinished, resultsFile } from './resultsfile.ts';
import { StoredDocuments } from './stored.ts';
import { type Uploaded, type Uploading, uploadFile } from './uploadfile.ts';
import { openJournal } from './uploadjournal.ts';
import type { PreparedUploads } from './uploadprepare.ts';
import { failureOfRun, nextStep, plannedOutcome, repeatNotes } from './uploadreport.ts';

/** What a run of uploads needs; the callbacks report its progress. */
export interface UploadRunDependencies {
  readonly client: ApiClient;
  readonly fetching: LinkFetching;
  readonly concurrency: number;
  readonly now: () => number;
  readonly onBytes?: OnBytes;
  readonly onSkipped?: (bytes: number) => void;
  readonly onSettled?: (uploaded: Uploaded) => void;
  readonly note: (text: string) => Promise<void>;
}

/** How a run ended: the documents of its files, and the failure to end with where not all are done. */
export interface UploadReport {
  readonly documents: readonly Row[];
  readonly results: readonly Uploaded[];
  readonly failure: Failure | undefined;
}

/** Uploads what is ready and writes the results CSV; interrupted or not, every file's outcome is in it at the end. */
export async function runUploads(prepared: PreparedUploads, deps: UploadRunDependencies): Promise<UploadReport> {
  const { plan, files } = prepared;
  const { journal, close } = await openJournal(files.journal);
  try {
    const rows = plan.map(({ row }) => row);
    const aside = await moveUnfinished(files.results, prepared.earlier, rows);
    if (aside !== undefined) {
      const path = join(dirname(prepared.results), basename(aside.path));
      await deps.note(`Earlier results with ${quantity(aside.files, 'file')} not uploaded were moved to ${path}.`);
    }
    const before = plan.map((planned) => ({ row: planned.row, outcome: plannedOutcome(planned).outcome }));
    const file = resultsFile(files.results, before, deps.now);
    await file.write();
    const { client, fetching, concurrency, onBytes, onSkipped } = deps;
    const uploading = {
      ...{ client, journal, stored: new StoredDocuments(client, fetching) },
      ...(fetching.signal && { signal: fetching.signal }),
      ...(onBytes && { onBytes }),
      ...(onSkipped && { onSkipped }),
    };
    const onSettled = async (index: number, uploaded: Uploaded) => {
      deps.onSettled?.(uploaded);
      await file.settled(index, uploaded.outcome);
    };
    const results = await uploadAll(plan, uploading, { concurrency, onSettled }).finally(() => file.write());
    for (const note of repeatNotes(plan, results)) await deps.note(note);
    const documents = results.flatMap(({ document }) => (document === undefined ? [] : [document]));
    const others = `Correct what is listed, then run the rest with --manifest ${prepared.results}.`;
    const isReviewed = results.every(
      ({ outcome }, at) => outcome.status === 'done' || plan[at]?.row.review !== undefined,
    );
    const hint = nextStep(others, prepared.review, isReviewed);
    return { documents, results, failure: failureOfRun(plan, results, { what: 'not uploaded', hint }) };
  } finally {
    await close();
  }
}

/**
 * Uploads what is ready, `concurrency` files at a time; results are in the order of the plan, `onSettled` is called as
 * they arrive. Files of one owner with the same bytes go one after another, so that none can be taken for another. When
 * the server does not accept the token, or does not respond several times in a row, the files left are not tried.
 */
export async function uploadAll(
  plan: readonly PlannedUpload[],
  uploading: Uploading,
  options: {
    readonly concurrency: number;
    readonly onSettled: (index: number, uploaded: Uploaded) => Promise<void>;
  },
): Promise<Uploaded[]> {
  const results = plan.map(plannedOutcome);
  claimKnown(plan, results, uploading);
  // Every file in progress listens to it.
  if (uploading.signal !== undefined) setMaxListeners(0, uploading.signal);
  const breaker = new UploadBreaker();
  const limit = pLimit(options.concurrency);
  const upload = async ({ index, ready }: QueuedUpload) => {
    const isStopped = breaker.cause !== undefined || uploading.signal?.aborted;
    const uploaded = isStopped ? notTried(ready, breaker.cause) : await uploadFile(ready, uploading);
    results[index] = uploaded;
    breaker.note(uploaded);
    await options.onSettled(index, uploaded);
  };
  const uploadGroup = async (group: readonly QueuedUpload[]) => {
    for (const queued of group) await upload(queued);
  };
  await Promise.all(groups(plan).map((group) => limit(uploadGroup, group)));
  return results;
}

/** Documents of other files must not be found for a file that is looked for. */
function claimKnown(plan: readonly PlannedUpload[], results: readonly Uploaded[], uploading: Uploading): void {
  const { stored, journal, client } = uploading;
  for (const { outcome } of results) if (outcome.id !== null) stored.claim(outcome.id);
  if (!journal.isContinued) return;
  for (const planned of plan) {
    if (planned.kind !== 'ready') continue;
    const entry = journal.entryOf(journalKeyOf(planned.upload, client));
    if (entry?.state === 'stored') stored.claim(entry.id, planned.upload);
  }
}

interface QueuedUpload {
  /** Index in the plan. */
  readonly index: number;
  readonly ready: ReadyUpload;
}

function groups(plan: readonly PlannedUpload[]): QueuedUpload[][] {
  const found = new Map<string, QueuedUpload[]>();
  for (const [index, planned] of plan.entries()) {
    if (planned.kind !== 'ready') continue;
    const { owner, sha256 } = planned.upload;
    const key = JSON.stringify([owner.field, owner.id, sha256]);
    const group = found.get(key) ?? [];
    group.push({ index, ready: planned.upload });
    found.set(key, group);
  }
  return [...found.values()];
}

/** The outcome of a file that is not sent: `cause` opened the circuit breaker, or the run was interrupted. */
function notTried({ row }: ReadyUpload, cause: Failure | undefined): Uploaded {
  const attempts = row.earlier?.attempts ?? 0;
  const error = cause === undefined ? null : `Not tried: ${cause.message}`;
  const exitCode = cause?.exitCode ?? EXIT.interrupted;
  const outcome = { status: 'pending' as const, id: null, storedName: null, attempts, error, exitCode };
  return { outcome, repeated: false, ...(cause && { failure: cause }) };
}

/** Maximum number of files that may fail one after another for the network before the rest is not tried. */
const MAX_NETWORK_FAILURES = 3;

/** The circuit breaker of uploads: local failures, of which each file has its own, do not open it. */
class UploadBreaker {
  cause: Failure | undefined;
  private networkFailures = 0;

  note({ failure }: Uploaded): void {
    this.networkFailures = failure?.exitCode === EXIT.network ? this.networkFailures + 1 : 0;
    if (failure?.exitCode === EXIT.auth || this.networkFailures >= MAX_NETWORK_FAILURES) this.cause ??= failure;
  }
}
