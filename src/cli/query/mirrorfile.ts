import type { Environment } from '../../core/environment.ts';
import { localFailure, usageFailure } from '../../core/failure.ts';
import { exists } from '../../core/output/atomicfile.ts';
import { chooseProfile } from '../../core/profiles/config.ts';
import { defaultMirror } from '../../core/query/mirrorplace.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';

/** The file of `--from`, else the mirror of the profile. Throws a Failure: exit 4 where there is none. */
export async function mirrorFile(flags: FlagValues, env: Environment): Promise<string> {
  const from = textFlag(flags, 'from');
  if (from === '') throw usageFailure('--from must name a file.', { source: '--from' });
  const file = from ?? defaultMirror(chooseProfile(textFlag(flags, 'profile'), env)?.name, env);
  if (await exists(file)) return file;
  const command = from === undefined ? 'molar mirror sync' : `molar mirror sync --to ${from}`;
  throw localFailure('mirror.missing', `There is no mirror: ${file} does not exist.`, {
    ...(from !== undefined && { source: '--from' }),
    hint: `Make it with ${command}.`,
  });
}
