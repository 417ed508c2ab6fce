import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { platform } from 'node:process';
import * as Flags from '@oclif/core/flags';
import { localFailure } from '../../core/failure.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';

/** Where the server's data is: on every command that works on it. */
export const dataFlags = {
  data: Flags.string({
    helpValue: 'DIR',
    summary: "Folder with the server's database and files; your own data folder when not given",
  }),
  database: Flags.string({
    helpValue: 'URL',
    exclusive: ['data'],
    summary: 'PostgreSQL database in place of the folder: postgres://USER@HOST:PORT/NAME; the password as PGPASSWORD',
  }),
  files: Flags.string({
    helpValue: 'DIR|URL',
    summary: 'Where document files are: a folder, or s3://BUCKET/PREFIX',
  }),
};

/** The data that a command works on. */
export interface ServerPlace {
  /** A folder, or `:memory:`; beside a database it holds what is neither in it nor among the files. */
  readonly data: string;
  readonly database?: string;
  readonly files?: string;
}

export function serverPlace(flags: FlagValues, env: Readonly<Record<string, string | undefined>>): ServerPlace {
  const database = textFlag(flags, 'database');
  const files = textFlag(flags, 'files');
  return {
    data: textFlag(flags, 'data') ?? defaultDataFolder(env, platform),
    ...(database !== undefined && { database }),
    ...(files !== undefined && { files }),
  };
}

/** Refuses (exit 9) a folder that is not there, which a mistyped `--data` would otherwise make anew and find empty. */
export function requireFolder({ data, database }: ServerPlace): void {
  if (database !== undefined || existsSync(data)) return;
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
