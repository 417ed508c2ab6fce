import { join } from 'node:path';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { removeDurably } from '../../filesystem/durable.ts';
import { jsonOf } from '../jsontext.ts';
import { guarded, writeAtomicFile } from '../output/atomicfile.ts';
import { readOwnFile } from '../output/ownfile.ts';
import type { Bookmark } from './bookmark.ts';
import type { Receipt } from './receipt.ts';

/** A file that an interrupted run of `molar export` completed. */
export interface FinishedFile {
  /** What was exported into it, as text to compare; the receipt names the file. */
  readonly task: string;
  readonly receipt: Receipt;
  /** What its bookmark is to be once the complete run has ended. */
  readonly bookmark: Bookmark | null;
}

/** An interrupted run of `molar export` into a folder, for `--resume`. */
export interface FolderState {
  readonly version: 1;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly startedAt: string;
  /** The time in the names of its files of changes (`changesTime`). */
  readonly changesTime: string;
  /** By the name of the complete file. */
  readonly finished: Readonly<Record<string, FinishedFile>>;
}

/** Path of the state of a folder. */
export function statePath(folder: string): string {
  return join(folder, '.molar-export.json');
}

/** The interrupted run in a folder; undefined where there is none, or none that this user left. */
export async function readState(folder: string): Promise<FolderState | undefined> {
  const path = statePath(folder);
  const value = jsonOf((await guarded(`read ${path}`, () => readOwnFile(path))) ?? '');
  const isKnown =
    isPlainObject(value) &&
    value.version === 1 &&
    isPlainObject(value.finished) &&
    [value.startedAt, value.changesTime].every((text) => typeof text === 'string');
  return isKnown ? (value as unknown as FolderState) : undefined;
}

/** Throws a Failure with exit code 9. */
export function writeState(folder: string, state: FolderState): Promise<void> {
  return writeAtomicFile(statePath(folder), `${JSON.stringify(state)}\n`);
}

/**
 * Ends what can be resumed, for good: after a power cut the state of a run that has said it is complete would come back,
 * and the next run would complete that one instead of asking for anything. Throws a Failure with exit code 9.
 */
export async function removeState(folder: string): Promise<void> {
  await guarded(`remove ${statePath(folder)}`, () => removeDurably(statePath(folder)));
}
