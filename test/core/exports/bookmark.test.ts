import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Bookmark,
  Bookmarks,
  checkBookmarkName,
  checkIncrementFilter,
  openIncrement,
  readingBegan,
} from '../../../src/core/exports/bookmark.ts';
import { emptyFolder } from './running.ts';

const PLACE = { name: 'nightly', url: 'https://api.example.com', organization: 'org-1', resource: 'patients' };
const NOON = Date.UTC(2026, 2, 2, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const at = (time: number) => new Date(time).toISOString();
const row = (id: number, modified: number, lastName = 'Smith') => ({ id, lastName, lastModified: at(modified) });
const NO_FILTER = undefined;

async function bookmarks(): Promise<Bookmarks> {
  return new Bookmarks(join(await emptyFolder(), 'bookmarks'));
}

describe('an increment', () => {
  it('asks for everything first, then for what changed since the start of the last complete run less 5 minutes', async () => {
    const kept = await bookmarks();
    const given = 'lastName~=S';
    const first = await openIncrement(kept, PLACE, given, NOON);
    expect([first.filter, first.since]).toEqual(['lastName~=S', undefined]);
    await first.complete(NOON);
    const second = await openIncrement(kept, PLACE, given, NOON + HOUR);
    expect(second.filter).toBe('lastName~=S,lastModified>=2026-03-02T11:55:00.000Z');
  });

  it('stays where it is until a run is complete', async () => {
    const kept = await bookmarks();
    const first = await openIncrement(kept, PLACE, NO_FILTER, NOON);
    first.isNew(row(1, NOON));
    expect(await kept.list()).toEqual([]);
  });

  it('leaves out records of the overlap that came before as they are, and no others', async () => {
    const kept = await bookmarks();
    const first = await openIncrement(kept, PLACE, NO_FILTER, NOON);
    for (const each of [row(1, NOON - HOUR), row(2, NOON - MINUTE), row(3, NOON + MINUTE), row(4, NOON - 2 * MINUTE)]) {
      expect(first.isNew(each)).toBe(true);
    }
    await first.complete(NOON);
    const second = await openIncrement(kept, PLACE, NO_FILTER, NOON + 24 * HOUR);
    expect(second.isNew(row(2, NOON - MINUTE))).toBe(false);
    expect(second.isNew(row(3, NOON + MINUTE))).toBe(false);
    // Changed again, changed without a new time, and new.
    expect(second.isNew(row(4, NOON + HOUR))).toBe(true);
    expect(second.isNew(row(3, NOON + MINUTE, 'Jones'))).toBe(true);
    expect(second.isNew(row(5, NOON + HOUR))).toBe(true);
  });

  it('loses nothing that was changed while a run went on, whichever clock is ahead', async () => {
    for (const serverAhead of [-2 * HOUR, -10 * MINUTE, 0, 10 * MINUTE, 2 * HOUR]) {
      const kept = await bookmarks();
      const first = await openIncrement(kept, PLACE, NO_FILTER, NOON);
      first.isNew(row(1, NOON + serverAhead - MINUTE));
      // What a run reads from: the earlier of the two clocks.
      await first.complete(Math.min(NOON, NOON + serverAhead));
      const second = await openIncrement(kept, PLACE, NO_FILTER, NOON + 24 * HOUR);
      const changedMeanwhile = NOON + serverAhead + 1;
      expect(Date.parse(second.since ?? '')).toBeLessThanOrEqual(changedMeanwhile);
      expect(second.isNew(row(1, changedMeanwhile))).toBe(true);
    }
  });

  it('is refused with another filter: records that it brings for the first time would be missing', async () => {
    const kept = await bookmarks();
    await (await openIncrement(kept, PLACE, NO_FILTER, NOON)).complete(NOON);
    const other = openIncrement(kept, PLACE, 'id>5', NOON);
    await expect(other).rejects.toMatchObject({
      exitCode: 2,
      message: 'The bookmark nightly is of patients with the filter none, not id>5.',
    });
  });

  it.each<[string, number | undefined, number]>([
    ['by our clock when it is behind', NOON + HOUR, NOON],
    ["by the server's clock when it is behind", NOON - HOUR, NOON - HOUR],
    ['a day before where the server tells no time', undefined, NOON - 24 * HOUR],
  ])('begins %s', (_name, serverTime, began) => {
    expect(readingBegan(NOON, serverTime)).toBe(began);
  });

  it('sets lastModified itself', () => {
    expect(() => checkIncrementFilter('lastModified>=2026-01-01')).toThrow(
      '--since-last sets lastModified itself; leave it out of the filter.',
    );
  });
});

describe('bookmarks', () => {
  const bookmark = (own: Partial<Bookmark> = {}): Bookmark => ({
    version: 1,
    ...PLACE,
    filter: null,
    since: at(NOON),
    runStartedAt: at(NOON + 5 * MINUTE),
    exported: { '1': 'hash' },
    ...own,
  });

  it('are kept by name, server, organization and resource, and removed one by one', async () => {
    const kept = await bookmarks();
    const all = [
      bookmark(),
      bookmark({ resource: 'transactions' }),
      bookmark({ organization: 'org-2' }),
      bookmark({ url: 'https://other.example.com' }),
      bookmark({ name: 'Nightly' }),
    ];
    for (const each of all) await kept.move(each);
    expect(await kept.list()).toHaveLength(all.length);
    expect(await kept.read({ ...PLACE, resource: 'transactions' })).toEqual(all[1]);
    await kept.remove(PLACE);
    expect(await kept.read(PLACE)).toBeUndefined();
    expect(await kept.list()).toHaveLength(all.length - 1);
  });

  it.each<[string, Partial<Bookmark>, number]>([
    ['one that is further stays', { since: at(NOON - 1) }, NOON],
    ['one that is behind moves', { since: at(NOON + 1) }, NOON + 1],
    ['one of another filter goes', { since: at(NOON - 1), filter: 'id>5' }, NOON - 1],
  ])('%s', async (_name, own, since) => {
    const kept = await bookmarks();
    await kept.move(bookmark());
    await kept.move(bookmark(own));
    expect((await kept.read(PLACE))?.since).toBe(at(since));
  });

  it.each(['', '{"version":2}', '{"version":1,"name":"nightly"}'])(
    'that make no sense are an error: %s',
    async (text) => {
      const kept = await bookmarks();
      await kept.move(bookmark());
      const [file = ''] = await readdir(kept.folder);
      expect(await readFile(join(kept.folder, file), 'utf8')).toContain('"since"');
      await writeFile(join(kept.folder, file), text);
      await expect(kept.read(PLACE)).rejects.toMatchObject({ exitCode: 9, hint: expect.stringContaining('Remove it') });
    },
  );

  it.each(['', '../up', 'a b', '.hidden', 'x'.repeat(65)])('cannot be called %j', (name) => {
    expect(() => checkBookmarkName(name, '--since-last')).toThrow('The name of a bookmark is 1 to 64 letters');
  });
});
