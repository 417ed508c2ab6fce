import { counted } from '../../terminal/rowprogress.ts';
import { problemLines, sizeText } from './backupreport.ts';

/** What was restored. */
export interface RestoreReport {
  readonly backup: string;
  readonly to: string;
  readonly takenAt: string;
  readonly rows: number;
  readonly files: number;
  readonly problems: readonly string[];
}

/** What a migration has carried over. */
export interface MigrationReport {
  readonly from: string;
  readonly to: string;
  readonly tables: Readonly<Record<string, number>>;
  readonly rows: number;
  readonly files: { readonly count: number; readonly bytes: number } | null;
  readonly problems: readonly string[];
}

export function restoreText({ to, takenAt, rows, files, problems }: RestoreReport): string {
  return textOf([
    `Restored ${counted(rows)} rows and ${counted(files)} files to ${to}, compared with the backup and checked.`,
    `It holds the state of ${takenAt}.`,
    ...problemLines(problems),
  ]);
}

export function migrationText({ from, to, rows, files, problems }: MigrationReport): string {
  const moved =
    files === null
      ? `The files of documents stay where they are: give molar serve --files for them.`
      : `${counted(files.count)} files, ${sizeText(files.bytes)}, were copied and read back.`;
  return textOf([
    `Copied ${counted(rows)} rows from ${from} to ${to}; every table has the same rows on both sides.`,
    moved,
    ...problemLines(problems),
  ]);
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
