import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { openDiskFiles } from '../../../src/server/files/disk.ts';
import type { Files, Stage } from '../../../src/server/files/files.ts';
import { makeVariants } from '../../../src/server/files/images.ts';

test('a variant that a full disk does not take is let go, so that its file gives its room back', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'molar-variants-'));
  const disk = await openDiskFiles(folder);
  const stages: string[] = [];
  const files: Files = {
    ...disk,
    async stage(name): Promise<Stage> {
      const stage = await disk.stage(name);
      stages.push(`stage ${name}`);
      return {
        write: async () => {
          throw Object.assign(new Error('No space left.'), { code: 'ENOSPC', syscall: 'write' });
        },
        finish: stage.finish,
        async discard() {
          stages.push(`discard ${name}`);
          await stage.discard();
        },
      };
    },
  };
  const source = join(folder, 'source');
  const image = sharp({ create: { width: 30, height: 20, channels: 3, background: '#00ff00' } });
  await writeFile(source, await image.png().toBuffer());
  const crop = { fromX: 0, fromY: 0, width: 10, height: 10, ratio: 2 };
  const outputs = { cropped: 'a-cropped', resized: 'a-resized', thumbnail: 'a-thumbnail' };
  await expect(makeVariants(files, source, crop, outputs, 1_000_000)).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(stages).toEqual(['stage a-cropped', 'discard a-cropped']);
  expect(await disk.leftovers()).toEqual([]);
  await rm(folder, { recursive: true });
});

test('large images are worked on one after another, since each takes memory by its pixels', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'molar-variants-'));
  const disk = await openDiskFiles(folder);
  const staged: string[] = [];
  const files: Files = {
    ...disk,
    stage(name) {
      staged.push(name.slice(0, 1));
      return disk.stage(name);
    },
  };
  const work = async (name: string, edge: number) => {
    const source = join(folder, `source-${name}`);
    const image = sharp({ create: { width: edge, height: edge, channels: 3, background: '#00ff00' } });
    await writeFile(source, await image.png().toBuffer());
    const crop = { fromX: 0, fromY: 0, width: 10, height: 10, ratio: 1 };
    const outputs = { cropped: `${name}-cropped`, resized: `${name}-resized`, thumbnail: `${name}-thumbnail` };
    return () => makeVariants(files, source, crop, outputs, 50_000_000);
  };
  const large = await Promise.all([work('a', 3600), work('b', 3600)]);
  await Promise.all(large.map((begin) => begin()));
  // Whichever of them was first.
  expect(['aaabbb', 'bbbaaa']).toContain(staged.join(''));
  await rm(folder, { recursive: true });
});

test('variants of a JPEG are JPEGs, and take no second pass that would hold all of the result', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'molar-variants-'));
  const disk = await openDiskFiles(folder);
  const written = new Map<string, Buffer>();
  const files: Files = {
    ...disk,
    async stage(name) {
      const stage = await disk.stage(name);
      const write: Stage['write'] = async (bytes) => {
        written.set(name, Buffer.from(bytes));
        await stage.write(bytes);
      };
      return { ...stage, write, finish: () => stage.finish(), discard: () => stage.discard() };
    },
  };
  const source = join(folder, 'source');
  const image = sharp({ create: { width: 300, height: 200, channels: 3, background: '#00ff00' } });
  await writeFile(source, await image.jpeg({ progressive: true }).toBuffer());
  const crop = { fromX: 0, fromY: 0, width: 100, height: 100, ratio: 1 };
  const outputs = { cropped: 'a-cropped', resized: 'a-resized', thumbnail: 'a-thumbnail' };
  await makeVariants(files, source, crop, outputs, 1_000_000);
  expect([...written.keys()]).toEqual(['a-cropped', 'a-resized', 'a-thumbnail']);
  for (const bytes of written.values()) {
    expect((await sharp(bytes).metadata()).format).toBe('jpeg');
    // The 162 codes of the standard's own table of AC coefficients (ITU T.81, K.3.3), which a second pass would replace.
    expect(bytes.includes(STANDARD_CODES)).toBe(true);
  }
  await rm(folder, { recursive: true });
});

/** How many codes there are of each length, 1 to 16 bits, in the table for luminance. */
const STANDARD_CODES = Buffer.from('0002010303020403050504040000017d', 'hex');
