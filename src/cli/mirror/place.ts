import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { usageFailure } from '../../core/failure.ts';
import { databasePlace, defaultMirror, type MirrorPlace } from '../../core/mirror/place.ts';
import type { Context } from '../context.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';
import { profileName } from '../names/profilenames.ts';

const mirror = flagGroup('MIRROR');

/** The flag for the place of a mirror. */
export const placeFlags = {
  to: mirror.text(
    'FILE',
    'File of the mirror, or postgres://HOST/DATABASE; a file for each profile in the data folder when not given',
  ),
};

/** Where the mirror is that a command is about (D52); of a link, the file that it leads to. Throws a Failure (exit 2). */
export function mirrorPlace(flags: FlagValues, { env }: Pick<Context, 'env'>, flag = 'to'): MirrorPlace {
  const named = textFlag(flags, flag);
  if (named === undefined) return filePlace(defaultMirror(profileName(flags, env), env));
  if (!/^\w+:\/\//.test(named)) return filePlace(resolve(named));
  if (/^postgres(ql)?:/.test(named)) return databasePlace(named, `--${flag}`, env);
  throw usageFailure(`--${flag} must be a file, such as practice.db, or postgres://HOST/DATABASE.`, {
    source: `--${flag}`,
  });
}

function filePlace(file: string): MirrorPlace {
  return { kind: 'file', name: withoutLinks(file) };
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
