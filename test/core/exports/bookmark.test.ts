import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../src/catalog/catalog.ts';
import {
  Bookmarks,
  checkIncrementFilter,
  OVERLAP,
  openIncrement,
  readingBegan,
  tellsChanges,
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
    const second = await openIncrement(kept, PLACE, NO_FILTER, NOON + 72 * HOUR);
    expect(second.isNew(row(2, NOON - MINUTE))).toBe(false);
    expect(second.isNew(row(3, NOON + MINUTE))).toBe(false);
    // Of a time long before either run, as a list without the bound has them.
    expect(second.isNew(row(1, NOON - HOUR))).toBe(true);
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
      hint: 'Use another name, or start over with molar export bookmarks reset nightly.',
      items: [{ source: '--since-last' }],
    });
  });

  it('is refused without the filter that its bookmark has', async () => {
    const kept = await bookmarks();
    await (await openIncrement(kept, PLACE, 'id>5', NOON)).complete(NOON);
    await expect(openIncrement(kept, PLACE, NO_FILTER, NOON)).rejects.toMatchObject({
      exitCode: 2,
      message: 'The bookmark nightly is of patients with the filter id>5, not none.',
    });
  });

  it('asks without a filter for what changed alone', async () => {
    const kept = await bookmarks();
    await (await openIncrement(kept, PLACE, NO_FILTER, NOON)).complete(NOON);
    const second = await openIncrement(kept, PLACE, NO_FILTER, NOON + HOUR);
    expect([second.filter, second.since]).toEqual([
      'lastModified>=2026-03-02T11:55:00.000Z',
      '2026-03-02T11:55:00.000Z',
    ]);
  });

  it('saves when reading began, which records of the overlap it had, and whose they are', async () => {
    const kept = await bookmarks();
    const first = await openIncrement(kept, PLACE, 'id>0', NOON + HOUR);
    const modified = [NOON - OVERLAP - 1, NOON - OVERLAP, NOON + HOUR];
    modified.forEach((time, index) => void first.isNew(row(index + 1, time)));
    await first.complete(NOON);
    expect(await kept.list()).toEqual([
      {
        version: 1,
        ...PLACE,
        filter: 'id>0',
        since: '2026-03-02T11:55:00.000Z',
        runStartedAt: '2026-03-02T12:00:00.000Z',
        exported: { '2': expect.any(String), '3': expect.any(String) },
      },
    ]);
  });

  it('remembers the last state of a record that a run has twice', async () => {
    const kept = await bookmarks();
    const first = await openIncrement(kept, PLACE, NO_FILTER, NOON);
    first.isNew(row(1, NOON - MINUTE));
    first.isNew(row(1, NOON - MINUTE, 'Jones'));
    await first.complete(NOON);
    const second = await openIncrement(kept, PLACE, NO_FILTER, NOON + HOUR);
    expect(second.isNew(row(1, NOON - MINUTE, 'Jones'))).toBe(false);
    expect(second.isNew(row(1, NOON - MINUTE))).toBe(true);
  });

  it.each([
    ['as far as clocks may differ', 26 * HOUR, true],
    ['and no further', 26 * HOUR + 1, false],
  ])('remembers records %s', async (_name, before, isRemembered) => {
    const kept = await bookmarks();
    const first = await openIncrement(kept, PLACE, NO_FILTER, NOON);
    const modified = NOON - OVERLAP - before;
    first.isNew(row(1, modified));
    // The clock of the server was that far behind.
    expect(Object.keys(first.bookmarkAt(modified).exported)).toEqual(isRemembered ? ['1'] : []);
  });

  it('remembers 20,000 records; more come again, and none is lost', async () => {
    const kept = await bookmarks();
    const first = await openIncrement(kept, PLACE, NO_FILTER, NOON);
    for (let id = 1; id <= 20_001; id++) first.isNew(row(id, NOON));
    await first.complete(NOON);
    const second = await openIncrement(kept, PLACE, NO_FILTER, NOON + HOUR);
    expect([20_000, 20_001].map((id) => second.isNew(row(id, NOON)))).toEqual([false, true]);
  });

  it.each<[string, number | undefined, number]>([
    ['by our clock when it is behind', NOON + HOUR, NOON],
    ["by the server's clock when it is behind", NOON - HOUR, NOON - HOUR],
    ['a day before where the server tells no time', undefined, NOON - 24 * HOUR],
  ])('begins %s', (_name, serverTime, began) => {
    expect(readingBegan(NOON, serverTime)).toBe(began);
  });

  it.each(['lastModified>=2026-01-01', 'id>5,lastModified<2026-01-01'])('sets lastModified itself: %s', (filter) => {
    expect(() => checkIncrementFilter(filter)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: '--since-last sets lastModified itself; leave it out of the filter.',
        items: [expect.objectContaining({ source: '--since-last' })],
      }),
    );
  });

  it.each([NO_FILTER, '', 'id>5,lastName~=S'])('takes any other filter: %s', (filter) => {
    expect(() => checkIncrementFilter(filter)).not.toThrow();
  });

  it('is for lists that can be asked for what changed since a time', () => {
    const lists = RESOURCES.flatMap(({ name, operations: { list } }) =>
      list === undefined ? [] : [[name, list] as const],
    );
    const told = lists.filter(([, list]) => tellsChanges(list)).map(([name]) => name);
    expect(told).toEqual(
      lists
        .filter(([, { filters }]) => JSON.stringify(filters?.lastModified ?? null).includes('">="'))
        .map(([name]) => name),
    );
    expect(told).toEqual(expect.arrayContaining(['patients', 'transactions', 'appointments']));
    expect(told.length).toBeLessThan(lists.length);
  });
});
