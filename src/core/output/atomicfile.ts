import { createPart, discard, guarded, publish, replaceable } from './replacement.ts';
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
