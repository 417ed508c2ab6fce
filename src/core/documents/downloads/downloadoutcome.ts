import { EXIT } from '../../../catalog/failures.ts';
import { id, integer } from '../../../catalog/fields/numbers.ts';
import { choice, text } from '../../../catalog/fields/text.ts';
import { readOnly } from '../../../catalog/record.ts';
import { Failure, type FailureItem } from '../../failure.ts';
import { exitCodeOfRun } from '../outcome.ts';

/** A document whose file is there: where, as given on the command line, its size in bytes and its SHA-256 in hex. */
export interface DownloadedFile {
  readonly id: number;
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  /** `skipped`: it was there already, the same. */
  readonly status: 'downloaded' | 'skipped';
}

/** `DownloadedFile` as output knows it. */
export const downloadedFields = {
  id: readOnly(id(), 'Document id'),
  name: readOnly(text(), 'Stored name'),
  file: readOnly(text(), 'Where it is'),
  bytes: readOnly(integer(), 'Size'),
  sha256: readOnly(text(), 'SHA-256 of the content'),
  status: readOnly(choice(['downloaded', 'skipped']), 'Whether it came now, or was there already'),
} as const;

/** What became of one document; `absent`: it was chosen by a filter and has no such variant, which is no failure. */
export type DownloadResult = { readonly id: number } & (
  | { readonly file: DownloadedFile }
  | { readonly failure: Failure }
  | { readonly absent: true }
);

/** Counts what becomes of the documents of a run, keeping only what failed. */
export class DownloadTally {
  done = 0;
  skipped = 0;
  absent = 0;
  private readonly failed: { readonly id: number; readonly failure: Failure }[] = [];

  note(result: DownloadResult): void {
    if ('failure' in result) this.failed.push(result);
    else if ('absent' in result) this.absent++;
    else this.done++;
    if ('file' in result && result.file.status === 'skipped') this.skipped++;
  }

  /**
   * The failure that the run ends with (contract §4), undefined when all is done. `cut` is what kept the run from
   * seeing all documents; its exit code is then the run's, since nobody knows how many are missing.
   */
  failure(cut?: Failure): Failure | undefined {
    const [first] = this.failed;
    if (cut !== undefined && first === undefined && this.done === 0) return cut;
    if (first === undefined && cut === undefined) return undefined;
    const seen = this.failed.length + this.done;
    if (first !== undefined && cut === undefined && seen === 1) return first.failure;
    const own = exitCodeOfRun([
      ...this.failed.map(({ failure }) => failure.exitCode),
      ...(this.done > 0 ? [EXIT.done] : []),
    ]);
    const cause = cut ?? first?.failure;
    const exitCode = cut?.exitCode ?? own;
    return new Failure(this.message(seen, cut), {
      code: exitCode === cause?.exitCode ? cause.code : 'run.partial',
      exitCode,
      items: this.failed.map(({ id, failure }) => item(String(id), failure)),
      requestId: cut?.requestId ?? null,
      hint: 'Run the same line again: what is there already is skipped.',
    });
  }

  private message(seen: number, cut: Failure | undefined): string {
    const failed = `${this.failed.length} of ${seen} documents not downloaded.`;
    if (cut === undefined) return failed;
    const stop = `Stopped after ${seen} documents, there may be more: ${cut.message}`;
    return this.failed.length === 0 ? stop : `${failed} ${stop}`;
  }
}

function item(source: string, { code, message }: Failure): FailureItem {
  return { code, source, description: message };
}
