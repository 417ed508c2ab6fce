import { noMirror } from '../../core/mirror/sqlite/reading.ts';
import { exists } from '../../core/output/atomicfile.ts';
import type { Context } from '../context.ts';
import type { FlagValues } from '../flags/values.ts';
import { mirrorFile } from '../mirror/place.ts';

/** The mirror to read: that of `--from`, else of the profile. Throws a Failure: exit 4 where there is none. */
export async function existingMirror(flags: FlagValues, context: Context): Promise<string> {
  const file = mirrorFile(flags, context, 'from');
  if (await exists(file)) return file;
  throw noMirror(file);
}
