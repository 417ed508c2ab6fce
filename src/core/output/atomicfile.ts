import { constants } from 'node:fs';
import {
  access,
  type FileHandle,
  lstat,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  unlink,
} from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf, Failure, fileFailure } from '../failure.ts';
import type { Sink } from './sink.ts';

/**
 * A file that is replaced as a unit (contract §5): written to `FILE.part` beside it with mode 0600, flushed to the disk
 * and renamed. Until `commit`, FILE is as it was; `abort` removes the part. If FILE is a symbolic link, its target is
 * replaced; a link planted as `FILE.part` is removed, not followed. Throws a Failure with exit code 9 before anything
 * else is done when FILE cannot be written.
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

/** Writes a small file as a unit; throws a Failure with exit code 9. */
export async function writeAtomicFile(path: string, text: string): Promise<void> {
  const file = await openAtomicFile(path);
  try {
    await file.write(text);
    await file.commit();
  } catch (cause) {
    await file.abort();
    throw cause;
  }
}

/** The text of a file, undefined where there is none; throws a Failure with exit code 9. */
export function readIfPresent(path: string): Promise<string | undefined> {
  return guarded(`read ${path}`, () => readFile(path, 'utf8').catch(ignoreMissing));
}

/** Names in a folder, none where there is no folder; throws a Failure with exit code 9. */
export function namesIn(folder: string): Promise<string[]> {
  return guarded(`read the folder ${folder}`, async () => (await readdir(folder).catch(ignoreMissing)) ?? []);
}

/** Does file work; an error becomes a Failure with exit code 9. `doing` completes "Cannot …". */
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

const MAX_LINKS = 40;

/** The path behind symbolic links, whether or not it exists yet; only a regular file may be replaced. */
export async function replaceable(path: string): Promise<string> {
  let target = resolve(path);
  for (let links = 0; links <= MAX_LINKS; links++) {
    const found = await lstat(target).catch(ignoreMissing);
    if (found === undefined || found.isFile()) return target;
    if (!found.isSymbolicLink()) throw new Error(found.isDirectory() ? 'it is a folder' : 'it is not a regular file');
    target = resolve(dirname(target), await readlink(target));
  }
  throw new Error('too many symbolic links');
}

/** A new file of mode 0600 in place of whatever is there; a link is removed, not followed. */
export async function createPart(part: string): Promise<FileHandle> {
  // Removing a link removes the link itself. What a second molar plants between these calls makes the open fail.
  await unlink(part).catch(ignoreMissing);
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  return open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
}

/** Flushes a part to the disk and renames it to the target. */
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

/** For `catch`: undefined for a file that does not exist; throws any other error again. */
export function ignoreMissing(cause: unknown): undefined {
  if (codeOf(cause) === 'ENOENT') return undefined;
  throw cause;
}
