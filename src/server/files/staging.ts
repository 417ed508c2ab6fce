import { closeSync, openSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stage } from './files.ts';
import { DiskStage, syncFile } from './stage.ts';

/**
 * From when on a staged file of a folder that several processes share is taken for left over: no request lasts longer
 * than minutes and no import a day.
 */
export const ABANDONED_MS = 24 * 60 * 60 * 1000;

/** Files on the local disk that belong to no record yet. */
export interface Staging {
  path(name: string): string;
  stage(name: string): Promise<Stage>;
  /** Makes that finished files are here last through a power cut. */
  secure(): Promise<void>;
  has(name: string): Promise<boolean>;
  drop(name: string): Promise<void>;
  /** Names of what earlier processes left; of what is old enough, when other processes may be staging here now. */
  leftovers(): Promise<string[]>;
}

/** Opens a staging folder, 0700 with files of 0600. `shared`: other processes stage in it, too. */
export async function openStaging(folder: string, shared: boolean): Promise<Staging> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = (name: string) => join(folder, name);
  const folderSync = new FolderSync(folder);
  return {
    path,
    stage: async (name) => new DiskStage(name, path(name)),
    secure: () => folderSync.sync(),
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

/** Syncs a folder for many at once: those that come while it is being synced share the next sync. */
class FolderSync {
  private readonly path: string;
  private running: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;

  constructor(path: string) {
    this.path = path;
  }

  sync(): Promise<void> {
    this.next ??= this.afterOthers();
    return this.next;
  }

  private async afterOthers(): Promise<void> {
    await this.running.catch(() => undefined);
    this.next = undefined;
    this.running = syncFolder(this.path);
    await this.running;
  }
}

/** Opens and closes it here and now: to hand that to another thread would take longer. */
async function syncFolder(path: string): Promise<void> {
  const folder = openSync(path, 'r');
  try {
    await syncFile(folder);
  } finally {
    closeSync(folder);
  }
}
