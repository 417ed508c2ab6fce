import { homedir } from 'node:os';
import { join } from 'node:path';
import { platform as thisPlatform } from 'node:process';
import type { Environment } from '../environment.ts';

/** The mirror of a profile where none is named (D52): `PROFILE.db`, `default.db` without a profile. */
export function defaultMirror(
  profile: string | undefined,
  env: Environment,
  platform: NodeJS.Platform = thisPlatform,
): string {
  return join(mirrorFolder(env, platform), `${profile ?? 'default'}.db`);
}

/** `mirror` below MOLAR_CONFIG_DIR, or below the platform's folder for data. */
function mirrorFolder(env: Environment, platform: NodeJS.Platform): string {
  if (env.MOLAR_CONFIG_DIR) return join(env.MOLAR_CONFIG_DIR, 'mirror');
  const home = env.HOME || homedir();
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'molar', 'mirror');
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'molar', 'mirror');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'molar', 'mirror');
}
