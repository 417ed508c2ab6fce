import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { removeFile } from '../../../filesystem/durable.ts';
import { isSameFile } from '../../../filesystem/identity.ts';
import { codeOf, type Failure, fileFailure, localFailure } from '../../failure.ts';
import { openRegular } from '../../output/ownfile.ts';

const { O_RDONLY, O_NOFOLLOW = 0 } = constants;

/** A path of this machine; `label` is what messages call it. */
export interface LabelledPath {
  readonly path: string;
  readonly label: string;
}

/** The failure of a file that exists and must not be replaced, exit 9. */
export function fileExists({ label }: LabelledPath): Failure {
  const hint = 'Replace it with --overwrite, or name another file or folder with --out or --dir.';
  return localFailure('local.file', `${label} exists already.`, { source: label, hint });
}

/**
 * The size of a file, undefined when it does not exist. Throws exit 9 for a folder and for a symbolic link: the name was
 * the server's, and a link of that name may lead anywhere.
 */
export async function sizeOfFile({ path, label }: LabelledPath): Promise<number | undefined> {
  const found = await lstat(path).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw fileFailure(`write ${label}`, cause);
  });
  if (found === undefined || found.isFile()) return found?.size;
  const what = found.isSymbolicLink() ? 'a symbolic link' : found.isDirectory() ? 'a folder' : 'not a regular file';
  const hint = 'Name another file or folder with --out or --dir.';
  throw localFailure('local.file', `${label} is ${what}.`, { source: label, hint });
}

/** A hash of a file, in hex, read in chunks. */
export async function hashOfFile({ path, label }: LabelledPath, algorithm: string): Promise<string> {
  try {
    const file = await openRegular(path, O_RDONLY | O_NOFOLLOW);
    const hash = createHash(algorithm);
    for await (const chunk of file.createReadStream({ highWaterMark: 1024 * 1024 })) hash.update(chunk);
    return hash.digest('hex');
  } catch (cause) {
    throw fileFailure(`read ${label}`, cause);
  }
}

/** Removes the part of a file that has its final name already: a run that was killed between the two leaves both. */
export async function removeLinkedPart({ path }: LabelledPath): Promise<void> {
  const part = `${path}.part`;
  const [file, beside] = await Promise.all([path, part].map((each) => lstat(each).catch(() => undefined)));
  if (file?.isFile() && isSameFile(file, beside)) await removeFile(part).catch(() => undefined);
}
