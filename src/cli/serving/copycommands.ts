import * as Args from '@oclif/core/args';
import { EXIT } from '../../catalog/failures.ts';
import { countText, quantity } from '../../core/count.ts';
import type { Environment } from '../../core/environment.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { sizeText } from '../terminal/text.ts';
import { MaintenanceCommand, type Outcome, type Task } from './maintenancecommand.ts';
import { type DataLocation, dataFlags, dataLocation, jsonFlag, requireFolder } from './servercommand.ts';

const { text } = flagGroup();

type BackupReport = import('../../server/maintenance/backup/backup.ts').BackupReport;
type RestoreReport = import('../../server/maintenance/restore.ts').RestoreReport;
type MigrationReport = import('../../server/maintenance/migrate.ts').MigrationReport;

/** `molar server backup`: a copy of the data while the server runs. */
export abstract class BackupCommand extends MaintenanceCommand {
  static override args = {
    folder: Args.string({ required: true, ignoreStdin: true, description: 'New folder for the backup' }),
  };
  static override flags = {
    ...dataFlags,
    since: text('DIR', 'Earlier backup in the same folder: document files that it has are linked, not copied'),
    ...jsonFlag,
  };

  protected override async perform({ args, flags }: CommandInput, task: Task): Promise<Outcome> {
    const location = dataLocation(flags, this.context.env);
    requireFolder(location);
    const since = textFlag(flags, 'since');
    const { backUp } = await import('../../server/maintenance/backup/backup.ts');
    const options = { ...task, version: this.config.version, ...(since !== undefined && { since }) };
    const report = await backUp(location, String(args.folder), options);
    return outcomeOf(report, flags, backupText);
  }
}

/** `molar server restore`: a backup into an empty folder or database. */
export abstract class RestoreCommand extends MaintenanceCommand {
  static override args = {
    backup: Args.string({ required: true, ignoreStdin: true, description: 'Folder that "server backup" made' }),
  };
  static override flags = {
    ...dataFlags,
    'audit-key': text(
      'FILE',
      'Key that the server will sign the audit log with, where it is not to be in its default place; made when missing',
    ),
    ...jsonFlag,
  };

  protected override async perform({ args, flags }: CommandInput, task: Task): Promise<Outcome> {
    const { restore } = await import('../../server/maintenance/restore.ts');
    return outcomeOf(
      await restore(String(args.backup), dataLocation(flags, this.context.env), task),
      flags,
      restoreText,
    );
  }
}

/** `molar server migrate`: the data from a folder to PostgreSQL, or back. */
export abstract class MigrateCommand extends MaintenanceCommand {
  static override flags = {
    from: text('DIR|URL', 'Data folder or postgres://USER@HOST:PORT/NAME to copy from', { required: true }),
    to: text('DIR|URL', 'New data folder or empty postgres:// database to copy to; the password as PGPASSWORD', {
      required: true,
    }),
    'files-from': text(
      'DIR|URL',
      'Where document files are, when not in the data folder: a folder, or s3://BUCKET/PREFIX',
    ),
    'files-to': text(
      'DIR|URL',
      'Also copy document files, to a folder or s3://BUCKET/PREFIX; always done for a new data folder',
    ),
    ...jsonFlag,
  };

  protected override async perform({ flags }: CommandInput, task: Task): Promise<Outcome> {
    const { env } = this.context;
    const [from, to] = [sideOf(flags, 'from', env), sideOf(flags, 'to', env)];
    requireFolder(from);
    const { migrate } = await import('../../server/maintenance/migrate.ts');
    return outcomeOf(await migrate(from, to, task), flags, migrationText);
  }
}

/** One side of a migration. */
export function sideOf(flags: FlagValues, side: 'from' | 'to', env: Environment): DataLocation {
  const where = textFlag(flags, side) ?? '';
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(where);
  return dataLocation({ [isUrl ? 'database' : 'data']: where, files: flags[`files-${side}`] }, env);
}

/** Exit 6 when the copy is complete but the data had problems already. */
export function outcomeOf<T extends { readonly problems: readonly string[] }>(
  report: T,
  flags: FlagValues,
  textOf: (report: T) => string,
): Outcome {
  const text = isOn(flags, 'json') ? `${JSON.stringify(report)}\n` : textOf(report);
  return { text, exitCode: report.problems.length === 0 ? EXIT.done : EXIT.partial };
}

/** A backup for people. */
export function backupText(report: BackupReport): string {
  const { backup, takenAt, rows, files, shared, bytes, sha256, checked, problems } = report;
  return textOf([
    `Backed up ${quantity(rows, 'row')} and ${quantity(files, 'file')}, ${sizeText(bytes)}, to ${backup}.`,
    ...(shared > 0
      ? [`${countText(shared)} of the files are links: other backups in that folder have them, too.`]
      : []),
    `It holds the state of ${takenAt}; SHA-256 of its database: ${sha256}`,
    ...(checked ? [] : ['The data is from another version of molar: its records were not checked.']),
    ...problemLines(problems),
  ]);
}

/** A restore for people. */
export function restoreText({ to, takenAt, rows, files, problems }: RestoreReport): string {
  return textOf([
    `Restored ${quantity(rows, 'row')} and ${quantity(files, 'file')} to ${to}, compared with the backup and checked.`,
    `It holds the state of ${takenAt}.`,
    ...problemLines(problems),
  ]);
}

/** A migration for people. */
export function migrationText({ from, to, rows, files, problems }: MigrationReport): string {
  const moved =
    files === null
      ? 'Document files stay where they are: point molar serve to them with --files.'
      : `${countText(files.count)} files, ${sizeText(files.bytes)}, were copied and read back.`;
  return textOf([
    `Copied ${quantity(rows, 'row')} from ${from} to ${to}; every table has the same rows on both sides.`,
    moved,
    ...problemLines(problems),
  ]);
}

/** Maximum problems shown; `--json` has them all. */
const MAX_SHOWN = 10;

function problemLines(problems: readonly string[]): string[] {
  if (problems.length === 0) return [];
  const more = problems.length - MAX_SHOWN;
  return [
    'The data already had problems, which the copy has too:',
    ...problems.slice(0, MAX_SHOWN).map((problem) => `  ${problem}`),
    ...(more > 0 ? [`  and ${countText(more)} more`] : []),
  ];
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
