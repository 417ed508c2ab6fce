import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { platform as thisPlatform } from 'node:process';
import type { Environment } from '../environment.ts';

/** The mirror's file for a profile, or without one (D52). */
export function defaultMirror(
  profile: string | undefined,
  env: Environment,
  platform: NodeJS.Platform = thisPlatform,
): string {
  return join(mirrorFolder(env, platform), `${profile ?? 'default'}.db`);
}

/** Where mirrors are kept that have no place of their own. */
function mirrorFolder(env: Environment, platform: NodeJS.Platform): string {
  if (env.MOLAR_CONFIG_DIR) return resolve(env.MOLAR_CONFIG_DIR, 'mirror');
  const home = env.HOME || homedir();
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'molar', 'mirror');
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'molar', 'mirror');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'molar', 'mirror');
}
