import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Operation } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { formatFilter, parseFilter } from '../../catalog/filter/grammar.ts';
import { type Failure, localFailure, usageFailure } from '../failure.ts';
import { jsonOf } from '../jsontext.ts';
import { guarded, ignoreMissing, writeWholeFile } from '../output/atomicfile.ts';
import { idOf, type Row } from '../pages/page.ts';
import { isKeptName } from '../savedname.ts';

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
  if (isKeptName(name)) return name;
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

/** Records modified in the last minutes before a run began are asked for again by the next one (contract §5). */
export const OVERLAP = 5 * 60_000;

/** Records of the overlap that are remembered; more would come a second time, which loses nothing. */
const MOST_REMEMBERED = 20_000;

/** How far the clocks of the two sides may be apart for records of the overlap to be remembered. */
const CLOCK_TOLERANCE = 26 * 60 * 60_000;

/** An export of what changed since the last complete one under the same name. */
export class Increment {
  /** The filter to send. */
  readonly filter: string | undefined;
  /** UTC; undefined on the first run, which exports everything. */
  readonly since: string | undefined;
  private readonly bookmarks: Bookmarks;
  private readonly place: BookmarkPlace;
  private readonly asked: string | undefined;
  private readonly before: Bookmark | undefined;
  /** Records of this run that may be of the overlap, by id: when modified, and the hash. */
  private readonly seen = new Map<string, readonly [number, string]>();
  private readonly openedAt: number;

  private constructor(
    bookmarks: Bookmarks,
    place: BookmarkPlace,
    given: string | undefined,
    before: Bookmark | undefined,
    now: number,
  ) {
    this.openedAt = now;
    this.bookmarks = bookmarks;
    this.place = place;
    this.asked = given;
    this.before = before;
    this.since = before?.since;
    this.filter = before === undefined ? given : since(given, before.since);
  }

  /**
   * Throws a Failure (exit 2) when the bookmark is of exports with another filter, which would leave records out that
   * this filter brings and that one did not. `now`: UTC milliseconds.
   */
  static async open(
    bookmarks: Bookmarks,
    place: BookmarkPlace,
    given: string | undefined,
    now: number,
  ): Promise<Increment> {
    const before = await bookmarks.read(place);
    if (before !== undefined && before.filter !== (given ?? null)) {
      const was = before.filter ?? 'none';
      throw usageFailure(
        `The bookmark ${place.name} is of ${place.resource} with the filter ${was}, not ${given ?? 'none'}.`,
        {
          source: '--since-last',
          hint: `Use another name, or start anew with molar export bookmarks reset ${place.name}.`,
        },
      );
    }
    return new Increment(bookmarks, place, given, before, now);
  }

  /** False for a record that the last run exported as it is. Remembers the record for the next run. */
  readonly isNew = (row: Row): boolean => {
    const id = String(idOf(row));
    const modified = Date.parse(String(row.lastModified));
    const known = this.before?.exported[id];
    const isRecent = modified >= this.openedAt - OVERLAP - CLOCK_TOLERANCE;
    if (known === undefined && !isRecent) return true;
    const hash = createHash('sha256').update(JSON.stringify(row)).digest('base64url').slice(0, 22);
    if (isRecent && this.seen.size < MOST_REMEMBERED) this.seen.set(id, [modified, hash]);
    return known !== hash;
  };

  /** Moves the bookmark: to be called when the output is complete. `readFrom`: when reading began, UTC milliseconds. */
  complete(readFrom: number): Promise<void> {
    return this.bookmarks.move(this.bookmarkAt(readFrom));
  }

  /** The bookmark from which the next run begins. */
  bookmarkAt(readFrom: number): Bookmark {
    const from = readFrom - OVERLAP;
    const exported = [...this.seen].filter(([, [modified]]) => modified >= from).map(([id, [, hash]]) => [id, hash]);
    return {
      version: 1,
      ...this.place,
      filter: this.asked ?? null,
      since: new Date(from).toISOString(),
      runStartedAt: new Date(readFrom).toISOString(),
      exported: Object.fromEntries(exported),
    };
  }
}

/** Throws a Failure (exit 2) for the filter of an incremental export that has `lastModified`. */
export function checkIncrementFilter(filter: string | undefined): void {
  if (parseFilter(filter ?? '').some(({ key }) => key === 'lastModified')) {
    throw usageFailure('--since-last sets lastModified itself; leave it out of the filter.', {
      source: '--since-last',
    });
  }
}

/** How far this clock may be ahead of that of a service which sends no `Date`. */
const UNKNOWN_CLOCK = 24 * 60 * 60_000;

/**
 * The earliest time, in UTC milliseconds of the service's clock, at which reading can have begun: ours or the service's,
 * whichever is behind.
 */
export function readingBegan(ourTime: number, serverTime: number | undefined): number {
  return serverTime === undefined ? ourTime - UNKNOWN_CLOCK : Math.min(ourTime, serverTime);
}

/** Whether a list can tell what changed since a time. */
export function tellsChanges(operation: Operation): boolean {
  return operation.filters?.lastModified?.operators.includes('>=') ?? false;
}

function since(filter: string | undefined, time: string): string {
  return formatFilter([...parseFilter(filter ?? ''), { key: 'lastModified', operator: '>=', values: [time] }]);
}
