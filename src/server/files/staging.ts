import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stage, StagedFile } from './files.ts';

const HEAD_BYTES = 64;

/** Bytes gathered before they are written: most documents are then written at once. */
const GATHERED_BYTES = 256 * 1024;

/**
 * From when on a staged file of a folder that several processes share is taken for left over: no request lasts longer
 * than minutes and no import a day.
 */
export const ABANDONED_MS = 24 * 60 * 60 * 1000;

/** Files on the local disk that belong to no record yet. */
export interface Staging {
  path(name: string): string;
  stage(name: string): Promise<Stage>;
  has(name: string): Promise<boolean>;
  drop(name: string): Promise<void>;
  /** Names of what earlier processes left; of what is old enough, when other processes may be staging here now. */
  leftovers(): Promise<string[]>;
}

/** Opens a staging folder, 0700 with files of 0600. `shared`: other processes stage in it, too. */
export async function openStaging(folder: string, shared: boolean): Promise<Staging> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = (name: string) => join(folder, name);
  return {
    path,
    stage: (name) => openStage(name, path(name)),
    has: async (name) => (await statOf(path(name))) !== undefined,
    drop: (name) => rm(path(name), { force: true }),
    async leftovers() {
      const names = await readdir(folder);
      if (!shared) return names;
      const old: string[] = [];
      for (const name of names) if (await isAbandoned(path(name))) old.push(name);
      return old;
    },
  };
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await statOf(path);
  return found !== undefined && found.mtimeMs < Date.now() - ABANDONED_MS;
}

/** Undefined for a file that is not there. */
export async function statOf(path: string): Promise<{ size: number; mtime: Date; mtimeMs: number } | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function openStage(name: string, path: string): Promise<Stage> {
  const file = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  const head: Buffer[] = [];
  let gathered: Uint8Array[] = [];
  let waiting = 0;
  let size = 0;
  const flush = async () => {
    const bytes = Buffer.concat(gathered);
    [gathered, waiting] = [[], 0];
    await file.appendFile(bytes);
  };
  return {
    async write(chunk) {
      if (size < HEAD_BYTES) head.push(Buffer.from(chunk.subarray(0, HEAD_BYTES)));
      size += chunk.length;
      hash.update(chunk);
      gathered.push(chunk);
      waiting += chunk.length;
      if (waiting >= GATHERED_BYTES) await flush();
    },
    async finish(): Promise<StagedFile> {
      if (waiting > 0) await flush();
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
