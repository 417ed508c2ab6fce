import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { platform } from 'node:process';
import { usageFailure } from '../../failure.ts';
import { flushFolder, guarded } from '../../output/atomicfile.ts';
import { ignoreMissing, makeOwnFolder, openRegular } from '../../output/ownfile.ts';

/** Bytes of a key. */
const SIZE = 32;

/** A key, and whether other users may read its file. */
export interface Key {
  readonly secret: Uint8Array;
  readonly isOpen: boolean;
}

/** The key in a file, undefined where there is none. Throws a Failure: exit 2 for a file that is no key, else 9. */
export async function readKey(path: string): Promise<Key | undefined> {
  const file = await guarded(`read ${path}`, () => openRegular(path, constants.O_RDONLY).catch(ignoreMissing));
  if (file === undefined) return undefined;
  try {
    const { size, mode } = await file.stat();
    if (size !== SIZE)
      throw usageFailure(`${path} is no key: it must have ${SIZE} bytes, it has ${size}.`, {
        source: '--deidentify',
        hint: 'Name the file of the key, or one that does not exist yet to make a key.',
      });
    return { secret: await file.readFile(), isOpen: (mode & 0o077) !== 0 && platform !== 'win32' };
  } finally {
    await file.close();
  }
}

/** Makes a key, for its owner alone; it is on the disk before anything depends on it. Throws a Failure (exit 9). */
export async function makeKey(path: string): Promise<Key> {
  const secret = randomBytes(SIZE);
  await guarded(`make the key ${path}`, async () => {
    await makeOwnFolder(dirname(path));
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(secret);
      await file.sync();
    } finally {
      await file.close();
    }
    await flushFolder(dirname(path));
  });
  return { secret, isOpen: false };
}
