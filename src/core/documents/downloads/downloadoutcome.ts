import { EXIT } from '../../../catalog/failures.ts';
import { id, integer } from '../../../catalog/fields/numbers.ts';
import { choice, text } from '../../../catalog/fields/text.ts';
import { readOnly } from '../../../catalog/record.ts';
import { countText, quantity } from '../../count.ts';
import { Failure } from '../../failure.ts';
import { exitCodeOfRun } from '../outcome.ts';

/** A downloaded document: its file as given on the command line, the size in bytes and the SHA-256 in hex. */
export interface DownloadedFile {
  readonly id: number;
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  /** `skipped`: the file was there already, with the same content. */
  readonly status: 'downloaded' | 'skipped';
}

/** `DownloadedFile` as output knows it. */
export const downloadedFields = {
  id: readOnly(id(), 'Document id'),
  name: readOnly(text(), 'Stored name'),
  file: readOnly(text(), 'Path of the file'),
  bytes: readOnly(integer(), 'Size'),
  sha256: readOnly(text(), 'SHA-256 of the content'),
  status: readOnly(choice(['downloaded', 'skipped']), 'Whether it was downloaded now, or there already'),
} as const;

/** The result of one document; `absent`: a filter chose it and it has no such variant, which is no failure. */
export type DownloadResult = { readonly id: number } & (
  | { readonly file: DownloadedFile }
  | { readonly failure: Failure }
  | { readonly absent: true }
);

/** Counts the results of a run; only failures are stored. */
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
   * The failure that the run ends with (contract §4), undefined when all is done. `cut` is what prevented the run from
   * seeing all documents; its exit code is then the run's, since nobody knows how many are missing.
   */
  failure(cut?: Failure): Failure | undefined {
    const cause = cut ?? this.failed[0]?.failure;
    const seen = this.failed.length + this.done;
    // A failure that is all there is to report stands for itself.
    if (cause === undefined || seen + (cut === undefined ? 0 : 1) === 1) return cause;
    const codes = this.failed.map(({ failure }) => failure.exitCode);
    const exitCode = cut?.exitCode ?? exitCodeOfRun(this.done > 0 ? [...codes, EXIT.done] : codes);
    return new Failure(this.message(seen, cut), {
      code: exitCode === cause.exitCode ? cause.code : 'run.partial',
      exitCode,
      items: this.failed.map(({ id, failure: { code, message } }) => ({
        code,
        source: String(id),
        description: message,
      })),
      requestId: cut?.requestId ?? null,
      hint: 'Run the same command again: files that are there already are skipped.',
    });
  }

  private message(seen: number, cut: Failure | undefined): string {
    const failed = `${countText(this.failed.length)} of ${countText(seen)} documents not downloaded.`;
    if (cut === undefined) return failed;
    const stop = `Stopped after ${quantity(seen, 'document')}, there may be more: ${cut.message}`;
    return this.failed.length === 0 ? stop : `${failed} ${stop}`;
  }
}
