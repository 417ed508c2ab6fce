import { createHash } from 'node:crypto';
import type { Operation } from '../../catalog/define.ts';
import { formatFilter, parseFilter } from '../../catalog/filter/grammar.ts';
import { usageFailure } from '../failure.ts';
import { idOf, type Row } from '../pages/page.ts';
import type { Bookmark, BookmarkPlace, Bookmarks } from './bookmark.ts';

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
