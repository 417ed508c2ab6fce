import { createHash } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Files, Stage, StagedFile } from './files.ts';

const HEAD_BYTES = 64;

/** Files on a disk: staged in `incoming`, kept in 256 folders by the first digits of their names. */
export async function openDiskFiles(folder: string): Promise<Files> {
  const incoming = join(folder, 'incoming');
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  const staged = (name: string) => join(incoming, name);
  const kept = (name: string) => join(folder, name.slice(0, 2), name);
  const whichever = async (name: string) => ((await sizeOf(kept(name))) === undefined ? staged(name) : kept(name));

  return {
    stage: (name) => openStage(name, staged(name)),
    stagedPath: staged,
    async keep(name) {
      const target = kept(name);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await rename(staged(name), target);
      await syncFolder(dirname(target));
    },
    async size(name) {
      return (await sizeOf(kept(name))) ?? (await sizeOf(staged(name)));
    },
    async open(name, range) {
      return opened(createReadStream(await whichever(name), range));
    },
    async remove(name) {
      await rm(kept(name), { force: true });
      await rm(staged(name), { force: true });
    },
    leftovers: () => readdir(incoming),
    async close() {},
  };
}

async function openStage(name: string, path: string): Promise<Stage> {
  const file = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  const head: Buffer[] = [];
  let size = 0;
  return {
    async write(chunk) {
      if (size < HEAD_BYTES) head.push(Buffer.from(chunk.subarray(0, HEAD_BYTES)));
      size += chunk.length;
      hash.update(chunk);
      await file.appendFile(chunk);
    },
    async finish(): Promise<StagedFile> {
      await file.sync();
      await file.close();
      return { name, path, size, sha256: hash.digest('hex'), head: Buffer.concat(head).subarray(0, HEAD_BYTES) };
    },
    async discard() {
      await file.close().catch(() => undefined);
      await rm(path, { force: true });
    },
  };
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function opened(stream: ReadStream): Promise<ReadStream> {
  return new Promise((resolve, reject) => {
    stream.once('open', () => resolve(stream));
    stream.once('error', reject);
  });
}

/** Makes a rename last through a power cut. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
