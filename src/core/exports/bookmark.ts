import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Operation } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { formatFilter, parseFilter } from '../../catalog/filter/grammar.ts';
import { removeDurably } from '../../filesystem/durable.ts';
import { makePrivateFolder } from '../../filesystem/private.ts';
import { localFailure, usageFailure } from '../failure.ts';
import { jsonOf } from '../jsontext.ts';
import { guarded, namesIn, readIfPresent, writeAtomicFile } from '../output/atomicfile.ts';
import { idOf, type Row } from '../pages/page.ts';
import { isSavedName } from '../profiles/config.ts';

/** What a bookmark belongs to: one name may be used for several resources and several organizations. */
export interface BookmarkKey {
  readonly name: string;
  readonly url: string;
  readonly organization: string;
  readonly resource: string;
}

/** Where the next incremental export of a resource begins. */
export interface Bookmark extends BookmarkKey {
  readonly version: 1;
  /** The filter of its exports, without the bound of the bookmark; null for none. */
  readonly filter: string | null;
  /** UTC: the next export requests records modified from then on; the start of the last complete run less the overlap. */
  readonly since: string;
  /** UTC: when the last complete run began. */
  readonly runStartedAt: string;
  /** Records of the overlap that were exported: id to a hash of the record. */
  readonly exported: Readonly<Record<string, string>>;
}

/** Bookmarks in a folder, a file each. All methods throw a Failure with exit code 9 when the disk fails. */
export class Bookmarks {
  constructor(readonly folder: string) {}

  /** Undefined where there is none yet. */
  read(key: BookmarkKey): Promise<Bookmark | undefined> {
    return readBookmark(this.pathOf(key));
  }

  /** Makes the folder, so that a run fails before it begins where bookmarks could not be saved. */
  async prepare(): Promise<void> {
    await guarded(`save bookmarks in ${this.folder}`, async () => {
      await makePrivateFolder(this.folder);
      await access(this.folder, constants.W_OK | constants.X_OK);
    });
  }

  /** Moves a bookmark forward; one that another run has moved further stays. */
  async move(bookmark: Bookmark): Promise<void> {
    const saved = await this.read(bookmark);
    if (saved !== undefined && saved.filter === bookmark.filter && saved.since > bookmark.since) return;
    await this.prepare();
    await writeAtomicFile(this.pathOf(bookmark), `${JSON.stringify(bookmark)}\n`);
  }

  /** Every bookmark, by name, then by organization, resource and URL. */
  async list(): Promise<Bookmark[]> {
    const names = (await namesIn(this.folder)).filter((name) => name.endsWith('.json'));
    const found = await Promise.all(names.map((name) => readBookmark(join(this.folder, name))));
    const orderOf = ({ name, organization, resource, url }: Bookmark) =>
      JSON.stringify([name, organization, resource, url]);
    return found.filter((bookmark) => bookmark !== undefined).toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  }

  async remove(key: BookmarkKey): Promise<void> {
    await guarded(`remove ${this.pathOf(key)}`, () => removeDurably(this.pathOf(key)));
  }

  private pathOf({ name, url, organization, resource }: BookmarkKey): string {
    const hash = createHash('sha256')
      .update(JSON.stringify([name, url, organization, resource]))
      .digest('hex');
    return join(this.folder, `${name}-${resource}-${hash.slice(0, 12)}.json`);
  }
}

async function readBookmark(path: string): Promise<Bookmark | undefined> {
  const text = await readIfPresent(path);
  const value = text === undefined ? undefined : jsonOf(text);
  if (text === undefined || isBookmark(value)) return value as Bookmark | undefined;
  throw localFailure('local.file', `${path} is not a bookmark that this molar can read.`, {
    source: path,
    hint: 'Remove it: the next export with --since-last then exports everything.',
  });
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

/** Records modified in the last minutes before a run began are requested again by the next one (contract §5). */
export const OVERLAP = 5 * 60_000;

/** Maximum remembered records of the overlap; the next run exports the others twice, which loses nothing. */
const MAX_REMEMBERED = 20_000;

/** How far the clocks of client and server may be apart for records of the overlap to be remembered. */
const CLOCK_TOLERANCE = 26 * 60 * 60_000;

/** An export of what changed since the last complete one under the same name. */
export interface Increment {
  /** The filter to send. */
  readonly filter: string | undefined;
  /** UTC; undefined on the first run, which exports everything. */
  readonly since: string | undefined;
  /** False for a record that the last run exported as it is. Remembers the record for the next run. */
  readonly isNew: (row: Row) => boolean;
  /** The bookmark from which the next run begins. `readFrom`: when reading began, UTC milliseconds. */
  readonly bookmarkAt: (readFrom: number) => Bookmark;
  /** Moves the bookmark; to be called when the output is complete. */
  readonly complete: (readFrom: number) => Promise<void>;
}

/**
 * Throws a Failure (exit 2) when the bookmark belongs to exports with another filter, which left out records that this
 * filter lets through. `now`: UTC milliseconds.
 */
export async function openIncrement(
  bookmarks: Bookmarks,
  key: BookmarkKey,
  filter: string | undefined,
  now: number,
): Promise<Increment> {
  const before = await bookmarks.read(key);
  if (before !== undefined && before.filter !== (filter ?? null)) {
    const was = before.filter ?? 'none';
    throw usageFailure(
      `The bookmark ${key.name} is of ${key.resource} with the filter ${was}, not ${filter ?? 'none'}.`,
      {
        source: '--since-last',
        hint: `Use another name, or start over with molar export bookmarks reset ${key.name}.`,
      },
    );
  }
  /** Records of this run that may be in the overlap, by id: when modified, and the hash. */
  const seen = new Map<string, readonly [number, string]>();
  const bookmarkAt = (readFrom: number): Bookmark => {
    const from = readFrom - OVERLAP;
    const exported = [...seen].filter(([, [modified]]) => modified >= from).map(([id, [, hash]]) => [id, hash]);
    return {
      version: 1,
      ...key,
      filter: filter ?? null,
      since: new Date(from).toISOString(),
      runStartedAt: new Date(readFrom).toISOString(),
      exported: Object.fromEntries(exported),
    };
  };
  return {
    filter: before === undefined ? filter : withBound(filter, before.since),
    since: before?.since,
    isNew: (row) => {
      const id = String(idOf(row));
      const modified = Date.parse(String(row.lastModified));
      const known = before?.exported[id];
      const isRecent = modified >= now - OVERLAP - CLOCK_TOLERANCE;
      if (known === undefined && !isRecent) return true;
      const hash = createHash('sha256').update(JSON.stringify(row)).digest('base64url').slice(0, 22);
      if (isRecent && seen.size < MAX_REMEMBERED) seen.set(id, [modified, hash]);
      return known !== hash;
    },
    bookmarkAt,
    complete: (readFrom) => bookmarks.move(bookmarkAt(readFrom)),
  };
}

/** Throws a Failure (exit 2) for the filter of an incremental export that has `lastModified`. */
export function checkIncrementFilter(filter: string | undefined): void {
  if (parseFilter(filter ?? '').some(({ key }) => key === 'lastModified')) {
    throw usageFailure('--since-last sets lastModified itself; leave it out of the filter.', {
      source: '--since-last',
    });
  }
}

/** How far our clock may be ahead of that of a server that sends no `Date`. */
const UNKNOWN_CLOCK = 24 * 60 * 60_000;

/** The earliest time at which reading can have begun, UTC milliseconds: by our clock or the server's, whichever is behind. */
export function readingBegan(ourTime: number, serverTime: number | undefined): number {
  return serverTime === undefined ? ourTime - UNKNOWN_CLOCK : Math.min(ourTime, serverTime);
}

/** Whether a list has a filter for what changed since a time. */
export function tellsChanges(operation: Operation): boolean {
  return operation.filters?.lastModified?.operators.includes('>=') ?? false;
}

function withBound(filter: string | undefined, time: string): string {
  return formatFilter([...parseFilter(filter ?? ''), { key: 'lastModified', operator: '>=', values: [time] }]);
}
