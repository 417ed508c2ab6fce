import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import { Minimatch } from 'minimatch';
import { quantity } from '../../count.ts';
import { type Failure, fileFailure } from '../../failure.ts';

/** How a folder is searched for files. */
export interface FolderListing {
  /** Folder that relative paths start from. */
  readonly folder: string;
  readonly recursive: boolean;
  /**
   * Patterns of which a file has to match one; without patterns all files do. A pattern without a slash is compared with
   * the file's name, one with a slash with its path inside the folder; letter case does not matter.
   */
  readonly include: readonly string[];
  /** Whether a file, by its absolute path, belongs to the run itself. */
  readonly isOwn: (path: string) => boolean;
}

/** A folder that could not be listed; the failure has exit code 9. */
export interface UnreadFolder {
  readonly path: string;
  readonly failure: Failure;
}

/** Files of a folder as paths that begin with the folder as given, and notes on what was left out. */
export interface FolderFiles {
  readonly files: readonly string[];
  readonly unread: readonly UnreadFolder[];
  readonly notes: readonly string[];
}

/** Files that operating systems put into folders. */
const SYSTEM_FILES: ReadonlySet<string> = new Set(['thumbs.db', 'desktop.ini']);

/**
 * Files of a folder in the order of their paths; hidden ones, those of the system and of the run are left out, and
 * folders behind symbolic links, which could form cycles. A folder that cannot be read does not stop the others.
 */
export async function folderFiles(path: string, listing: FolderListing): Promise<FolderFiles> {
  const patterns = listing.include.map((pattern) => new Minimatch(pattern, GLOB));
  const walk: FolderWalk = { files: [], unread: [], folders: 0, links: 0 };
  await enter(path, listing, walk);
  const inside = (file: string) => relative(path, file).split(sep).join('/');
  const files = patterns.length === 0 ? walk.files : walk.files.filter((file) => isIncluded(inside(file), patterns));
  const unmatched = walk.files.length - files.length;
  const isEmpty = walk.files.length === 0 && walk.unread.length === 0;
  const notes = [
    walk.folders > 0 && `${quantity(walk.folders, 'folder')} inside not uploaded; --recursive includes them.`,
    walk.links > 0 && `${quantity(walk.links, 'linked folder')} inside not uploaded.`,
    unmatched > 0 && `${quantity(unmatched, 'file')} left out by --include.`,
    isEmpty && 'no files in it.',
  ];
  return { files, unread: walk.unread, notes: notes.filter(Boolean).map((note) => `${path}: ${note}`) };
}

const GLOB = { nocase: true, nocomment: true, nonegate: true, platform: 'linux' } as const;

function isIncluded(inside: string, patterns: readonly Minimatch[]): boolean {
  return patterns.some((glob) => glob.match(glob.pattern.includes('/') ? inside : basename(inside)));
}

/** What was found so far, and the number of folders and linked folders that were left out. */
interface FolderWalk {
  readonly files: string[];
  readonly unread: UnreadFolder[];
  folders: number;
  links: number;
}

async function enter(path: string, listing: FolderListing, walk: FolderWalk): Promise<void> {
  const { folder, recursive, isOwn } = listing;
  const entries = await readdir(resolve(folder, path), { withFileTypes: true }).catch((cause: unknown) => {
    walk.unread.push({ path, failure: fileFailure(`read ${path}`, cause) });
    return [];
  });
  const shown = entries.filter(({ name }) => !name.startsWith('.') && !SYSTEM_FILES.has(name.toLowerCase()));
  for (const entry of shown.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const file = join(path, entry.name);
    const absolute = resolve(folder, file);
    if (entry.isDirectory() && recursive) await enter(file, listing, walk);
    else if (entry.isDirectory()) walk.folders++;
    else if (entry.isSymbolicLink() && (await isFolder(absolute))) walk.links++;
    else if (!isOwn(absolute)) walk.files.push(file);
  }
}

/** Whether a path is that of a folder that exists. */
export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
}
