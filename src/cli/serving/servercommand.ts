import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_TEXT } from '../../catalog/fields/text.ts';
import type { Environment } from '../../core/environment.ts';
import { localFailure } from '../../core/failure.ts';
import { applicationDataFolder, configFolder } from '../../core/profiles/config.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, textFlag, wholeNumber } from '../flags/values.ts';
import { type CommandInput, MolarCommand } from '../molarcommand.ts';
import { serverFailureOf } from './serverfailure.ts';

const { text, toggle, whole } = flagGroup();

/** The server's data, opened by a command. */
export type DataFolder = import('../../server/datafolder.ts').OpenFolder;

/** Flags of every command on the server's data: where it is. */
export const dataFlags = {
  data: text('DIR', "Folder with the server's database and files; the default data folder when not given"),
  database: text(
    'URL',
    'PostgreSQL database instead of the folder: postgres://USER@HOST:PORT/NAME; the password as PGPASSWORD',
    { exclusive: ['data'] },
  ),
  files: text('DIR|URL', 'Where document files are: a folder, or s3://BUCKET/PREFIX'),
};

/** `--audit-key` of commands that verify or sign the audit log. */
export const auditKeyFlag = text(
  'FILE',
  'Key of the server, if not in its default place, or its public half (PEM); of several servers, or with keys of before, one below the other',
);

/** `--json` of commands that print one object. */
export const jsonFlag = { json: toggle('Print one JSON object') };

/** `--max-text` of commands that take in records. */
export const maxTextFlag = {
  'max-text': whole('N', 'Characters that a free text such as a note may have, 10000 when not given'),
};

/** Code points that a free text may have (contract §8). */
export function maxTextOf(flags: FlagValues): number {
  return wholeNumber(flags, 'max-text', 1, 1_000_000) ?? MAX_TEXT;
}
/** `--json` of commands that print a list. */
export const jsonArrayFlag = { json: toggle('Print a JSON array') };

/** Where the server's data is. */
export interface DataLocation {
  /** A folder, or `:memory:`; beside a database it holds what is neither in it nor among the files. */
  readonly data: string;
  readonly database?: string;
  readonly files?: string;
  /** File of the key of the audit log's checkpoints, which need not exist; in the data folder when not given. */
  readonly auditKey?: string;
}

/** The location that the flags name, else the platform's folder for application data. */
export function dataLocation(flags: FlagValues, env: Environment): DataLocation {
  const database = textFlag(flags, 'database');
  const files = textFlag(flags, 'files');
  const auditKey =
    textFlag(flags, 'audit-key') ?? (database === undefined ? undefined : join(configFolder(env), 'audit.key'));
  return {
    data: textFlag(flags, 'data') ?? join(applicationDataFolder(env), 'server'),
    ...(database !== undefined && { database }),
    ...(files !== undefined && { files }),
    ...(auditKey !== undefined && { auditKey }),
  };
}

/** Refuses (exit 9) a folder that does not exist: a mistyped `--data` would otherwise create an empty one. */
export function requireFolder({ data, database }: DataLocation): void {
  if (database !== undefined || existsSync(data)) return;
  throw localFailure('local.file', `No such data folder: ${data}.`, {
    source: '--data',
    hint: 'Check --data; molar serve and molar server import create the folder.',
  });
}

/** A command on the server's own data; it works with and without a server running on it (contract §7). */
export abstract class ServerCommand extends MolarCommand {
  /** Whether the data folder is created where there is none. */
  protected readonly createsFolder: boolean = false;

  /** Does the work and returns what goes to standard output, or what is left of it. */
  protected abstract work(folder: DataFolder, input: CommandInput): Promise<string>;

  override async run(): Promise<void> {
    const input = await this.input();
    try {
      const location = dataLocation(input.flags, this.context.env);
      if (!this.createsFolder) requireFolder(location);
      const [{ openFolder }, { reportingDamage }] = await Promise.all([
        import('../../server/datafolder.ts'),
        import('../../server/maintenance/damage.ts'),
      ]);
      await reportingDamage(async () => {
        const folder = await openFolder(location.data, { ...location, serving: false });
        try {
          await this.print(await this.work(folder, input));
        } finally {
          await folder.close();
        }
      });
    } catch (error) {
      throw serverFailureOf(error);
    }
  }
}
