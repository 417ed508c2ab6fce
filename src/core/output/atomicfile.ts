import { constants } from 'node:fs';
import { access, type FileHandle, lstat, open, readlink, rename, stat, unlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf, Failure, fileFailure } from '../failure.ts';
import type { Sink } from './sink.ts';

/**
 * A file that is there whole or not at all (contract §5): written to `FILE.part` beside it with mode 0600, flushed to
 * the disk and renamed. Until `commit`, FILE is as it was; `abort` removes the part. A symbolic link given as FILE
 * stays and its target is replaced; a link planted as `FILE.part` is removed, not followed. Throws a Failure with exit
 * code 9 before anything else is done when FILE cannot be written.
 */
export async function openAtomicFile(path: string): Promise<Sink> {
  const doing = `write ${path}`;
  const target = await guarded(doing, () => replaceable(path));
  const part = `${target}.part`;
  const file = await guarded(doing, () => createPart(part));
  return {
    write: (text) => guarded(doing, () => file.appendFile(text)),
    commit: () => guarded(doing, () => publish(file, part, target)),
    abort: () => discard(file, part),
  };
}

/** Writes a small file whole or not at all; throws a Failure with exit code 9. */
export async function writeWholeFile(path: string, text: string): Promise<void> {
  const file = await openAtomicFile(path);
  try {
    await file.write(text);
    await file.commit();
  } catch (cause) {
    await file.abort();
    throw cause;
  }
}

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
  await file.sync();
  const [mine, there] = [await file.stat(), await stat(part).catch(ignoreMissing)];
  if (there === undefined || there.ino !== mine.ino || there.dev !== mine.dev) {
    throw new Error(`${part} was replaced by another program`);
  }
  await file.close();
  await rename(part, target);
  await flushFolder(dirname(target));
}

/** Closes a part and removes it; never throws. */
export async function discard(file: FileHandle, part: string): Promise<void> {
  const mine = await file.stat().catch(() => undefined);
  await file.close().catch(() => undefined);
  const there = await lstat(part).catch(() => undefined);
  if (mine === undefined || there?.ino === mine.ino) await unlink(part).catch(() => undefined);
}

/** Makes a rename itself durable, where the system can flush folders. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY).catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

export function ignoreMissing(cause: unknown): undefined {
  if (codeOf(cause) === 'ENOENT') return undefined;
  throw cause;
}
