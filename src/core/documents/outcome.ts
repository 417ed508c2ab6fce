import { EXIT } from '../../catalog/failures.ts';
import type { UploadStatus } from './uploads/uploadrow.ts';

/** What became of one file: `error` in one line, `exitCode` the code of its cause (contract §4), 0 when done. */
export interface UploadOutcome {
  readonly status: UploadStatus;
  readonly id: string | null;
  readonly storedName: string | null;
  /** POSTs sent, those of earlier runs included. */
  readonly attempts: number;
  readonly error: string | null;
  readonly exitCode: number;
}

/**
 * Exit code of a run over several items: 0 when all are done, the code of the cause when none is done and all failed for
 * one, 6 otherwise (contract §2).
 */
export function exitCodeOfRun(codes: readonly number[]): number {
  const [first, ...others] = new Set(codes);
  if (first === undefined) return EXIT.done;
  return others.length === 0 ? first : EXIT.partial;
}

/** A failure's message for a line that names the file already. */
export function reasonFor(file: string, message: string): string {
  return message.startsWith(`${file}: `) ? message.slice(file.length + 2) : message;
}
