import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Bookmark, Bookmarks, checkBookmarkName } from '../../../src/core/exports/bookmark.ts';
import { emptyFolder, LASTING, removalsOf } from './running.ts';

const PLACE = { name: 'nightly', url: 'https://api.example.com', organization: 'org-1', resource: 'patients' };
const NOON = Date.UTC(2026, 2, 2, 12);
const MINUTE = 60_000;
const at = (time: number) => new Date(time).toISOString();

async function bookmarks(): Promise<Bookmarks> {
  return new Bookmarks(join(await emptyFolder(), 'bookmarks'));
}

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

  it('are removed for good: a power cut does not bring back one that was reset', async () => {
    const kept = await bookmarks();
    await kept.move(bookmark());
    expect(await removalsOf(() => kept.remove(PLACE))).toEqual(LASTING);
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

  it('are listed by name, then by organization, resource and URL; other files are not', async () => {
    const kept = await bookmarks();
    const all = [
      bookmark({ name: 'a', organization: 'org-2', resource: 'patients' }),
      bookmark({ name: 'b', organization: 'org-1', resource: 'patients', url: 'https://z.example.com' }),
      bookmark({ name: 'b', organization: 'org-1', resource: 'transactions', url: 'https://a.example.com' }),
      bookmark({ name: 'b', organization: 'org-1', resource: 'transactions', url: 'https://b.example.com' }),
      bookmark({ name: 'b', organization: 'org-2', resource: 'appointments' }),
    ];
    for (const each of all.toReversed()) await kept.move(each);
    await writeFile(join(kept.folder, 'notes.txt'), 'mine');
    expect(await kept.list()).toEqual(all);
  });

  it.each<[string, Record<string, unknown>]>([
    ['of another version', { version: 2 }],
    ...['name', 'url', 'organization', 'resource', 'since', 'runStartedAt'].map(
      (name): [string, Record<string, unknown>] => [`without ${name}`, { [name]: undefined }],
    ),
    ['since no time', { since: 'yesterday' }],
    ['without a filter', { filter: undefined }],
    ['with a filter of another kind', { filter: 5 }],
    ['without records', { exported: undefined }],
    ['with records of another kind', { exported: [] }],
  ])('%s are an error that names the file and a way out', async (_name, own) => {
    const kept = await bookmarks();
    await kept.move(bookmark());
    const [file = ''] = await readdir(kept.folder);
    const path = join(kept.folder, file);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(bookmark());
    await writeFile(path, JSON.stringify({ ...bookmark(), ...own }));
    const failure = {
      exitCode: 9,
      code: 'local.file',
      message: expect.stringContaining(path),
      items: [{ source: path }],
      hint: expect.stringContaining('Remove it'),
    };
    await expect(kept.read(PLACE)).rejects.toMatchObject(failure);
    await expect(kept.list()).rejects.toMatchObject(failure);
    await expect(kept.move(bookmark())).rejects.toMatchObject(failure);
  });

  it.each(['', '[]', 'null', '{"version":1'])('that are no object are an error: %j', async (text) => {
    const kept = await bookmarks();
    await kept.move(bookmark());
    const [file = ''] = await readdir(kept.folder);
    await writeFile(join(kept.folder, file), text);
    await expect(kept.read(PLACE)).rejects.toMatchObject({ exitCode: 9, code: 'local.file' });
  });

  it('fail before a run begins where they cannot be saved', async () => {
    const folder = await emptyFolder();
    await writeFile(join(folder, 'file'), '');
    const kept = new Bookmarks(join(folder, 'file'));
    await expect(kept.prepare()).rejects.toMatchObject({
      exitCode: 9,
      message: expect.stringContaining(`save bookmarks in ${kept.folder}`),
    });
  });

  it('that are not there are removed without an error', async () => {
    await expect((await bookmarks()).remove(PLACE)).resolves.toBeUndefined();
  });

  it.each(['', '../up', 'a b', '.hidden', 'x'.repeat(65)])('cannot be called %j', (name) => {
    expect(() => checkBookmarkName(name, '--since-last')).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringContaining('The name of a bookmark is 1 to 64 letters'),
        items: [expect.objectContaining({ source: '--since-last' })],
      }),
    );
  });

  it.each(['n', '9', 'nightly-2.x_A', 'x'.repeat(64)])('can be called %j', (name) => {
    expect(checkBookmarkName(name, '--since-last')).toBe(name);
  });
});
