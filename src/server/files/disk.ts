import { createReadStream, type Dirent, type ReadStream } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { moveFile, removeFile } from '../../filesystem/durable.ts';
import { makePrivateFolder } from '../../filesystem/private.ts';
import { type Files, nameOfPath, type SourceFiles, type StoredFile, storagePath } from './files.ts';
import { openStaging, statOf } from './staging.ts';

const STAGING = 'incoming';

/** Files on a disk: staged in `incoming`, stored in 256 folders by name; `shared`: other servers use the folder too. */
export async function openDiskFiles(folder: string, shared = false): Promise<Files> {
  const staging = await openStaging(join(folder, STAGING), shared);
  const final = (name: string) => join(folder, storagePath(name));
  return {
    ...sourceDiskFiles(folder),
    stage: staging.stage,
    persist: staging.persist,
    // After a power cut the file has either name, since a rename is atomic: `open` finds it under both, and the next
    // start finalizes what it finds staged. So there is no need to wait for the disk again.
    finalize: (name) => renamed(staging.path(name), final(name)),
    discard: staging.drop,
    async remove(name) {
      await removeFile(final(name));
      await staging.drop(name);
    },
    list: () => listFolders(folder),
    leftovers: staging.leftovers,
    async close() {},
  };
}

/** Files on a disk that is not written to, and that may be protected from it. */
export function sourceDiskFiles(folder: string): SourceFiles {
  const staged = (name: string) => join(folder, STAGING, name);
  const final = (name: string) => join(folder, storagePath(name));
  return {
    async size(name) {
      return ((await statOf(final(name))) ?? (await statOf(staged(name))))?.size;
    },
    async open(name, range) {
      const path = (await statOf(final(name))) === undefined ? staged(name) : final(name);
      return opened(createReadStream(path, range));
    },
  };
}

async function* listFolders(folder: string): AsyncGenerator<StoredFile> {
  for await (const part of entriesOf(folder)) {
    if (!part.isDirectory() || part.name.length !== 2) continue;
    for await (const entry of entriesOf(join(folder, part.name))) {
      const name = nameOfPath(`${part.name}/${entry.name}`);
      // A file may have been removed since it was listed.
      const found = name === undefined ? undefined : await statOf(join(folder, part.name, name));
      if (name !== undefined && found !== undefined) yield { name, size: found.size, modified: found.mtime };
    }
  }
}

async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  for await (const entry of await opendir(folder)) yield entry;
}

function opened(stream: ReadStream): Promise<ReadStream> {
  return new Promise((resolve, reject) => {
    stream.once('open', () => resolve(stream));
    stream.once('error', reject);
  });
}

/** Renames a file; its new folder is made when it is the first one there. */
async function renamed(path: string, target: string): Promise<void> {
  try {
    await moveFile(path, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await makePrivateFolder(dirname(target));
    await moveFile(path, target);
  }
}
