import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { guarded, ignoreMissing, writeWholeFile } from '../output/atomicfile.ts';
import type { Bookmark } from './bookmark.ts';
import type { Receipt } from './receipt.ts';

/** A file that an unfinished run of `molar export` has finished. */
export interface FinishedFile {
  /** What was exported into it, in a form that only has to be compared; the receipt names the file. */
  readonly task: string;
  readonly receipt: Receipt;
  /** Where its bookmark is to stand once the whole run is complete. */
  readonly bookmark: Bookmark | null;
}

/** An unfinished run of `molar export` into a folder, for `--resume`. */
export interface FolderState {
  readonly version: 1;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly startedAt: string;
  /** The time in the names of its files of changes (`changesTime`). */
  readonly changesTime: string;
  /** By the name of the whole file. */
  readonly finished: Readonly<Record<string, FinishedFile>>;
}

export function statePath(folder: string): string {
  return join(folder, '.molar-export.json');
}

/** The unfinished run in a folder; undefined where there is none, or none that can be read. */
export async function readState(folder: string): Promise<FolderState | undefined> {
  const path = statePath(folder);
  const text = await guarded(`read ${path}`, () => readFile(path, 'utf8').catch(ignoreMissing));
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    const known = isPlainObject(value) && value.version === 1 && isPlainObject(value.finished);
    return known && [value.startedAt, value.changesTime].every((text) => typeof text === 'string')
      ? (value as unknown as FolderState)
      : undefined;
  } catch {
    return undefined;
  }
}

export function writeState(folder: string, state: FolderState): Promise<void> {
  return writeWholeFile(statePath(folder), `${JSON.stringify(state)}\n`);
}

export async function removeState(folder: string): Promise<void> {
  await guarded(`remove ${statePath(folder)}`, () => rm(statePath(folder), { force: true }));
}
