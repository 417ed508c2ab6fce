import { basename, dirname, join } from 'node:path';
import type { Failure } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import type { ApiClient } from '../../transport/client.ts';
import type { LinkFetching } from '../links/fetchlink.ts';
import { keepUnfinished, ResultsFile } from './resultsfile.ts';
import { StoredDocuments } from './stored.ts';
import { settledBefore, uploadAll } from './uploadall.ts';
import type { OnBytes } from './uploadbody.ts';
import type { Uploaded } from './uploadfile.ts';
import { openJournal } from './uploadjournal.ts';
import type { PreparedUploads } from './uploadprepare.ts';
import { countedFiles, failureOfRun, repeatNotes } from './uploadreport.ts';

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

/** Uploads what is ready and keeps the results CSV; interrupted or not, every file's outcome is in it at the end. */
export async function runUploads(prepared: PreparedUploads, deps: UploadRunDependencies): Promise<UploadReport> {
  const { plan, files } = prepared;
  const { journal, close } = await openJournal(files.journal);
  try {
    const rows = plan.map(({ row }) => row);
    const aside = await keepUnfinished(files.results, prepared.earlier, rows);
    if (aside !== undefined)
      await deps.note(
        `Earlier results with ${countedFiles(aside.files)} not uploaded are kept as ${join(dirname(prepared.results), basename(aside.path))}.`,
      );
    const before = plan.map((planned) => ({ row: planned.row, outcome: settledBefore(planned).outcome }));
    const file = new ResultsFile(files.results, before, deps.now);
    await file.write();
    const { client, fetching, onBytes, onSkipped } = deps;
    const uploading = {
      ...{ client, journal, stored: new StoredDocuments(client, fetching) },
      ...(fetching.signal && { signal: fetching.signal }),
      ...(onBytes && { onBytes }),
      ...(onSkipped && { onSkipped }),
    };
    const ledger = {
      settled: async (index: number, uploaded: Uploaded) => {
        deps.onSettled?.(uploaded);
        await file.settled(index, uploaded);
      },
    };
    const options = { concurrency: deps.concurrency, ledger };
    const results = await uploadAll(plan, uploading, options).finally(() => file.write());
    for (const note of repeatNotes(plan, results)) await deps.note(note);
    const documents = results.flatMap(({ document }) => (document === undefined ? [] : [document]));
    const hint = `Put right what is listed, then run the rest with --manifest ${prepared.results}.`;
    return { documents, results, failure: failureOfRun(plan, results, { what: 'not uploaded', hint }) };
  } finally {
    await close();
  }
}
