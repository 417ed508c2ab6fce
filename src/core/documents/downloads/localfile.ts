import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, unlink } from 'node:fs/promises';
import { codeOf, fileFailure, localFailure } from '../../failure.ts';
import type { LocalPlace } from './partfile.ts';

const { O_RDONLY, O_NOFOLLOW = 0 } = constants;

/**
 * The size of the file at a place, undefined when nothing is there. Throws exit 9 for a folder and for a symbolic
 * link: the name was the server's, and a link of that name may lead anywhere.
 */
export async function sizeOfFile({ path, label }: LocalPlace): Promise<number | undefined> {
  const found = await lstat(path).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw fileFailure(`write ${label}`, cause);
  });
  if (found === undefined || found.isFile()) return found?.size;
  const what = found.isSymbolicLink() ? 'a symbolic link' : found.isDirectory() ? 'a folder' : 'not a regular file';
  const hint = 'Name another place with --out or --dir.';
  throw localFailure('local.file', `${label} is ${what}.`, { source: label, hint });
}

/** A hash of the file at a place, in hex, read piece by piece. */
export async function hashOfFile({ path, label }: LocalPlace, algorithm: string): Promise<string> {
  try {
    const file = await open(path, O_RDONLY | O_NOFOLLOW);
    const hash = createHash(algorithm);
    for await (const chunk of file.createReadStream({ highWaterMark: 1024 * 1024 })) hash.update(chunk);
    return hash.digest('hex');
  } catch (cause) {
    throw fileFailure(`read ${label}`, cause);
  }
}

/** Removes the part of a file that has its name already: a run that was killed between the two leaves both. */
export async function tidyPart({ path }: LocalPlace): Promise<void> {
  const part = `${path}.part`;
  const [file, beside] = await Promise.all([path, part].map((each) => lstat(each).catch(() => undefined)));
  if (file?.isFile() && beside?.isFile() && file.ino === beside.ino && file.dev === beside.dev)
    await unlink(part).catch(() => undefined);
}
