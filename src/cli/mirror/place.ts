import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { usageFailure } from '../../core/failure.ts';
import { holderOf, holdLock, type Release } from '../../core/lockfile.ts';
import { defaultMirror } from '../../core/mirror/place.ts';
import type { LockStatus } from '../../core/mirror/status.ts';
import { guarded } from '../../core/output/atomicfile.ts';
import { makeOwnFolder } from '../../core/output/ownfile.ts';
import type { Context } from '../context.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';
import { profileName } from '../names/profilenames.ts';
import { lockOwner } from '../process/lockowner.ts';

const mirror = flagGroup('MIRROR');

/** The flag for the place of a mirror. */
export const placeFlags = {
  to: mirror.text('FILE', 'File of the mirror; one for each profile in the data folder when not given'),
};

/** The absolute path of the mirror that a command is about (D52); of a link, the file that it leads to. */
export function mirrorFile(flags: FlagValues, { env }: Pick<Context, 'env'>, flag = 'to'): string {
  const named = textFlag(flags, flag);
  if (named === undefined) return withoutLinks(defaultMirror(profileName(flags, env), env));
  if (!/^\w+:\/\//.test(named)) return withoutLinks(resolve(named));
  throw usageFailure(`--${flag} must be a file, such as practice.db.`, { source: `--${flag}` });
}

/** A file has one lock, by whatever name it is known. */
function withoutLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // It is not there yet, or cannot be reached: what opens it says so.
    return file;
  }
}

/** Makes the folder of a mirror, and keeps other commands from writing to it. Throws a Failure with exit code 9. */
export async function holdMirror(file: string, command: string, { clock }: Pick<Context, 'clock'>): Promise<Release> {
  await guarded(`make the folder ${dirname(file)}`, () => makeOwnFolder(dirname(file)));
  return holdLock(lockPath(file), `The mirror ${file}`, { ...lockOwner(clock), command });
}

/** Who is writing to a mirror. */
export async function lockStatus(file: string, { clock }: Context): Promise<LockStatus | null> {
  const holder = await holderOf(lockPath(file), lockOwner(clock));
  if (holder === undefined) return null;
  return { pid: holder.pid ?? null, command: holder.command ?? null, since: holder.startedAt ?? null };
}

function lockPath(file: string): string {
  return join(dirname(file), `.${basename(file)}.lock`);
}
