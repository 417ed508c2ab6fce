import type { Failure } from '../../failure.ts';

/** What became of a row. `unknown`: sent, but whether it was stored could not be found out. `pending`: not tried yet. */
export type UploadStatus = 'done' | 'failed' | 'unknown' | 'pending';

export const UPLOAD_STATUSES: readonly UploadStatus[] = ['done', 'failed', 'unknown', 'pending'];

/** What a results CSV of an earlier run says about a row. */
export interface EarlierOutcome {
  readonly status: UploadStatus;
  readonly id?: string;
  readonly storedName?: string;
  readonly attempts: number;
  /** It was another results file that said so, with a journal of its own. */
  readonly elsewhere?: boolean;
}

/** One upload as it was asked for: texts from flags or manifest cells, absent where nothing was given. */
export interface UploadRow {
  /** Path as given, relative to the current folder; `-` for stdin. */
  readonly file: string;
  readonly name?: string;
  readonly patient?: string;
  readonly perioExam?: string;
  readonly tags: readonly string[];
  readonly mimeType?: string;
  readonly userDefinedDate?: string;
  /** `X,Y,WIDTH,HEIGHT` in pixels. */
  readonly crop?: string;
  readonly ratio?: string;
  /** Where the row stands, for messages: `scans.csv line 7`. */
  readonly place?: string;
  readonly earlier?: EarlierOutcome;
  /** Why it cannot be uploaded, where that is known before the file is looked at. */
  readonly problem?: string;
  /** Why it cannot be read: a folder that could not be listed stands as a row of its own. */
  readonly unread?: Failure;
}

/** What is not known carries a mark that no run accepts, so that the results CSV is put right before it is run. */
export const UNKNOWN = '?';

/** Columns of a manifest that a row always has, and those that stand only where some row uses them. */
export const MANIFEST_COLUMNS = ['file', 'name', 'patient', 'perioExam', 'tags', 'mimeType'] as const;
export const EXTRA_COLUMNS = ['userDefinedDate', 'crop', 'ratio'] as const;
export const RESULT_COLUMNS = ['status', 'id', 'storedName', 'attempts', 'error'] as const;

/** Tells rows of different runs apart: the same file for the same owner under the same name. */
export function rowKey(row: UploadRow): string {
  return JSON.stringify([row.file, row.name ?? '', row.patient ?? '', row.perioExam ?? '']);
}

/** Fills what a row leaves open from the flags; a row with an owner or tags of its own keeps them. */
export function withDefaults(row: UploadRow, defaults: Partial<UploadRow>): UploadRow {
  const owned = row.patient !== undefined || row.perioExam !== undefined;
  const { patient, perioExam, ...rest } = defaults;
  return {
    ...rest,
    ...(!owned && patient !== undefined && { patient }),
    ...(!owned && perioExam !== undefined && { perioExam }),
    ...row,
    tags: row.tags.length > 0 ? row.tags : (defaults.tags ?? []),
  };
}

/** Tags in one cell, separated by semicolons; a backslash before a semicolon or a backslash makes it a part of the tag. */
export function joinTags(tags: readonly string[]): string {
  return tags.map((tag) => tag.replace(/[\\;]/g, '\\$&')).join(';');
}

export function splitTags(cell: string): string[] {
  const tags = cell.match(/(?:\\[\\;]|[^;])+/g) ?? [];
  return tags.map((tag) => tag.replace(/\\([\\;])/g, '$1').trim()).filter((tag) => tag !== '');
}
