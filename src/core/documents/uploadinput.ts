import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { asId } from '../../catalog/fields/numbers.ts';
import { isDate } from '../../catalog/fields/times.ts';
import { canonicalMimeType } from '../../catalog/resources/documentnames.ts';
import { fileFailure, usageFailure } from '../failure.ts';
import { SUPPORTED_TYPES } from './filetype.ts';
import { readManifest } from './manifest.ts';
import { type UploadRow, withDefaults } from './uploadrow.ts';

/** What a command line asks to be uploaded. */
export interface UploadInput {
  /** Files, folders and `-`, as given. */
  readonly paths: readonly string[];
  readonly manifest?: string;
  /** What the flags say about every row. */
  readonly defaults: Partial<UploadRow>;
  /** Folder that relative paths start from. */
  readonly folder: string;
  /** Files of the run itself: never taken from a folder. */
  readonly own: readonly string[];
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

/** Reads the manifest, lists the folders and makes a row of every file. Throws a Failure: exit code 2 or 9. */
export async function readUploadInput(input: UploadInput): Promise<UploadRows> {
  const { paths, manifest, defaults, folder } = input;
  if (manifest !== undefined && paths.length > 0)
    throw usageFailure('Give files or --manifest, not both.', { source: '--manifest' });
  if (manifest === undefined && paths.length === 0)
    throw usageFailure('Nothing to upload: give files, a folder, - or --manifest.', { source: 'FILE' });
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

async function rowsOfPaths({ paths, folder, own }: UploadInput): Promise<UploadRows> {
  const skipped = new Set(own.flatMap((path) => [resolve(folder, path), `${resolve(folder, path)}.part`]));
  const notes: string[] = [];
  const files: string[] = [];
  for (const path of paths) {
    if (path === '-' || !(await isFolder(resolve(folder, path)))) files.push(path);
    else files.push(...(await filesOf(path, { folder, skipped, notes })));
  }
  const single = paths.length === 1 && files.length === 1 && files[0] === paths[0];
  return { rows: files.map((file) => ({ file, tags: [] })), notes, single };
}

/** A path that is not there is no folder: it becomes a row, and its row says what is wrong. */
async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
}

interface Listing {
  readonly folder: string;
  readonly skipped: ReadonlySet<string>;
  readonly notes: string[];
}

/** Files directly in a folder, in the order of their names; hidden ones and those of the run itself are left out. */
async function filesOf(path: string, { folder, skipped, notes }: Listing): Promise<string[]> {
  const entries = await readdir(resolve(folder, path), { withFileTypes: true }).catch((cause: unknown) => {
    throw fileFailure(`read ${path}`, cause);
  });
  const shown = entries.filter(({ name }) => !name.startsWith('.') && !SYSTEM_FILES.has(name.toLowerCase()));
  const isFolderEntry = await Promise.all(
    shown.map(
      async (entry) =>
        entry.isDirectory() || (entry.isSymbolicLink() && (await isFolder(resolve(folder, path, entry.name)))),
    ),
  );
  const folders = shown.filter((_, index) => isFolderEntry[index]);
  if (folders.length > 0)
    notes.push(`${path}: ${folders.length} folder${folders.length === 1 ? '' : 's'} inside not uploaded.`);
  const files = shown.filter(
    (entry, index) => !isFolderEntry[index] && !skipped.has(resolve(folder, path, entry.name)),
  );
  if (files.length === 0) notes.push(`${path}: no files in it.`);
  return files.map(({ name }) => join(path, name)).sort();
}

/** Files that systems leave in folders by themselves. */
const SYSTEM_FILES: ReadonlySet<string> = new Set(['thumbs.db', 'desktop.ini']);
