import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Files, StagedFile } from '../../../src/server/files/files.ts';

export const NAME = '3f2a77b0-original';

export async function staged(files: Files, name: string, ...pieces: readonly Buffer[]): Promise<StagedFile> {
  const stage = await files.stage(name);
  for (const piece of pieces) await stage.write(piece);
  return stage.finish();
}

export async function store(files: Files, name: string, ...pieces: readonly Buffer[]): Promise<void> {
  await staged(files, name, ...pieces);
  await files.persist([name]);
  await files.finalize(name);
}

export const contentOf = async (files: Files, name: string, range?: { start: number; end: number }) =>
  (await buffer(await files.open(name, range))).toString();

/** The names of all files that a storage lists, in its order. */
export async function namesIn(files: Files): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of files.list()) names.push(name);
  return names;
}

async function listed(files: Files): Promise<{ name: string; size: number }[]> {
  const all: { name: string; size: number }[] = [];
  for await (const { name, size, modified } of files.list()) {
    expect(Math.abs(Date.now() - modified.getTime())).toBeLessThan(600_000);
    all.push({ name, size });
  }
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * What every storage does. `opened` opens files on the storage of one test: in a folder of its own, below which the data
 * folder has the name given.
 */
export function testStoredFiles(
  name: string,
  opened: (folder: string, data: string, shared: boolean) => Promise<Files>,
): void {
  describe(`files on ${name}`, () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'molar-files-'));
    });
    afterEach(() => rm(folder, { recursive: true }));

    const open = (data = 'one', shared = false) => opened(folder, data, shared);
    /** Names of everything on local disks. */
    const local = async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name)
        .sort();
    };

    it('tell what arrived', async () => {
      const files = await open();
      const { path, ...told } = await staged(files, NAME, Buffer.from('a'), Buffer.from('bc'));
      // SHA-256 of "abc", from FIPS 180.
      const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
      expect(told).toEqual({ name: NAME, size: 3, sha256, head: Buffer.from('abc') });
      expect(path.endsWith(NAME)).toBe(true);
      await files.close();
    });

    it('are read whole and in parts once they are secured, before they are kept and after', async () => {
      const files = await open();
      await staged(files, NAME, Buffer.from('0123456789'));
      await files.persist([NAME]);
      const looks = async () => [
        await files.size(NAME),
        await contentOf(files, NAME),
        await contentOf(files, NAME, { start: 0, end: 0 }),
        await contentOf(files, NAME, { start: 3, end: 6 }),
        await contentOf(files, NAME, { start: 9, end: 9 }),
      ];
      const expected = [10, '0123456789', '0', '3456', '9'];
      expect(await looks()).toEqual(expected);
      await files.finalize(NAME);
      expect(await looks()).toEqual(expected);
      await files.close();
    });

    it('can be empty', async () => {
      const files = await open();
      await store(files, NAME);
      expect([await files.size(NAME), await contentOf(files, NAME)]).toEqual([0, '']);
      await files.close();
    });

    it.each([
      ['of one part', 8 * 1024 * 1024],
      ['of three parts, the last a byte', 16 * 1024 * 1024 + 1],
    ])('%s come back as they were', async (_what, size) => {
      const files = await open();
      const pieces = [randomBytes(size - 100), randomBytes(100)];
      await store(files, NAME, ...pieces);
      const hash = createHash('sha256');
      for await (const chunk of await files.open(NAME)) hash.update(chunk);
      expect(hash.digest('hex')).toBe(createHash('sha256').update(Buffer.concat(pieces)).digest('hex'));
      expect(await files.size(NAME)).toBe(size);
      await files.close();
    });

    it('take chunks of any size, whose memory is used for something else afterwards', async () => {
      const files = await open();
      const sizes = [1, 63, 64, 100_000, 256 * 1024, 256 * 1024 + 1, 5, 600_000, 160_000, 100_000, 0, 7];
      const memory = Buffer.alloc(Math.max(...sizes));
      const stage = await files.stage(NAME);
      const whole: Buffer[] = [];
      for (const [index, size] of sizes.entries()) {
        const chunk = memory.subarray(0, size).fill(index + 1);
        whole.push(Buffer.from(chunk));
        await stage.write(chunk);
      }
      const { size, sha256, head } = await stage.finish();
      const expected = Buffer.concat(whole);
      const told = [expected.length, createHash('sha256').update(expected).digest('hex'), expected.subarray(0, 64)];
      expect([size, sha256, head]).toEqual(told);
      await files.persist([NAME]);
      await files.finalize(NAME);
      expect((await buffer(await files.open(NAME))).equals(expected)).toBe(true);
      await files.close();
    });

    it('arrive side by side, each with its own bytes', async () => {
      const files = await open();
      const names = Array.from({ length: 20 }, (_, index) => `${10 + index}ab-original`);
      // One that is ended twice, as when it could not be secured.
      const given = await files.stage('00ab-original');
      await given.finish().then(() => given.discard());
      await Promise.all(names.map((name) => store(files, name, Buffer.from(name), Buffer.alloc(70_000, name))));
      const contents = await Promise.all(names.map((name) => contentOf(files, name)));
      const expected = names.map((name) => name + Buffer.alloc(70_000, name).toString());
      expect(contents.every((content, index) => content === expected[index])).toBe(true);
      expect(await files.leftovers()).toEqual([]);
      await files.close();
    });

    it('are missing when they were never stored', async () => {
      const files = await open();
      expect(await files.size(NAME)).toBeUndefined();
      await expect(files.open(NAME)).rejects.toThrow();
      await files.close();
    });

    it('are removed, and removed again', async () => {
      const files = await open();
      await store(files, NAME, Buffer.from('x'));
      await files.remove(NAME);
      expect(await files.size(NAME)).toBeUndefined();
      await files.remove(NAME);
      expect([await listed(files), await local()]).toEqual([[], []]);
      // Also one whose staging was not ended.
      await staged(files, NAME, Buffer.from('x'));
      await files.persist([NAME]);
      await files.remove(NAME);
      expect([await files.size(NAME), await listed(files), await local()]).toEqual([undefined, [], []]);
      await files.close();
    });

    it('are listed under their names, without what is only staged', async () => {
      const files = await open();
      await store(files, '00aa-original', Buffer.from('1'));
      await store(files, '00aa-thumbnail', Buffer.from('22'));
      await store(files, 'ffee-original', Buffer.from('333'));
      await staged(files, '11bb-original', Buffer.from('4444'));
      expect(await listed(files)).toEqual([
        { name: '00aa-original', size: 1 },
        { name: '00aa-thumbnail', size: 2 },
        { name: 'ffee-original', size: 3 },
      ]);
      await files.close();
    });

    it.each([
      ['while it arrives', async (files: Files) => (await files.stage(NAME)).discard()],
      [
        'when it has arrived',
        async (files: Files) => {
          await staged(files, NAME, Buffer.from('x'));
          await files.discard(NAME);
        },
      ],
      [
        'when it is secured',
        async (files: Files) => {
          await staged(files, NAME, Buffer.from('x'));
          await files.persist([NAME]);
          await files.discard(NAME);
        },
      ],
    ])('leave nothing of one that is discarded %s', async (_when, discarded) => {
      const files = await open();
      await discarded(files);
      expect([await files.size(NAME), await listed(files), await local()]).toEqual([undefined, [], []]);
      await files.close();
    });

    it('stay when they are discarded after they were kept', async () => {
      const files = await open();
      await store(files, NAME, Buffer.from('x'));
      await files.discard(NAME);
      expect(await contentOf(files, NAME)).toBe('x');
      await files.close();
    });

    it('that an ended process left are found by the next one, which keeps or discards them', async () => {
      const first = await open();
      const names = ['aa11-original', 'bb22-original', 'cc33-original'];
      for (const name of names) await staged(first, name, Buffer.from(name));
      await first.persist(names.slice(0, 2));
      await first.close();
      const second = await open();
      expect((await second.leftovers()).sort()).toEqual(names);
      await second.finalize('aa11-original');
      await second.discard('bb22-original');
      await second.discard('cc33-original');
      expect(await second.leftovers()).toEqual([]);
      expect(await listed(second)).toEqual([{ name: 'aa11-original', size: 13 }]);
      await second.close();
    });

    it('that another server is staging are not taken for left over until they are old', async () => {
      const [first, second] = [await open('one', true), await open('one', true)];
      const { path } = await staged(first, NAME, Buffer.from('x'));
      expect(await second.leftovers()).toEqual([]);
      const yesterday = Date.now() / 1000 - 25 * 60 * 60;
      await utimes(path, yesterday, yesterday);
      expect(await second.leftovers()).toEqual([NAME]);
      await Promise.all([first.close(), second.close()]);
    });

    it('of one server are seen by another', async () => {
      const [first, second] = [await open('one', true), await open('two', true)];
      await staged(first, NAME, Buffer.from('from the first'));
      await first.persist([NAME]);
      expect(await contentOf(second, NAME)).toBe('from the first');
      await first.finalize(NAME);
      await second.remove(NAME);
      expect(await first.size(NAME)).toBeUndefined();
      await Promise.all([first.close(), second.close()]);
    });
  });
}
