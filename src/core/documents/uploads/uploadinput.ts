import { readFile, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { asId } from '../../../catalog/fields/numbers.ts';
import { isDate } from '../../../catalog/fields/times.ts';
import { canonicalMimeType } from '../../../catalog/resources/documentnames.ts';
import { type Failure, fileFailure, usageFailure } from '../../failure.ts';
import { SUPPORTED_TYPES } from '../content/filetype.ts';
import { type Layouts, layoutRow, PATIENT_FOLDERS } from '../layouts/layouts.ts';
import { patientFolderRow } from '../layouts/patientfolders.ts';
import { folderFiles, isFolder } from './folderfiles.ts';
import { readManifest } from './manifest.ts';
import { UNKNOWN, type UploadRow, withDefaults } from './uploadrow.ts';

/** What a command line asks to be uploaded. */
export interface UploadInput {
  /** Files, folders and `-`, as given. */
  readonly paths: readonly string[];
  readonly manifest?: string;
  /** Whether folders are searched with the folders in them. */
  readonly recursive?: boolean;
  /** Patterns of which files of folders have to match one. */
  readonly include?: readonly string[];
  /** Patient, tag and date come from the path of a file; folders are searched recursively. */
  readonly layouts?: Layouts;
  /** Files whose patient is not found by their path are for review, those that do not follow `patient-folders` too. */
  readonly isReviewed?: boolean;
  /** What the flags say about every row. */
  readonly defaults: Partial<UploadRow>;
  /** Folder that relative paths start from. */
  readonly folder: string;
  /** Recognizes the files of the run itself, by absolute path: they are never taken from a folder. */
  readonly isOwn: (path: string) => boolean;
}

/** The requested rows; `notes`: what was left out. `single`: exactly one file was named. */
export interface UploadRows {
  readonly rows: readonly UploadRow[];
  readonly notes: readonly string[];
  readonly single: boolean;
}

/** Refuses flags that no row could be uploaded with (exit 2), before any file is read. */
export function checkDefaults(defaults: Partial<UploadRow>): void {
  const { patient, perioExam, mimeType, userDefinedDate, crop, ratio } = defaults;
  const isWrong = <T>(value: T | undefined, isValid: (value: T) => boolean) => value !== undefined && !isValid(value);
  const isId = (text: string) => asId(text) !== undefined;
  if (patient !== undefined && perioExam !== undefined)
    throw wrong('--perio-exam', 'Give --patient or --perio-exam, not both: a document has one owner.');
  if (isWrong(patient, isId)) throw wrong('--patient', '--patient must be a patient id.');
  if (isWrong(perioExam, isId)) throw wrong('--perio-exam', '--perio-exam must be the id of a perio exam.');
  if (isWrong(mimeType, (type) => canonicalMimeType(type) !== undefined))
    throw wrong('--mime-type', `--mime-type ${mimeType} is not a document type. ${SUPPORTED_TYPES}`);
  if (isWrong(userDefinedDate, isDate))
    throw wrong('--user-defined-date', '--user-defined-date must be a date that exists, written YYYY-MM-DD.');
  if ((crop === undefined) !== (ratio === undefined)) {
    const missing = crop === undefined ? '--crop' : '--ratio';
    throw wrong(missing, '--crop and --ratio go together: --crop X,Y,WIDTH,HEIGHT --ratio 1.');
  }
}

function wrong(source: string, message: string): Failure {
  return usageFailure(message, { source });
}

function folderFlag({ recursive, include = [] }: Pick<UploadInput, 'recursive' | 'include'>): string | undefined {
  return recursive ? '--recursive' : include.length > 0 ? '--include' : undefined;
}

/** Refuses ways of naming files that do not go together (exit 2). */
function checkInput(input: UploadInput): void {
  const { paths, manifest, include = [], layouts, defaults } = input;
  if (manifest !== undefined && paths.length > 0) throw wrong('--manifest', 'Give files or --manifest, not both.');
  if (manifest === undefined && paths.length === 0)
    throw wrong('FILE', 'Nothing to upload: give files, a folder, - or --manifest.');
  const folders = folderFlag(input) ?? (layouts && '--layout');
  if (manifest !== undefined && folders !== undefined)
    throw wrong(folders, `${folders} is for folders; a manifest names each file.`);
  if (include.includes('')) throw wrong('--include', '--include needs a pattern, as in --include "*.pdf".');
  if (layouts !== undefined && LAYOUT_FIELDS.some((key) => defaults[key] !== undefined)) {
    const message = `With ${layoutFlag(layouts)} the folders say patient, tag, date and name; leave the flags out.`;
    throw wrong('--layout', message);
  }
}

/** How messages name the layout. */
function layoutFlag(layouts: Layouts): string {
  return layouts.length === 1 && layouts[0] === PATIENT_FOLDERS ? `--layout ${PATIENT_FOLDERS}` : '--layout';
}

const LAYOUT_FIELDS = ['patient', 'perioExam', 'userDefinedDate', 'name'] as const;

/** Reads the manifest, lists the folders and makes a row of every file. Throws a Failure: exit code 2 or 9. */
export async function readUploadInput(input: UploadInput): Promise<UploadRows> {
  checkInput(input);
  const { manifest, defaults, folder } = input;
  const found = manifest === undefined ? await rowsOfPaths(input) : await rowsOfManifest(manifest, folder);
  if (defaults.name !== undefined && !found.single)
    throw wrong('--name', '--name fits one file only; a manifest has a column for names.');
  return { ...found, rows: found.rows.map((row) => withDefaults(row, defaults)) };
}

async function rowsOfManifest(manifest: string, folder: string): Promise<UploadRows> {
  const bytes = await readFile(resolve(folder, manifest)).catch((cause: unknown) => {
    throw fileFailure(`read ${manifest}`, cause);
  });
  const rows = readManifest(bytes, manifest);
  return { rows, notes: rows.length === 0 ? [`${manifest}: no files in it.`] : [], single: false };
}

async function rowsOfPaths(input: UploadInput): Promise<UploadRows> {
  const { paths, folder, layouts, include = [], isOwn } = input;
  const listing = { folder, include, isOwn, recursive: input.recursive === true || layouts !== undefined };
  // Run again as a manifest, the row must not become a document of the organization.
  const unowned = layouts === undefined ? {} : { patient: UNKNOWN };
  const flag = folderFlag(input);
  const takesFolders = flag !== undefined || layouts !== undefined;
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
        ...(layouts !== undefined && { problem: `${layoutFlag(layouts)} takes folders.` }),
      });
      continue;
    }
    folders++;
    const found = await folderFiles(path, listing);
    notes.push(...found.notes);
    rows.push(
      ...found.files.map((file) => rowOfFile(file, path, input)),
      ...found.unread.map(({ path: file, failure }) => ({ file, tags: [], ...unowned, unread: failure })),
    );
  }
  if (flag !== undefined && folders === 0 && missing === 0) throw wrong(flag, `${flag} is for folders; none is given.`);
  return { rows, notes, single: paths.length === 1 && folders === 0 };
}

function rowOfFile(file: string, root: string, { layouts, isReviewed, folder }: UploadInput): UploadRow {
  if (layouts === undefined) return { file, tags: [] };
  if (isReviewed !== true) return patientFolderRow(file, root, folder);
  const inside = relative(resolve(folder, root), resolve(folder, file)).split(sep).join('/');
  return layoutRow({ file, root, inside }, layouts, folder);
}

/** Why nothing can be found out about a path: most often it does not exist. */
function whyUnread(path: string, label: string): Promise<Failure | undefined> {
  return stat(path).then(
    () => undefined,
    (cause: unknown) => fileFailure(`read ${label}`, cause),
  );
}
