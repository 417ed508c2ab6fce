import { existsSync } from 'node:fs';
import { lstat, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { moveDurably, removeEmptyFolder, removeFile, syncFolder } from '../../filesystem/durable.ts';
import { closeFolder, isOurs, makePrivateFolder } from '../../filesystem/private.ts';
import { takeFileLock } from '../store/sqlite/lock.ts';
import { StoreUnusable } from '../store/store.ts';

/** Marks a folder that is being filled. */
export const MARK = 'unfinished.lock';

/** A folder that takes its name only when everything is in it: `NAME.part` until then. */
export interface PartFolder {
  readonly path: string;
  /** Gives it its name; every file in it must be on the disk, and none open. */
  finish(): Promise<void>;
  /** Lets go of it. What is in it stays, for the next run to go on with. */
  close(): Promise<void>;
}

/**
 * Opens the folder that becomes `target`, 0700, or the one that an interrupted run left. Throws `StoreUnusable` when
 * the target is there already (an empty folder apart), and when another process fills it.
 */
export async function openPartFolder(target: string): Promise<PartFolder> {
  await refuseTaken(target);
  const path = `${target}.part`;
  await makeFolder(path);
  // Beside it: Windows renames no folder in which something is open.
  const lock = `${path}.lock`;
  const release = hold(lock, path);
  try {
    // Whoever held the lock may have finished since, and removed the file of the lock that this process has now.
    await refuseTaken(target);
    await writeFile(join(path, MARK), '', { mode: 0o600 });
  } catch (cause) {
    release();
    throw cause;
  }
  return {
    path,
    async finish() {
      await syncFolders(path);
      await removeEmptyFolder(target);
      await moveDurably(path, target);
      release();
      // Empty, and in nobody's way: another molar may just be looking at it.
      await removeFile(lock).catch(() => undefined);
      // Last: a folder without it that has not got its name yet would be taken for somebody else's.
      await removeFile(join(target, MARK));
      await syncFolder(target);
    },
    async close() {
      release();
    },
  };
}

/** Makes the names last in a folder and in those inside. */
async function syncFolders(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true }))
    if (entry.isDirectory()) await syncFolders(join(path, entry.name));
  await syncFolder(path);
}

async function refuseTaken(target: string): Promise<void> {
  const found = await lstat(target).catch(() => undefined);
  if (found === undefined) return;
  if (found.isDirectory() && (await readdir(target)).length === 0) return;
  throw new StoreUnusable(
    `${target} is there already${found.isDirectory() ? ', and not empty' : ''}.`,
    'Name a folder that does not exist yet.',
  );
}

/** A folder of the same name that we did not make is left alone: its owner could read, or lead elsewhere, what is put in it. */
async function makeFolder(path: string): Promise<void> {
  try {
    await makePrivateFolder(path);
    const facts = await lstat(path);
    const isOwn = facts.isDirectory() && isOurs(facts);
    const isUsable = isOwn && ((await readdir(path)).length === 0 || existsSync(join(path, MARK)));
    if (isUsable) return await closeFolder(path);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoreUnusable(`The folder ${path} cannot be made: ${reason}.`, 'Name a place you may write to.', cause);
  }
  throw new StoreUnusable(`${path} is in the way: molar did not make it.`, 'Move it away, or name another folder.');
}

/** Keeps the folder for this process, however it ends; returns how to let go of it, which may be called twice. */
function hold(lock: string, path: string): () => void {
  let unlock = takeFileLock(lock);
  if (unlock === undefined)
    throw new StoreUnusable(`Another molar is writing to ${path}.`, 'Wait for it, or name another folder.');
  return () => {
    unlock?.();
    unlock = undefined;
  };
}
