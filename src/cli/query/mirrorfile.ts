import type { MirrorPlace } from '../../core/mirror/place.ts';
import { noMirror } from '../../core/mirror/sql/reading.ts';
import { exists } from '../../core/output/atomicfile.ts';
import type { Context } from '../context.ts';
import type { FlagValues } from '../flags/values.ts';
import { mirrorPlace } from '../mirror/place.ts';

/** The mirror to read: that of `--from`, else of the profile. Throws a Failure: exit 4 where there is no such file. */
export async function existingMirror(flags: FlagValues, context: Context): Promise<MirrorPlace> {
  const place = mirrorPlace(flags, context, 'from');
  if (place.kind === 'postgres' || (await exists(place.name))) return place;
  throw noMirror(place.name);
}
