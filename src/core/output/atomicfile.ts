import { constants } from 'node:fs';
import { access, type FileHandle, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { moveDurably, removeFile, syncFile } from '../../filesystem/durable.ts';
import { isNameOf } from '../../filesystem/identity.ts';
import { replacePrivate } from '../../filesystem/private.ts';
import { ignoreMissing } from '../../filesystem/system.ts';
import { Failure, fileFailure } from '../failure.ts';
import { bytesOf, openRegular, replaceable, withoutLinks } from './ownfile.ts';
import type { Sink } from './sink.ts';

/**
 * A file that is replaced as a unit (contract §5): written to `FILE.part` beside it with mode 0600, flushed to the disk
 * and renamed. Until `commit`, FILE is as it was; `abort` removes the part. If FILE is a symbolic link of our
 * own, its target is replaced; a link planted as `FILE.part` is removed, not followed. Throws a Failure with exit code 9
 * before anything else is done when FILE cannot be written.
 */
export async function openAtomicFile(path: string): Promise<Sink> {
  const doing = `write ${path}`;
  const target = await guarded(doing, () => replaceable(path));
  const part = `${target}.part`;
  const file = await guarded(doing, () => replacePrivate(part));
  return {
    write: (text) => guarded(doing, () => file.appendFile(text)),
    commit: () => guarded(doing, () => publish(file, part, target).then(() => file.close())),
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

/** The bytes of a file, undefined where there is none; throws a Failure with exit code 9 that calls it `name`. */
export function bytesIfPresent(path: string, name = path): Promise<Buffer | undefined> {
  return guarded(`read ${name}`, () => openRegular(path, constants.O_RDONLY).then(bytesOf, ignoreMissing));
}

/** The text of a file in UTF-8, as `bytesIfPresent`. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  return (await bytesIfPresent(path))?.toString('utf8');
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

/** Flushes a part to the disk and renames it to the target; `file` stays open. */
export async function publish(file: FileHandle, part: string, target: string): Promise<void> {
  await seal(file, part);
  await moveDurably(part, target);
}

/** Flushes a part to the disk; throws when its path, which has no links, leads to another file by now. */
export async function seal(file: FileHandle, part: string, label = part): Promise<void> {
  await syncFile(file);
  const folder = dirname(part);
  const isThere = await isNameOf(part, file);
  // A folder that became a link before the part was made would have led it, and the rename, elsewhere.
  if (!isThere || (await withoutLinks(folder)) !== folder) throw new Error(`${label} was replaced by another program`);
}

/** Closes a part and removes it; never throws. */
export async function discard(file: FileHandle, part: string): Promise<void> {
  const isOurs = await isNameOf(part, file).catch(() => true);
  await file.close().catch(() => undefined);
  if (isOurs) await removeFile(part).catch(() => undefined);
}
