import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { type Failure, localFailure, usageFailure } from '../failure.ts';
import { jsonOf } from '../jsontext.ts';
import { writeWholeFile } from '../output/atomicfile.ts';
import { guarded, ignoreMissing } from '../output/replacement.ts';
import { isSavedName } from '../profiles/config.ts';

/** What a bookmark is of: the same name may stand for several resources, and for several organizations. */
export interface BookmarkPlace {
  readonly name: string;
  readonly url: string;
  readonly organization: string;
  readonly resource: string;
}

/** Where the next incremental export of a resource begins. */
export interface Bookmark extends BookmarkPlace {
  readonly version: 1;
  /** The filter of the exports it belongs to, without the bound of its own; null for none. */
  readonly filter: string | null;
  /** UTC: records modified from then on are asked for, which is the start of the last complete run less the overlap. */
  readonly since: string;
  /** UTC: when the last complete run began. */
  readonly runStartedAt: string;
  /** Records of the overlap that have been exported: id to a hash of the record. */
  readonly exported: Readonly<Record<string, string>>;
}

/** Bookmarks in a folder, a file each. */
export class Bookmarks {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Undefined where there is none yet. Throws a Failure with exit code 9 when it cannot be read. */
  async read(place: BookmarkPlace): Promise<Bookmark | undefined> {
    return this.readFile(this.pathOf(place));
  }

  /** Makes the folder, and fails with exit code 9 where bookmarks could not be kept: before a long run, not after it. */
  async prepare(): Promise<void> {
    await guarded(`keep bookmarks in ${this.folder}`, async () => {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      await access(this.folder, constants.W_OK | constants.X_OK);
    });
  }

  /** Moves a bookmark forward; one that another run has moved further stays. Throws a Failure with exit code 9. */
  async move(bookmark: Bookmark): Promise<void> {
    const known = await this.read(bookmark);
    if (known !== undefined && known.filter === bookmark.filter && known.since > bookmark.since) return;
    await this.prepare();
    await writeWholeFile(this.pathOf(bookmark), `${JSON.stringify(bookmark)}\n`);
  }

  /** Every bookmark, by name, then by resource. */
  async list(): Promise<Bookmark[]> {
    const names = await guarded(`read the folder ${this.folder}`, () =>
      readdir(this.folder).catch((cause: unknown) => ignoreMissing(cause) ?? []),
    );
    const files = names.filter((name) => name.endsWith('.json'));
    const found = await Promise.all(files.map((name) => this.readFile(join(this.folder, name))));
    const key = ({ name, organization, resource, url }: Bookmark) =>
      JSON.stringify([name, organization, resource, url]);
    return found.filter((bookmark) => bookmark !== undefined).toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  }

  async remove(place: BookmarkPlace): Promise<void> {
    await guarded(`remove ${this.pathOf(place)}`, () => rm(this.pathOf(place), { force: true }));
  }

  private pathOf({ name, url, organization, resource }: BookmarkPlace): string {
    const hash = createHash('sha256')
      .update(JSON.stringify([name, url, organization, resource]))
      .digest('hex');
    return join(this.folder, `${name}-${resource}-${hash.slice(0, 12)}.json`);
  }

  private async readFile(path: string): Promise<Bookmark | undefined> {
    const text = await guarded(`read ${path}`, () => readFile(path, 'utf8').catch(ignoreMissing));
    if (text === undefined) return undefined;
    const value = jsonOf(text);
    if (isBookmark(value)) return value;
    throw unusable(path);
  }
}

/** Checks the name of a bookmark; throws a Failure (exit 2). */
export function checkBookmarkName(name: string, source: string): string {
  if (isSavedName(name)) return name;
  throw usageFailure('The name of a bookmark is 1 to 64 letters, digits, dots, hyphens or underscores.', { source });
}

const TEXTS = ['name', 'url', 'organization', 'resource', 'since', 'runStartedAt'];

function isBookmark(value: unknown): value is Bookmark {
  return (
    isPlainObject(value) &&
    value.version === 1 &&
    TEXTS.every((name) => typeof value[name] === 'string') &&
    !Number.isNaN(Date.parse(String(value.since))) &&
    (value.filter === null || typeof value.filter === 'string') &&
    isPlainObject(value.exported)
  );
}

function unusable(path: string): Failure {
  return localFailure('local.file', `${path} is not a bookmark that this molar can read.`, {
    source: path,
    hint: 'Remove it: the next export with --since-last then exports everything.',
  });
}
