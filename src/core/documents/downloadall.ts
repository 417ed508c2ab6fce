import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pLimit from 'p-limit';
import { integer } from '../../catalog/fields/numbers.ts';
import { text } from '../../catalog/fields/text.ts';
import { readOnly } from '../../catalog/record.ts';
import { Failure, fileFailure } from '../failure.ts';
import type { Row } from '../pages/walk.ts';
import { type Downloading, downloadTo, getDocument } from './downloadfile.ts';
import { exitCodeOfRun } from './outcome.ts';
import { markedName, safeFileName } from './safename.ts';

export interface DownloadTarget {
  /** Folder that relative paths start from. */
  readonly folder: string;
  /** Given for one document only; otherwise `dir`, or the folder itself, under the stored names. */
  readonly out?: string;
  readonly dir?: string;
  readonly force: boolean;
}

/** A document that was downloaded: where to, as given on the command line, its size and SHA-256. */
export interface DownloadedFile {
  readonly id: string;
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** `DownloadedFile` as output knows it. */
export const downloadedFields = {
  id: readOnly(text(), 'Document id'),
  name: readOnly(text(), 'Stored name'),
  file: readOnly(text(), 'Where it was written'),
  bytes: readOnly(integer(), 'Size'),
  sha256: readOnly(text(), 'SHA-256 of the content'),
} as const;

export type DownloadResult = { readonly id: string } & (
  | { readonly file: DownloadedFile }
  | { readonly failure: Failure }
);

/**
 * Downloads documents into files, `concurrency` at a time; results stand in the order of the ids. One that fails keeps
 * no other from being downloaded. Throws only when the folder cannot be made or the run is interrupted.
 */
export async function downloadAll(
  ids: readonly string[],
  target: DownloadTarget,
  downloading: Downloading,
  concurrency: number,
): Promise<DownloadResult[]> {
  const limit = pLimit(concurrency);
  const each = <T>(work: (id: string, index: number) => Promise<T>) =>
    Promise.all(ids.map((id, index) => limit(() => attempted(() => work(id, index), downloading.fetching.signal))));
  const found = await each((id) => getDocument(id, downloading));
  const names = fileNames(ids, found, downloading.variant);
  if (target.dir !== undefined) await makeFolder(target.dir, target.folder);
  const files = await each(async (id, index) => {
    const document = found[index];
    if (document === undefined || document instanceof Failure) throw document ?? new Error(`No answer for ${id}.`);
    const file = target.out ?? join(target.dir ?? '', names[index] ?? id);
    const received = await downloadTo(
      { path: resolve(target.folder, file), label: file },
      document,
      downloading,
      target.force,
    );
    downloading.onDone?.();
    return { id, name: storedName(document), file, ...received };
  });
  return ids.map((id, index) => {
    const file = files[index] as DownloadedFile | Failure;
    return file instanceof Failure ? { id, failure: file } : { id, file };
  });
}

/** The failure that downloads end with (contract §4), undefined when all are done. */
export function failureOfDownloads(results: readonly DownloadResult[]): Failure | undefined {
  const failed = results.flatMap((result) => ('failure' in result ? [result] : []));
  const [first] = failed;
  if (first === undefined) return undefined;
  if (results.length === 1) return first.failure;
  const exitCode = exitCodeOfRun(results.map((result) => ('failure' in result ? result.failure.exitCode : 0)));
  const items = failed.map(({ id, failure }) => ({ code: failure.code, source: id, description: failure.message }));
  const message = `${failed.length} of ${results.length} documents not downloaded.`;
  const code = exitCode === first.failure.exitCode ? first.failure.code : 'run.partial';
  return new Failure(message, { code, exitCode, items, hint: 'Download those listed again.' });
}

async function attempted<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T | Failure> {
  signal?.throwIfAborted();
  try {
    return await work();
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof Failure) return cause;
    throw cause;
  }
}

async function makeFolder(dir: string, folder: string): Promise<void> {
  await mkdir(resolve(folder, dir), { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw fileFailure(`make folder ${dir}`, cause);
  });
}

function storedName(document: Row): string {
  return typeof document.name === 'string' ? document.name : '';
}

/**
 * Names of the files, safe and each one once whatever the letter case: documents of the same name get their id, in
 * every run alike. What is not the original says what it is.
 */
function fileNames(ids: readonly string[], found: readonly (Row | Failure)[], variant: string): string[] {
  const taken = new Set<string>();
  return ids.map((id, index) => {
    const document = found[index];
    if (document === undefined || document instanceof Failure) return id;
    const plain = safeFileName(storedName(document), `document-${id}`);
    const name = variant === 'original' ? plain : markedName(plain, `(${variant})`);
    let free = name;
    while (taken.has(free.toLowerCase())) free = markedName(free, `[${id}]`);
    taken.add(free.toLowerCase());
    return free;
  });
}
