import type { Failure } from '../../failure.ts';
import type { PathFacts } from '../layouts/pattern.ts';

/** Outcomes of a row. `unknown`: sent, but whether it was stored could not be found out. `pending`: not tried yet. */
export const UPLOAD_STATUSES = ['done', 'failed', 'unknown', 'pending'] as const;

/** One of `UPLOAD_STATUSES`. */
export type UploadStatus = (typeof UPLOAD_STATUSES)[number];

/** The outcome of one file: `error` in one line, `exitCode` that of its cause (contract §4), 0 when done. */
export interface UploadOutcome {
  readonly status: UploadStatus;
  readonly id: string | null;
  readonly storedName: string | null;
  /** POSTs sent, those of earlier runs included. */
  readonly attempts: number;
  readonly error: string | null;
  readonly exitCode: number;
}

/** The outcome of a row as a results CSV of an earlier run has it. */
export interface EarlierOutcome {
  readonly status: UploadStatus;
  readonly id?: string;
  readonly storedName?: string;
  readonly attempts: number;
  /** It is from another results file, with a journal of its own. */
  readonly elsewhere?: boolean;
}

/** Why a person has to look at a file: the same sentence for all of a kind, and the patients it may be of, by id. */
export interface Review {
  readonly reason: string;
  readonly candidates: readonly string[];
  /** Its path inside the folder that was given, where no pattern fits it. */
  readonly unfit?: string;
}

/** One requested upload: texts from flags or manifest cells, absent where nothing was given. */
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
  /** Where the row is, for messages: `scans.csv line 7`. */
  readonly location?: string;
  readonly earlier?: EarlierOutcome;
  /** What its path says, until the patient is found by it. */
  readonly facts?: PathFacts;
  /** `Last, First` of the patient found by it. */
  readonly patientName?: string;
  /** Why a person has to say who the patient is; it is not uploaded. */
  readonly review?: Review;
  /** Why it cannot be uploaded, where that is known before the file is looked at. */
  readonly problem?: string;
  /** Why it cannot be read: a folder that could not be listed is a row of its own. */
  readonly unread?: Failure;
}

/** Marks what is not known; no run accepts it, so that the results CSV is corrected before it is run. */
export const UNKNOWN = '?';

/** Columns of a manifest that are always there. */
export const MANIFEST_COLUMNS = ['file', 'name', 'patient', 'perioExam', 'tags', 'mimeType'] as const;
/** Columns of a manifest that are there only where some row uses them. */
export const EXTRA_COLUMNS = ['userDefinedDate', 'crop', 'ratio'] as const;
/** Columns that a review file adds; with the last of them no row is filed under the organization. */
export const REVIEW_COLUMNS = ['reason', 'candidates'] as const;
/** Columns that a results CSV adds. */
export const RESULT_COLUMNS = ['status', 'id', 'storedName', 'attempts', 'error'] as const;

/** Identifies a row across runs: the same file for the same owner under the same name. */
export function rowKey(row: UploadRow): string {
  return JSON.stringify([row.file, row.name ?? '', row.patient ?? '', row.perioExam ?? '']);
}

/** Fills in from the flags what a row leaves open; an owner or tags of its own take precedence. */
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

/** Tags in one cell, separated by semicolons; a backslash before a semicolon or a backslash makes it part of the tag. */
export function joinTags(tags: readonly string[]): string {
  return tags.map((tag) => tag.replace(/[\\;]/g, '\\$&')).join(';');
}

/** The tags of a cell that `joinTags` made, or a person. */
export function splitTags(cell: string): string[] {
  const tags = cell.match(/(?:\\[\\;]|[^;])+/g) ?? [];
  return tags.map((tag) => tag.replace(/\\([\\;])/g, '$1').trim()).filter((tag) => tag !== '');
}
