import sql from 'sql-template-tag';
import { type Store, StoreUnusable } from '../store/store.ts';
import { type Files, fileName } from './files.ts';
import { FilesUnavailable } from './unavailable.ts';

/**
 * Refuses to serve documents of which not a single file is there: a disk that is not mounted, or another folder or
 * bucket than before. Served all the same, new files would go where nobody looks for them. Throws `StoreUnusable`.
 */
export async function requireFiles(store: Store, files: Files): Promise<void> {
  const owner = await store.read.get<{ guid: string }>(sql`SELECT guid FROM documents ORDER BY org, id LIMIT 1`);
  if (owner === undefined) return;
  try {
    for await (const _ of files.list()) return;
    // Right after the first upload its file may still be staged.
    if ((await files.size(fileName(owner.guid, 'original'))) !== undefined) return;
  } catch (error) {
    // Storage that is away is told request by request, until it is back.
    if (error instanceof FilesUnavailable) return;
    throw error;
  }
  throw new StoreUnusable(
    'The database has documents, and none of their files is there.',
    'Check --files, and that its disk is mounted; when the files are lost, restore the last backup with molar server restore.',
  );
}
