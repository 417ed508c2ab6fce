import { platform } from 'node:process';
import * as Flags from '@oclif/core/flags';
import { type FlagValues, textFlag } from '../../flags/values.ts';
import { defaultDataFolder, type ServerPlace } from '../serverfolder.ts';

/** The two sides of a migration. */
export const sideFlags = {
  from: Flags.string({
    required: true,
    helpValue: 'DIR|URL',
    summary: 'Data folder or postgres://USER@HOST:PORT/NAME to copy from',
  }),
  to: Flags.string({
    required: true,
    helpValue: 'DIR|URL',
    summary: 'New data folder or empty postgres:// database to copy to; the password as PGPASSWORD',
  }),
  'files-from': Flags.string({
    helpValue: 'DIR|URL',
    summary: 'Where document files are, when not in the data folder: a folder, or s3://BUCKET/PREFIX',
  }),
  'files-to': Flags.string({
    helpValue: 'DIR|URL',
    summary: 'Copy the files of documents, too, to a folder or s3://BUCKET/PREFIX; always done to a new data folder',
  }),
};

/** One side, `from` or `to`. */
export function sideOf(
  flags: FlagValues,
  side: 'from' | 'to',
  env: Readonly<Record<string, string | undefined>>,
): ServerPlace {
  const where = textFlag(flags, side) ?? '';
  const files = textFlag(flags, `files-${side}`);
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(where);
  return {
    data: isUrl ? defaultDataFolder(env, platform) : where,
    ...(isUrl && { database: where }),
    ...(files !== undefined && { files }),
  };
}
