import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder, writeDurably } from '../../../filesystem/durable.ts';
import { createPrivate, isOpenToOthers } from '../../../filesystem/private.ts';
import { ignoreMissing } from '../../../filesystem/system.ts';
import { usageFailure } from '../../failure.ts';
import { guarded } from '../../output/atomicfile.ts';
import { makeOwnFolder, openRegular } from '../../output/ownfile.ts';

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
    const facts = await file.stat();
    const { size } = facts;
    if (size !== SIZE)
      throw usageFailure(`${path} is no key: it must have ${SIZE} bytes, it has ${size}.`, {
        source: '--deidentify',
        hint: 'Name the file of the key, or one that does not exist yet to make a key.',
      });
    return { secret: await file.readFile(), isOpen: isOpenToOthers(facts) };
  } finally {
    await file.close();
  }
}

/** Makes a key, for its owner alone; it is on the disk before anything depends on it. Throws a Failure (exit 9). */
export async function makeKey(path: string): Promise<Key> {
  const secret = randomBytes(SIZE);
  await guarded(`make the key ${path}`, async () => {
    await makeOwnFolder(dirname(path));
    await writeDurably(await createPrivate(path), secret);
    await syncFolder(dirname(path));
  });
  return { secret, isOpen: false };
}
