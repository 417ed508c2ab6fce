import { type FileHandle, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RecordSpool } from '../../../src/core/stream/recordspool.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const openSpool = () => RecordSpool.open(folder);

async function all(batches: AsyncIterable<readonly string[]>): Promise<string[]> {
  const lines: string[] = [];
  for await (const batch of batches) lines.push(...batch);
  return lines;
}

/** What all handles of files have in common. */
async function fileHandles(): Promise<FileHandle> {
  const file = await open(import.meta.filename);
  await file.close();
  return Object.getPrototypeOf(file);
}

describe('RecordSpool', () => {
  it('gives records in both directions, whatever their length', async () => {
    // Up to twice the block it reads, so that records go over the ends of blocks.
    const line = fc
      .tuple(fc.string({ unit: 'grapheme' }), fc.oneof(fc.nat(20), fc.nat(9000)))
      .map(([text, times]) => (text.replaceAll('\n', ' ') || 'é').repeat(times).slice(0, 130_000))
      // A cut in the middle of a character leaves what no UTF-8 can hold; the text of JSON never has that.
      .map((text) => text.replace(/[\uD800-\uDBFF]$/, ''));
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 30 }), async (lines) => {
        const spool = await openSpool();
        const places = [await spool.flush()];
        for (const [at, each] of lines.entries()) {
          await spool.add(each);
          // Some are written together.
          places.push(at % 3 === 0 ? await spool.flush() : (places.at(-1) as number));
        }
        expect(await all(spool.forwards())).toEqual(lines);
        const [from, to] = [1, 1 + 3 * Math.floor((lines.length - 1) / 3)];
        if (lines.length > 0)
          expect(await all(spool.forwards(places[from], places[to]))).toEqual(lines.slice(from, to));
        expect(await all(spool.backwards())).toEqual(lines.toReversed());
        expect(spool.count).toBe(lines.length);
        await spool.close();
      }),
      { numRuns: 40 },
    );
  });

  it('leaves no file behind, and holds a block at a time', async () => {
    const spool = await openSpool();
    const line = 'x'.repeat(999);
    for (let count = 0; count < 5000; count++) await spool.add(line);
    expect(await readdir(folder)).toEqual([]);
    for await (const batch of spool.backwards()) expect(batch.length).toBeLessThan(200);
    await spool.close();
    await spool.close();
  });

  it('writes whole blocks while records are added, and what is left when they are read', async () => {
    const spool = await openSpool();
    const appended = vi.spyOn(await fileHandles(), 'appendFile');
    try {
      // With its line feed each is a kilobyte.
      for (let count = 0; count < 130; count++) await spool.add('x'.repeat(1023));
      const written = () => appended.mock.calls.map(([bytes]) => (bytes as Buffer).length / 1024);
      expect(written()).toEqual([64, 64]);
      expect(await spool.flush()).toBe(130 * 1024);
      expect(written()).toEqual([64, 64, 2]);
    } finally {
      appended.mockRestore();
      await spool.close();
    }
  });

  it('fails with 9 where it cannot write', async () => {
    await expect(RecordSpool.open(join(folder, 'nowhere'))).rejects.toMatchObject({ exitCode: 9 });
  });
});
