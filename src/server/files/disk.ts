import { createReadStream, type Dirent, type ReadStream } from 'node:fs';
import { mkdir, opendir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Files, type KeptFile, nameAt, placeOf } from './files.ts';
import { openStaging, statOf } from './staging.ts';

/**
 * Files on a disk: staged in `incoming`, kept in 256 folders by the first digits of their names. `shared`: other
 * servers use the folder, too, over a network file system or on this machine.
 */
export async function openDiskFiles(folder: string, shared = false): Promise<Files> {
  const staging = await openStaging(join(folder, 'incoming'), shared);
  const kept = (name: string) => join(folder, placeOf(name));
  const sizeOf = async (path: string) => (await statOf(path))?.size;
  const whichever = async (name: string) =>
    (await sizeOf(kept(name))) === undefined ? staging.path(name) : kept(name);

  return {
    stage: staging.stage,
    secure: staging.secure,
    // After a power cut the file stands here or there, since a rename is done whole or not at all: `open` finds it in
    // both, and the next start keeps what it finds staged. So there is no need to wait for the disk once more.
    keep: (name) => renamed(staging.path(name), kept(name)),
    discard: staging.drop,
    async size(name) {
      return (await sizeOf(kept(name))) ?? (await sizeOf(staging.path(name)));
    },
    async open(name, range) {
      return opened(createReadStream(await whichever(name), range));
    },
    async remove(name) {
      await rm(kept(name), { force: true });
      await staging.drop(name);
    },
    list: () => listFolders(folder),
    leftovers: staging.leftovers,
    async close() {},
  };
}

async function* listFolders(folder: string): AsyncGenerator<KeptFile> {
  for await (const part of entriesOf(folder)) {
    if (!part.isDirectory() || part.name.length !== 2) continue;
    for await (const entry of entriesOf(join(folder, part.name))) {
      const name = nameAt(`${part.name}/${entry.name}`);
      // Between the listing and this look, a file may have been removed.
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
    await rename(path, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await rename(path, target);
  }
}
