import { EXIT } from '../../../catalog/failures.ts';
import { counted } from '../../terminal/rowprogress.ts';

/** What a backup has. */
export interface BackupReport {
  readonly backup: string;
  /** UTC. */
  readonly takenAt: string;
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
  /** Of the database. */
  readonly sha256: string;
  /** False for data of an earlier molar, of which only the database itself was checked. */
  readonly checked: boolean;
  /** Problems that the data itself has. */
  readonly problems: readonly string[];
}

/** Lines of problems that are shown; `--json` has them all. */
const SHOWN = 10;

/** 6 when the backup is there but the data had problems already. */
export function problemsExitCode({ problems }: Pick<BackupReport, 'problems'>): number {
  return problems.length === 0 ? EXIT.done : EXIT.partial;
}

export function backupText(report: BackupReport): string {
  const { backup, takenAt, rows, files, bytes, sha256, checked, problems } = report;
  return [
    `Backed up ${counted(rows)} rows and ${counted(files)} files, ${sizeText(bytes)}, to ${backup}.`,
    `It holds the state of ${takenAt}; SHA-256 of its database: ${sha256}`,
    ...(checked ? [] : ['The data is of an earlier molar: of its records nothing was checked.']),
    ...problemLines(problems),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

export function problemLines(problems: readonly string[]): string[] {
  if (problems.length === 0) return [];
  const more = problems.length - SHOWN;
  return [
    'The data had problems before, which the copy has, too:',
    ...problems.slice(0, SHOWN).map((problem) => `  ${problem}`),
    ...(more > 0 ? [`  and ${counted(more)} more`] : []),
  ];
}

/** `12.5 MB`. */
export function sizeText(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
