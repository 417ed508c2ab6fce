import { constants } from 'node:fs';
import { access, type FileHandle, lstat, open, readlink, rename, stat, unlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf, Failure, fileFailure } from '../failure.ts';

/** Does file work; what fails becomes a Failure with exit code 9. `doing` completes "Cannot …". */
export async function guarded<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof Failure ? cause : fileFailure(doing, cause);
  }
}

/** Whether there is a file, or a folder, that this user can see. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

const MOST_LINKS = 40;

/** The path behind symbolic links, whether or not it exists yet; only a regular file may be replaced. */
export async function replaceable(path: string): Promise<string> {
  let target = resolve(path);
  for (let links = 0; ; links++) {
    const found = await lstat(target).catch(ignoreMissing);
    if (found === undefined || found.isFile()) return target;
    if (!found.isSymbolicLink()) {
      throw new Error(found.isDirectory() ? 'it is a folder' : 'it is not a regular file');
    }
    if (links >= MOST_LINKS) throw new Error('too many symbolic links');
    target = resolve(dirname(target), await readlink(target));
  }
}

/** A new file of mode 0600 in place of whatever stands there; a link is removed, not followed. */
export async function createPart(part: string): Promise<FileHandle> {
  // Removing a link removes the link itself. What a second molar plants between these calls makes the open fail.
  await unlink(part).catch(ignoreMissing);
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  return open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
}

/** Flushes a part to the disk and puts it in the place of the target. */
export async function publish(file: FileHandle, part: string, target: string): Promise<void> {
  await seal(file, part);
  await rename(part, target);
  await flushFolder(dirname(target));
}

/** Flushes a part to the disk and closes it; throws when its path leads to another file by now. */
export async function seal(file: FileHandle, part: string, label = part): Promise<void> {
  await file.sync();
  const [mine, there] = [await file.stat(), await stat(part).catch(ignoreMissing)];
  if (there === undefined || there.ino !== mine.ino || there.dev !== mine.dev) {
    throw new Error(`${label} was replaced by another program`);
  }
  await file.close();
}

/** Closes a part and removes it; never throws. */
export async function discard(file: FileHandle, part: string): Promise<void> {
  const mine = await file.stat().catch(() => undefined);
  await file.close().catch(() => undefined);
  const there = await lstat(part).catch(() => undefined);
  if (mine === undefined || there?.ino === mine.ino) await unlink(part).catch(() => undefined);
}

/** Makes a rename itself durable, where the system can flush folders. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY).catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

export function ignoreMissing(cause: unknown): undefined {
  if (codeOf(cause) === 'ENOENT') return undefined;
  throw cause;
}
