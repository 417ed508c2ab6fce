import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { localFailure } from '../core/failure.ts';

/** `--data`, on every command that works on the server's own data. */
export const dataFlag = {
  data: Flags.string({
    helpValue: 'DIR',
    summary: "Folder with the server's database and files; your own data folder when not given",
  }),
};

/** Refuses (exit 9) a folder that is not there, which a mistyped `--data` would otherwise make anew and find empty. */
export function requireFolder(data: string): void {
  if (existsSync(data)) return;
  throw localFailure('local.file', `There is no folder ${data}, so there is no data of a server in it.`, {
    source: '--data',
    hint: 'Check --data; molar serve and molar server import make the folder.',
  });
}

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
