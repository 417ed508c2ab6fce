import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sql from 'sql-template-tag';
import { linkFile } from '../../../filesystem/durable.ts';
import { makePrivateFolder } from '../../../filesystem/private.ts';
import { fileName, storagePath } from '../../files/files.ts';
import { type Reader, StoreUnusable } from '../../store/store.ts';
import type { FileOwner } from '../check/files.ts';
import { turn, type Work } from '../work.ts';
import { FILE_LIST, hashFile, readFileList, readManifest } from './manifest.ts';
import { refuseLinks } from './planted.ts';

/**
 * Links those files of an earlier backup that documents still name into a folder that becomes the new one. Each is read
 * before: one that is not what the earlier backup lists, or the document says, is left for the source to give, and so is
 * one that the disk cannot link. Throws `StoreUnusable` when it is no backup beside the new one: a restore accepts links
 * by the folders beside.
 */
export async function linkEarlier(earlier: string, folder: string, live: Reader, work: Work): Promise<void> {
  const { files } = await readManifest(earlier);
  if ((await realpath(dirname(earlier))) !== (await realpath(dirname(folder)))) {
    throw new StoreUnusable(
      `${earlier} is not in the same folder as the new backup.`,
      'Name both in one folder: the new one has links to the files of the earlier one.',
    );
  }
  await refuseLinks(earlier);
  if ((await hashFile(join(earlier, FILE_LIST)).catch(() => undefined))?.sha256 !== files.sha256) {
    throw new StoreUnusable(`${FILE_LIST} of ${earlier} is not what was backed up.`, 'Name another backup.');
  }
  for await (const { name, sha256 } of readFileList(earlier)) {
    const path = join('files', storagePath(name));
    if (!existsSync(join(folder, path)) && (await isNamed(live, name, sha256))) {
      await linkIntact(join(earlier, path), join(folder, path), sha256);
    }
    await turn(work, 'Reading files of the earlier backup', 1);
  }
}

/** Whether a document has a file of this name, and an original with this SHA-256. */
async function isNamed(live: Reader, name: string, sha256: string): Promise<boolean> {
  const guid = name.slice(0, name.lastIndexOf('-'));
  const owner = await live.get<Pick<FileOwner, 'variants' | 'sha256'>>(
    sql`SELECT variants, sha256 FROM documents WHERE guid = ${guid}`,
  );
  if (name === fileName(guid, 'original') && owner?.sha256 !== sha256) return false;
  return owner?.variants.split(',').some((variant) => name === fileName(guid, variant)) ?? false;
}

async function linkIntact(from: string, to: string, sha256: string): Promise<void> {
  try {
    if ((await hashFile(from)).sha256 !== sha256) return;
    await makePrivateFolder(dirname(to));
    await linkFile(from, to);
  } catch {
    // Unreadable, or on a disk without links: the source has it.
  }
}
