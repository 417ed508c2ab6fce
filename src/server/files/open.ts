import { join, resolve } from 'node:path';
import sql from 'sql-template-tag';
import { type Store, StoreUnusable } from '../store/store.ts';
import { openDiskFiles } from './disk.ts';
import { type Files, FilesUnavailable, fileName } from './files.ts';

interface FilesOptions {
  /** Other servers use the same files or the same data folder now: what they are staging is none of ours. */
  readonly shared?: boolean;
}

/**
 * Opens the files of a server (contract §6): those of `--files`, a folder or `s3://bucket/prefix`, else `files` of the
 * data folder, which stages what goes to a bucket. Throws `StoreUnusable`.
 */
export async function openFiles(
  target: string | undefined,
  dataFolder: string,
  { shared = false }: FilesOptions = {},
): Promise<Files> {
  if (target === undefined) {
    return openOnDisk(join(dataFolder, 'files'), shared, 'Check the data folder and its permissions.');
  }
  if (/^s3:/i.test(target)) {
    // The SDK takes long to load.
    const { openBucketFiles } = await import('./s3/files.ts');
    return openBucketFiles(target, dataFolder, shared);
  }
  if (target === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(target)) {
    const what =
      target === '' ? '--files is empty.' : `${target.slice(0, target.indexOf(':'))}:// cannot be used for files.`;
    throw new StoreUnusable(what, 'Give --files a folder, or s3://bucket/prefix.');
  }
  return openOnDisk(resolve(target), shared, 'Give a folder you may write to with --files.');
}

async function openOnDisk(folder: string, shared: boolean, next: string): Promise<Files> {
  try {
    return await openDiskFiles(folder, shared);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoreUnusable(`The folder ${folder} cannot be used for files: ${reason}.`, next, cause);
  }
}

/**
 * Refuses to serve documents of which not a single file is there: a disk that is not mounted, or another folder or
 * bucket than before. Otherwise new files would go where nobody looks for them. Throws `StoreUnusable`.
 */
export async function requireFiles(store: Store, files: Files): Promise<void> {
  const owner = await store.read.get<{ guid: string }>(sql`SELECT guid FROM documents ORDER BY org, id LIMIT 1`);
  if (owner === undefined) return;
  try {
    for await (const _ of files.list()) return;
    // Right after the first upload its file may still be staged.
    if ((await files.size(fileName(owner.guid, 'original'))) !== undefined) return;
  } catch (error) {
    // Storage that is away is reported by each request, until it is back.
    if (error instanceof FilesUnavailable) return;
    throw error;
  }
  throw new StoreUnusable(
    'The database has documents, and none of their files is there.',
    'Check --files, and that its disk is mounted; when the files are lost, restore the last backup with molar server restore.',
  );
}
