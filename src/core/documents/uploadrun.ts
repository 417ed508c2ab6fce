import { resolve } from 'node:path';
import { Failure, type FailureItem } from '../failure.ts';
import type { Row } from '../pages/walk.ts';
import type { ApiClient } from '../transport/client.ts';
import type { LinkFetching } from './fetchlink.ts';
import { MAX_CONTENT } from './limits.ts';
import { exitCodeOfRun } from './outcome.ts';
import { type PlannedUpload, planUploads } from './plan.ts';
import { keepUnfinished, ResultsFile, readEarlierResults, withEarlier } from './resultsfile.ts';
import { type SpooledSource, spool } from './spool.ts';
import { StoredDocuments } from './stored.ts';
import { settledBefore, uploadAll } from './uploadall.ts';
import type { Uploaded } from './uploadfile.ts';
import { readUploadInput, type UploadInput } from './uploadinput.ts';
import type { UploadRow } from './uploadrow.ts';

/** A run of uploads as the command line describes it. */
export interface UploadOrder extends Omit<UploadInput, 'own'> {
  /** Path of the results CSV, as given. */
  readonly results: string;
  readonly organization: string;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly temporaryFolder: string;
  readonly signal?: AbortSignal;
}

/** A run that was checked; nothing was sent or written. */
export interface PreparedUploads {
  readonly plan: readonly PlannedUpload[];
  /** For the person who runs it: what was left out, what was assumed. */
  readonly notes: readonly string[];
  readonly single: boolean;
  readonly results: string;
  readonly resultsPath: string;
  readonly earlier: readonly UploadRow[];
  readonly dispose: () => Promise<void>;
}

/** Reads and checks everything that is asked for. Throws a Failure (exit 2 or 9) only for what spoils the run as a whole. */
export async function prepareUploads(order: UploadOrder): Promise<PreparedUploads> {
  const { results, folder, organization, signal } = order;
  const resultsPath = resolve(folder, results);
  const input = await readUploadInput({ ...order, own: [results] });
  const earlier = await readEarlierResults(resultsPath, results);
  const rows = withEarlier(input.rows, earlier);
  let spooled: SpooledSource | undefined;
  const stdin = async () => {
    spooled = await spool(order.stdin, { label: '-', folder: order.temporaryFolder, limit: MAX_CONTENT });
    return spooled;
  };
  const plan = await planUploads(rows, { organization, folder, stdin, ...(signal && { signal }) });
  return {
    plan,
    notes: [...input.notes, ...notesOf(plan)],
    single: input.single,
    results,
    resultsPath,
    earlier,
    dispose: async () => spooled?.dispose(),
  };
}

export interface UploadRunDependencies {
  readonly client: ApiClient;
  readonly fetching: LinkFetching;
  readonly concurrency: number;
  readonly now: () => number;
  readonly onBytes?: (bytes: number) => void;
  readonly onSettled?: (uploaded: Uploaded) => void;
  readonly note: (text: string) => Promise<void>;
}

/** How a run ended: the documents of its files, and the failure to end with where not all are done. */
export interface UploadReport {
  readonly documents: readonly Row[];
  readonly results: readonly Uploaded[];
  readonly failure: Failure | undefined;
}

/** Uploads what is ready and keeps the results CSV; interrupted or not, every file's outcome is in it at the end. */
export async function runUploads(prepared: PreparedUploads, deps: UploadRunDependencies): Promise<UploadReport> {
  const { plan, resultsPath } = prepared;
  const rows = plan.map(({ row }) => row);
  const aside = await keepUnfinished(resultsPath, prepared.earlier, rows);
  if (aside !== undefined)
    await deps.note(`Earlier results with ${count(aside.files)} not uploaded are kept as ${aside.path}.`);
  const before = plan.map((planned) => ({ row: planned.row, outcome: settledBefore(planned).outcome }));
  const file = new ResultsFile(resultsPath, before, deps.now);
  await file.write();
  const { client, fetching, onBytes } = deps;
  const uploading = {
    client,
    stored: new StoredDocuments(client, fetching),
    ...(fetching.signal && { signal: fetching.signal }),
    ...(onBytes && { onBytes }),
  };
  const ledger = {
    settled: async (index: number, uploaded: Uploaded) => {
      deps.onSettled?.(uploaded);
      await file.settled(index, uploaded);
    },
  };
  const results = await uploadAll(plan, uploading, { concurrency: deps.concurrency, ledger }).finally(() =>
    file.write(),
  );
  for (const note of repeatNotes(plan, results)) await deps.note(note);
  const documents = results.flatMap(({ document }) => (document === undefined ? [] : [document]));
  const hint = `Put right what is listed, then run the rest with --manifest ${prepared.results}.`;
  return { documents, results, failure: failureOfRun(plan, results, hint) };
}

/** More files than this are counted instead of named. */
const NAMED = 5;

function repeatNotes(plan: readonly PlannedUpload[], results: readonly Uploaded[]): string[] {
  const notes = results.flatMap(({ repeated, document }, index) =>
    repeated && document !== undefined
      ? [`${plan[index]?.row.file}: stored already as document ${document.id}, not stored again.`]
      : [],
  );
  return notes.length <= NAMED ? notes : [`${count(notes.length)} stored already, not stored again.`];
}

/** The failure of the checks alone, undefined when every file may be sent. */
export function failureOfChecks(plan: readonly PlannedUpload[]): Failure | undefined {
  const results = plan.map((planned) => {
    const before = settledBefore(planned);
    const { outcome } = before;
    return planned.kind === 'ready'
      ? { ...before, outcome: { ...outcome, status: 'done' as const, exitCode: 0 } }
      : before;
  });
  return failureOfRun(plan, results, 'Put right what is listed.');
}

function notesOf(plan: readonly PlannedUpload[]): string[] {
  const done = plan.filter(({ kind }) => kind === 'done').length;
  const types = plan.flatMap((planned) =>
    planned.kind === 'ready' && planned.upload.note !== undefined ? [planned.upload.note] : [],
  );
  return done === 0 ? types : [...types, `${count(done)} done in an earlier run, not uploaded again.`];
}

/** The failure a run ends with (contract §4): that of its only file, or one that lists every file that is not done. */
function failureOfRun(plan: readonly PlannedUpload[], results: readonly Uploaded[], hint: string): Failure | undefined {
  const exitCode = exitCodeOfRun(results.map(({ outcome }) => outcome.exitCode));
  const [only] = results;
  if (exitCode === 0) return undefined;
  if (results.length === 1 && only?.failure !== undefined) return only.failure;
  const items = results.flatMap(({ outcome, failure }, index): FailureItem[] => {
    if (outcome.status === 'done') return [];
    const { file = '', place } = plan[index]?.row ?? {};
    const source = place === undefined ? file : `${file} (${place})`;
    return [{ code: failure?.code ?? 'run.partial', source, description: outcome.error ?? 'Not tried.' }];
  });
  const codes = new Set(items.map(({ code }) => code));
  const code = codes.size === 1 && exitCode !== 6 ? items[0]?.code : undefined;
  return new Failure(`${items.length} of ${count(results.length)} not uploaded.`, {
    code: code ?? 'run.partial',
    exitCode,
    items,
    hint,
  });
}

function count(files: number): string {
  return files === 1 ? '1 file' : `${files} files`;
}
