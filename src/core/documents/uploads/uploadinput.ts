import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { asId } from '../../../catalog/fields/numbers.ts';
import { isDate } from '../../../catalog/fields/times.ts';
import { canonicalMimeType } from '../../../catalog/resources/documentnames.ts';
import { type Failure, fileFailure, usageFailure } from '../../failure.ts';
import { SUPPORTED_TYPES } from '../content/filetype.ts';
import { folderFiles, isFolder } from './folderfiles.ts';
import { type LAYOUTS, patientFolderRow } from './layout.ts';
import { readManifest } from './manifest.ts';
import { UNKNOWN, type UploadRow, withDefaults } from './uploadrow.ts';

/** What a command line asks to be uploaded. */
export interface UploadInput {
  /** Files, folders and `-`, as given. */
  readonly paths: readonly string[];
  readonly manifest?: string;
  /** Whether folders are gone through with the folders in them. */
  readonly recursive?: boolean;
  /** Patterns that files of folders have to match one of. */
  readonly include?: readonly string[];
  /** Patient, tag and date come from where a file stands; goes through folders. */
  readonly layout?: (typeof LAYOUTS)[number];
  /** What the flags say about every row. */
  readonly defaults: Partial<UploadRow>;
  /** Folder that relative paths start from. */
  readonly folder: string;
  /** Tells the files of the run itself, by absolute path: never taken from a folder. */
  readonly isOwn: (path: string) => boolean;
}

/** The rows asked for; `notes`: what was left out. `single`: exactly one file was named. */
export interface UploadRows {
  readonly rows: readonly UploadRow[];
  readonly notes: readonly string[];
  readonly single: boolean;
}

/** Refuses flags that no row could be uploaded with (exit 2), before any file is looked at. */
export function checkDefaults({
  patient,
  perioExam,
  mimeType,
  userDefinedDate,
  crop,
  ratio,
}: Partial<UploadRow>): void {
  const wrong = (source: string, message: string) => usageFailure(message, { source });
  if (patient !== undefined && perioExam !== undefined) {
    throw wrong('--perio-exam', 'Give --patient or --perio-exam, not both: a document has one owner.');
  }
  if (patient !== undefined && asId(patient) === undefined) throw wrong('--patient', '--patient must be a patient id.');
  if (perioExam !== undefined && asId(perioExam) === undefined) {
    throw wrong('--perio-exam', '--perio-exam must be the id of a perio exam.');
  }
  if (mimeType !== undefined && canonicalMimeType(mimeType) === undefined) {
    throw wrong('--mime-type', `--mime-type ${mimeType} is not a document type. ${SUPPORTED_TYPES}`);
  }
  if (userDefinedDate !== undefined && !isDate(userDefinedDate)) {
    throw wrong('--user-defined-date', '--user-defined-date must be a date that exists, written YYYY-MM-DD.');
  }
  if ((crop === undefined) !== (ratio === undefined)) {
    throw wrong(
      crop === undefined ? '--crop' : '--ratio',
      '--crop and --ratio go together: --crop X,Y,WIDTH,HEIGHT --ratio 1.',
    );
  }
}

function folderFlag({ recursive, include = [] }: Pick<UploadInput, 'recursive' | 'include'>): string | undefined {
  return recursive ? '--recursive' : include.length > 0 ? '--include' : undefined;
}

/** Refuses ways of naming files that do not go together (exit 2). */
function checkInput(input: UploadInput): void {
  const { paths, manifest, include = [], layout, defaults } = input;
  const wrong = (source: string, message: string) => usageFailure(message, { source });
  if (manifest !== undefined && paths.length > 0) throw wrong('--manifest', 'Give files or --manifest, not both.');
  if (manifest === undefined && paths.length === 0)
    throw wrong('FILE', 'Nothing to upload: give files, a folder, - or --manifest.');
  const folders = folderFlag(input) ?? (layout && '--layout');
  if (manifest !== undefined && folders !== undefined)
    throw wrong(folders, `${folders} is for folders; a manifest names each file.`);
  if (include.includes('')) throw wrong('--include', "--include needs a pattern, as in --include '*.pdf'.");
  const taken = layout === undefined ? [] : LAYOUT_SAYS.filter((key) => defaults[key] !== undefined);
  if (taken.length > 0)
    throw wrong(
      '--layout',
      `With --layout ${layout} the folders say patient, tag, date and name; leave the flags out.`,
    );
}

const LAYOUT_SAYS = ['patient', 'perioExam', 'userDefinedDate', 'name'] as const;

/** Reads the manifest, lists the folders and makes a row of every file. Throws a Failure: exit code 2 or 9. */
export async function readUploadInput(input: UploadInput): Promise<UploadRows> {
  checkInput(input);
  const { manifest, defaults, folder } = input;
  const found = manifest === undefined ? await rowsOfPaths(input) : await rowsOfManifest(manifest, folder);
  const rows = found.rows.map((row) => withDefaults(row, defaults));
  if (defaults.name !== undefined && !found.single) {
    throw usageFailure('--name fits one file only; a manifest has a column for names.', { source: '--name' });
  }
  return { ...found, rows };
}

async function rowsOfManifest(manifest: string, folder: string): Promise<UploadRows> {
  const bytes = await readFile(resolve(folder, manifest)).catch((cause: unknown) => {
    throw fileFailure(`read ${manifest}`, cause);
  });
  const rows = readManifest(bytes, manifest);
  return { rows, notes: rows.length === 0 ? [`${manifest}: no files in it.`] : [], single: false };
}

async function rowsOfPaths(input: UploadInput): Promise<UploadRows> {
  const { paths, folder, layout, include = [], isOwn } = input;
  const listing = { folder, include, isOwn, recursive: input.recursive === true || layout !== undefined };
  // Run again as a manifest, the row must not become a document of the organization.
  const unowned = layout === undefined ? {} : { patient: UNKNOWN };
  const flag = folderFlag(input);
  const takesFolders = flag !== undefined || layout !== undefined;
  const notes: string[] = [];
  const rows: UploadRow[] = [];
  let folders = 0;
  let missing = 0;
  for (const path of paths) {
    if (path === '-' || !(await isFolder(resolve(folder, path)))) {
      const unread = path === '-' || !takesFolders ? undefined : await whyUnread(resolve(folder, path), path);
      if (unread !== undefined) missing++;
      rows.push({
        ...{ file: path, tags: [], ...unowned },
        ...(unread !== undefined && { unread }),
        ...(layout !== undefined && { problem: `--layout ${layout} takes folders.` }),
      });
      continue;
    }
    folders++;
    const found = await folderFiles(path, listing);
    notes.push(...found.notes);
    rows.push(
      ...found.files.map((file) => (layout === undefined ? { file, tags: [] } : patientFolderRow(file, path, folder))),
      ...found.unread.map(({ path: file, failure }) => ({ file, tags: [], ...unowned, unread: failure })),
    );
  }
  if (flag !== undefined && folders === 0 && missing === 0)
    throw usageFailure(`${flag} is for folders; none is given.`, { source: flag });
  return { rows, notes, single: paths.length === 1 && folders === 0 };
}

/** Why nothing can be learnt about a path: most often nothing stands there. */
function whyUnread(path: string, label: string): Promise<Failure | undefined> {
  return stat(path).then(
    () => undefined,
    (cause: unknown) => fileFailure(`read ${label}`, cause),
  );
}
