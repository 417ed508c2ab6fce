import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import { EXIT } from '../../../catalog/failures.ts';
import type { Failure } from '../../failure.ts';
import { reasonFor, type UploadOutcome } from '../outcome.ts';
import type { PlannedUpload, ReadyUpload } from './plan.ts';
import { type Uploaded, type Uploading, uploadFile } from './uploadfile.ts';
import { journalKeyOf } from './uploadkey.ts';

/** Told how the files of a run fare, in the order in which it happens; `index` is that of the plan. */
export interface UploadLedger {
  readonly settled: (index: number, uploaded: Uploaded) => Promise<void>;
}

/** Files that may fail one after another because nothing answers, before the rest is left alone. */
const DEAD_LINE = 3;

/**
 * Uploads what is ready, `concurrency` files at a time; results stand in the order of the plan. Files of one owner with
 * the same bytes go one after another, so that none can be taken for another. When the server does not accept the
 * token, or does not answer several times in a row, the files left are not tried.
 */
export async function uploadAll(
  plan: readonly PlannedUpload[],
  uploading: Uploading,
  options: { readonly concurrency: number; readonly ledger: UploadLedger },
): Promise<Uploaded[]> {
  const results = plan.map(settledBefore);
  claimKnown(plan, results, uploading);
  // Every file that is under way listens to it.
  if (uploading.signal !== undefined) setMaxListeners(0, uploading.signal);
  const breaker = new Breaker();
  const limit = pLimit(options.concurrency);
  const upload = async ({ index, ready }: Place) => {
    const stopped = breaker.open ?? (uploading.signal?.aborted ? INTERRUPTED : undefined);
    const uploaded = stopped === undefined ? await uploadFile(ready, uploading) : notTried(ready, stopped);
    results[index] = uploaded;
    breaker.note(uploaded);
    await options.ledger.settled(index, uploaded);
  };
  await Promise.all(
    groups(plan).map((group) =>
      limit(async () => {
        for (const place of group) await upload(place);
      }),
    ),
  );
  return results;
}

/** Documents of other files must not be found for a file that is looked for. */
function claimKnown(plan: readonly PlannedUpload[], results: readonly Uploaded[], uploading: Uploading): void {
  const { stored, journal, client } = uploading;
  for (const { outcome } of results) if (outcome.status === 'done' && outcome.id !== null) stored.claim(outcome.id);
  if (!journal.isContinued) return;
  for (const planned of plan) {
    if (planned.kind !== 'ready') continue;
    const entry = journal.entryOf(journalKeyOf(planned.upload, client));
    if (entry?.state === 'stored') stored.claim(entry.id, planned.upload);
  }
}

/** The outcome of a row before anything is sent: done or refused as the plan says, otherwise pending. */
export function settledBefore(planned: PlannedUpload): Uploaded {
  if (planned.kind === 'done') {
    const { id = null, storedName = null, attempts } = planned.earlier;
    return { outcome: { status: 'done', id, storedName, attempts, error: null, exitCode: EXIT.done }, repeated: true };
  }
  const attempts = planned.row.earlier?.attempts ?? 0;
  const nothing = { id: null, storedName: null, attempts };
  if (planned.kind === 'ready') {
    return { outcome: { status: 'pending', ...nothing, error: null, exitCode: EXIT.interrupted }, repeated: false };
  }
  const { failure, row } = planned;
  const error = reasonFor(row.file, failure.message);
  const outcome: UploadOutcome = { status: 'failed', ...nothing, error, exitCode: failure.exitCode };
  return { outcome, repeated: false, failure };
}

interface Place {
  readonly index: number;
  readonly ready: ReadyUpload;
}

function groups(plan: readonly PlannedUpload[]): Place[][] {
  const found = new Map<string, Place[]>();
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

interface Stop {
  readonly why: string;
  readonly exitCode: number;
  readonly failure?: Failure | undefined;
}

const INTERRUPTED: Stop = { why: 'Interrupted.', exitCode: EXIT.interrupted };

function notTried({ row }: ReadyUpload, stop: Stop): Uploaded {
  const attempts = row.earlier?.attempts ?? 0;
  const error = stop === INTERRUPTED ? null : `Not tried: ${stop.why}`;
  const outcome: UploadOutcome = {
    status: 'pending',
    id: null,
    storedName: null,
    attempts,
    error,
    exitCode: stop.exitCode,
  };
  return { outcome, repeated: false, ...(stop.failure && { failure: stop.failure }) };
}

class Breaker {
  open: Stop | undefined;
  private dead = 0;

  note({ outcome, failure }: Uploaded): void {
    if (this.open !== undefined) return;
    this.dead = outcome.exitCode === EXIT.network ? this.dead + 1 : 0;
    if (outcome.exitCode === EXIT.auth || this.dead >= DEAD_LINE) {
      this.open = { why: failure?.message ?? 'the server does not answer.', exitCode: outcome.exitCode, failure };
    }
  }
}
