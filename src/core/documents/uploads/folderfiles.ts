import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import { Minimatch } from 'minimatch';
import { type Failure, fileFailure } from '../../failure.ts';

/** How a folder is gone through. */
export interface FolderListing {
  /** Folder that relative paths start from. */
  readonly folder: string;
  readonly recursive: boolean;
  /**
   * Patterns of which a file has to match one, all files where there are none. A pattern without a slash is compared
   * with the file's name, one with a slash with its path inside the folder; letter case does not matter.
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

/** Files of a folder as paths that begin with the folder as it was given, and what was left out, in words. */
export interface FolderFiles {
  readonly files: readonly string[];
  readonly unread: readonly UnreadFolder[];
  readonly notes: readonly string[];
}

/** Files that systems leave in folders by themselves. */
const SYSTEM_FILES: ReadonlySet<string> = new Set(['thumbs.db', 'desktop.ini']);

/**
 * Files of a folder in the order of their paths; hidden ones, those of systems and of the run are left out, and folders
 * behind symbolic links, which could go round in circles. A folder that cannot be read does not keep the others out.
 */
export async function folderFiles(path: string, listing: FolderListing): Promise<FolderFiles> {
  const patterns = listing.include.map((pattern) => new Minimatch(pattern, GLOB));
  const walk = new FolderWalk(listing);
  await walk.enter(path);
  const inside = (file: string) => relative(path, file).split(sep).join('/');
  const files = patterns.length === 0 ? walk.files : walk.files.filter((file) => isIncluded(inside(file), patterns));
  const unmatched = walk.files.length - files.length;
  const notes = [
    ...(walk.folders > 0
      ? [`${path}: ${counted(walk.folders, 'folder')} inside not uploaded; --recursive goes in.`]
      : []),
    ...(walk.links > 0 ? [`${path}: ${counted(walk.links, 'linked folder')} inside not uploaded.`] : []),
    ...(unmatched > 0 ? [`${path}: ${counted(unmatched, 'file')} left out by --include.`] : []),
    ...(files.length === 0 && unmatched === 0 && walk.unread.length === 0 ? [`${path}: no files in it.`] : []),
  ];
  return { files, unread: walk.unread, notes };
}

const GLOB = { nocase: true, nocomment: true, nonegate: true, platform: 'linux' } as const;

function isIncluded(inside: string, patterns: readonly Minimatch[]): boolean {
  return patterns.some((glob) => glob.match(glob.pattern.includes('/') ? inside : basename(inside)));
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

class FolderWalk {
  readonly files: string[] = [];
  readonly unread: UnreadFolder[] = [];
  folders = 0;
  links = 0;
  private readonly listing: FolderListing;

  constructor(listing: FolderListing) {
    this.listing = listing;
  }

  async enter(path: string): Promise<void> {
    const entries = await readdir(this.absolute(path), { withFileTypes: true }).catch((cause: unknown) => {
      this.unread.push({ path, failure: fileFailure(`read ${path}`, cause) });
      return [];
    });
    const shown = entries.filter(({ name }) => !name.startsWith('.') && !SYSTEM_FILES.has(name.toLowerCase()));
    for (const entry of shown.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      await this.take(join(path, entry.name), entry);
    }
  }

  private async take(path: string, entry: Dirent): Promise<void> {
    if (entry.isDirectory()) {
      if (this.listing.recursive) await this.enter(path);
      else this.folders++;
    } else if (entry.isSymbolicLink() && (await isFolder(this.absolute(path)))) {
      this.links++;
    } else if (!this.listing.isOwn(this.absolute(path))) {
      this.files.push(path);
    }
  }

  private absolute(path: string): string {
    return resolve(this.listing.folder, path);
  }
}

/** Whether a folder stands at a path; one that is not there is none. */
export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
}
