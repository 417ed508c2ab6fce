import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { whileHeld } from './held.ts';
import { codeOf, ignoreMissing, system } from './system.ts';

/*
 * What is acknowledged has to outlast a power cut. The order is always the same: write, sync the file, rename it, sync
 * the folder; only then may anybody be told.
 */

/** Gives a synced file its name, in place of whatever has it, and makes that last. */
export async function moveDurably(from: string, to: string): Promise<void> {
  await moveFile(from, to);
  await syncFolder(dirname(to));
}

/** Renames a file or folder; the new name may be lost in a power cut until its folder is synced. */
export function moveFile(from: string, to: string): Promise<void> {
  return whileHeld(to, () => system.rename(from, to));
}

/** A second name for a file. Throws `EEXIST` where there is one, which a rename would not. */
export function linkFile(from: string, to: string): Promise<void> {
  return system.link(from, to);
}

/** Removes a file, or a link itself, if it exists. Throws `EISDIR` for a folder. */
export async function removeFile(path: string): Promise<void> {
  await whileHeld(path, () => unlink(path)).catch(ignoreMissing);
}

/** Removes a file for good: after a power cut, one whose folder was not synced may be there again. */
export async function removeDurably(path: string): Promise<void> {
  await removeFile(path);
  await syncFolder(dirname(path)).catch(ignoreMissing);
}

/** Windows and macOS answer `EPERM` for a folder, which is held by nobody. */
async function unlink(path: string): Promise<void> {
  try {
    await system.unlink(path);
  } catch (cause) {
    if (codeOf(cause) !== 'EPERM' || !(await system.lstat(path)).isDirectory()) throw cause;
    throw Object.assign(new Error(`${path} is a folder`, { cause }), { code: 'EISDIR' });
  }
}

/** Removes a file or a folder with everything in it, if it exists. */
export function removeTree(path: string): Promise<void> {
  // Again, for somebody may have put a file into it meanwhile, such as the image process of a server that was killed.
  return whileHeld(path, () => system.rm(path, { recursive: true, force: true, maxRetries: 3 }));
}

/** Removes an empty folder, if it exists. */
export async function removeEmptyFolder(path: string): Promise<void> {
  await whileHeld(path, () => system.rmdir(path)).catch(ignoreMissing);
}

/** Removes a file at once: waits for nobody. */
export function removeNow(path: string): void {
  system.unlinkSync(path);
}

/** Writes a whole file that was just opened, makes that last, and closes it. */
export async function writeDurably(file: FileHandle, content: string | Uint8Array): Promise<void> {
  try {
    await file.writeFile(content);
    await syncFile(file);
  } finally {
    await file.close();
  }
}

/** Makes what was written to an open file last. `data`: of its facts only what is needed to read it. */
export function syncFile(file: FileHandle, what: 'all' | 'data' = 'all'): Promise<void> {
  return what === 'all' ? system.sync(file) : system.datasync(file);
}

/** The same of a bare descriptor, which was opened to write. */
export function syncDescriptor(descriptor: number): Promise<void> {
  return system.fsync(descriptor);
}

/** The same of a file that somebody else wrote, such as SQLite. */
export async function syncPath(path: string): Promise<void> {
  // To write: Windows flushes nothing through a handle that only reads.
  const file = await system.open(path, constants.O_RDWR);
  await syncFile(file).finally(() => file.close());
}

/** Errors of systems and file systems that cannot sync a folder, or let nobody but its owner open it. */
const NO_FOLDER_SYNC: readonly (string | undefined)[] = [
  'EINVAL',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EACCES',
  'EPERM',
];

/** Makes the names in a folder last, where the system can do so: Windows keeps them in its journal. */
export async function syncFolder(path: string): Promise<void> {
  if (system.platform === 'win32') return;
  try {
    // Opened and closed synchronously: handing that to the thread pool would take longer.
    const folder = system.openSync(path, 'r');
    await system.fsync(folder).finally(() => system.closeSync(folder));
  } catch (cause) {
    if (!NO_FOLDER_SYNC.includes(codeOf(cause))) throw cause;
  }
}
