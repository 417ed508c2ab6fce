import { homedir } from 'node:os';
import { join } from 'node:path';
import * as Flags from '@oclif/core/flags';

/** `--data`, on every command that works on the server's own data. */
export const dataFlag = {
  data: Flags.string({
    helpValue: 'DIR',
    summary: "Folder with the server's database and files; your own data folder when not given",
  }),
};

/** Where the server keeps its data when nobody says otherwise: the platform's folder for application data. */
export function defaultDataFolder(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): string {
  const home = env.HOME ?? homedir();
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'molar', 'server');
  if (platform === 'win32') return join(env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), 'molar', 'server');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'molar', 'server');
}
