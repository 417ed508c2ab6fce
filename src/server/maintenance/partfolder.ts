import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Connection, isBusy, openConnection } from '../../sqlite/open.ts';
import { isOurs } from '../owner.ts';
import { StoreUnusable } from '../store/store.ts';

/** Marks a folder that is being filled, and keeps it for the process that fills it. */
export const LOCK = 'unfinished.lock';

/** A folder that takes its name only when everything is in it: `NAME.part` until then. */
export interface PartFolder {
  readonly path: string;
  /** Gives it its name; everything in it must be on the disk. */
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
  const release = hold(join(path, LOCK), path);
  return {
    path,
    async finish() {
      await syncFolder(path);
      if (existsSync(target)) await rmdir(target);
      await rename(path, target);
      release();
      // Last: a folder without it that has not got its name yet would be taken for somebody else's.
      await rm(join(target, LOCK), { force: true });
      await syncFolder(dirname(target));
    },
    async close() {
      release();
    },
  };
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
    await mkdir(path, { recursive: true, mode: 0o700 });
    const facts = await lstat(path);
    const isOwn = facts.isDirectory() && isOurs(facts);
    const isUsable = isOwn && ((await readdir(path)).length === 0 || existsSync(join(path, LOCK)));
    if (isUsable) return await chmod(path, 0o700);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoreUnusable(`The folder ${path} cannot be made: ${reason}.`, 'Name a place you may write to.', cause);
  }
  throw new StoreUnusable(`${path} is in the way: molar did not make it.`, 'Move it away, or name another folder.');
}

function hold(file: string, path: string): () => void {
  let connection: Connection | undefined;
  try {
    connection = openConnection(file);
    // A journal of its own would be left behind when the folder takes its name.
    connection.pragma('journal_mode = MEMORY');
    connection.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    connection?.close();
    if (!isBusy(error)) throw error;
    throw new StoreUnusable(`Another molar is writing to ${path}.`, 'Wait for it, or name another folder.', error);
  }
  const held = connection;
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    held.exec('ROLLBACK');
    held.close();
  };
}

/** Makes what a folder names last through a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
