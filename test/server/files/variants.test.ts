import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { openDiskFiles } from '../../../src/server/files/disk.ts';
import type { Files, Stage } from '../../../src/server/files/files.ts';
import { makeVariants } from '../../../src/server/files/images.ts';
import { workOnImage } from '../../../src/server/files/imagework.ts';

test('a variant that a full disk does not take is let go, and its file and its memory are free again', async () => {
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
  // It takes more than half of the memory for images.
  const image = sharp({ create: { width: 900, height: 900, channels: 3, background: '#00ff00' } });
  await writeFile(source, await image.png({ progressive: true }).toBuffer());
  const crop = { fromX: 0, fromY: 0, width: 10, height: 10, ratio: 2 };
  const outputs = { cropped: 'a-cropped', resized: 'a-resized', thumbnail: 'a-thumbnail' };
  await expect(makeVariants(files, source, crop, outputs, 1_000_000)).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(stages).toEqual(['stage a-cropped', 'discard a-cropped']);
  expect(await disk.leftovers()).toEqual([]);
  await makeVariants(disk, source, crop, outputs, 1_000_000);
  expect(await disk.leftovers()).toHaveLength(3);
  await rm(folder, { recursive: true });
});

test('images that a decoder holds whole are worked on together only as far as they fit into the memory for one', async () => {
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
  const PIXELS = 1_000_000;
  const prepare = async (name: string, edge: number) => {
    const source = join(folder, `source-${name}`);
    const image = sharp({ create: { width: edge, height: edge, channels: 3, background: '#00ff00' } });
    await writeFile(source, await image.png({ progressive: true }).toBuffer());
    const crop = { fromX: 0, fromY: 0, width: 10, height: 10, ratio: 1 };
    const outputs = { cropped: `${name}-cropped`, resized: `${name}-resized`, thumbnail: `${name}-thumbnail` };
    return () => makeVariants(files, source, crop, outputs, PIXELS);
  };
  const together = async (...edges: readonly number[]) => {
    staged.length = 0;
    const works = await Promise.all(edges.map((edge, n) => prepare('abcd'[n] as string, edge)));
    await Promise.all(works.map((begin) => begin()));
    for (const name of await disk.leftovers()) await disk.discard(name);
    return staged.join('');
  };
  // Two of more than half of the memory, one after another.
  expect(['aaabbb', 'bbbaaa']).toContain(await together(800, 800));
  // Of four with less than half of it each, two at once: those that have begun, without those that are complete.
  const order = await together(700, 700, 700, 700);
  const open = [...order].map((_, at) => {
    const until = [...order.slice(0, at + 1)];
    return [...new Set(until)].filter((name) => until.filter((other) => other === name).length < 3).length;
  });
  expect(Math.max(...open)).toBe(2);
  expect(order).toHaveLength(12);
  await rm(folder, { recursive: true });
});

const refusedOf = async (bytes: Buffer, maxPixels: number) => {
  const folder = await mkdtemp(join(tmpdir(), 'molar-variants-'));
  const source = join(folder, 'source');
  await writeFile(source, bytes);
  const crop = { fromX: 0, fromY: 0, width: 10, height: 10, ratio: 1 };
  const outputs = { cropped: 'a-cropped', resized: 'a-resized', thumbnail: 'a-thumbnail' };
  const disk = await openDiskFiles(folder);
  const refused = await makeVariants(disk, source, crop, outputs, maxPixels).then(
    () => undefined,
    (error: Error) => `${error.constructor.name}: ${error.message}`,
  );
  // Whatever the outcome, nothing is left but the source and what was made.
  expect((await readdir(folder)).sort()).toEqual(['incoming', 'source']);
  await rm(folder, { recursive: true });
  return refused;
};

/** 100 × 100 pixels, in a form; a server that works on so many holds at most 30,000 bytes of them. */
const PIXELS = 10_000;
const image = (channels: 3 | 4 = 3) =>
  sharp({ create: { width: 100, height: 100, channels, background: { r: 9, g: 200, b: 9, alpha: 0.5 } } });
const ROTATED = { orientation: 6 };
const HALVED = { chromaSubsampling: '4:2:0' };
const WHOLE = { chromaSubsampling: '4:4:4' };

test.each([
  ['a JPEG', image().jpeg(WHOLE)],
  ['a JPEG that is turned', image().jpeg(WHOLE).withMetadata(ROTATED)],
  ['a progressive JPEG', image().jpeg({ ...HALVED, progressive: true })],
  ['a PNG', image(4).png()],
  ['an interlaced PNG', image().png({ progressive: true })],
])('%s of as many pixels as are allowed is worked on', async (_, made) => {
  expect(await refusedOf(await made.toBuffer(), PIXELS)).toBeUndefined();
});

test.each([
  ['a progressive JPEG with all colours', image().jpeg({ ...WHOLE, progressive: true })],
  [
    'a progressive JPEG that is turned',
    image()
      .jpeg({ ...HALVED, progressive: true })
      .withMetadata(ROTATED),
  ],
  ['an interlaced PNG with transparency', image(4).png({ progressive: true })],
  ['an interlaced PNG of 16 bits', image().toColourspace('rgb16').png({ progressive: true })],
  ['a PNG with transparency that is turned', image(4).png().withMetadata(ROTATED)],
  ['a GIF', image().gif()],
])('%s of as many pixels is refused, since it takes more memory', async (_, made) => {
  expect(await refusedOf(await made.toBuffer(), PIXELS)).toMatch(/^ImageTooLarge: .*memory/);
  // It is no other fault of the image.
  expect(await refusedOf(await made.toBuffer(), 5 * PIXELS)).toBeUndefined();
});

test('a disk that takes no result is at fault, and not the image', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'molar-variants-'));
  const source = join(folder, 'source');
  await writeFile(source, await image().png().toBuffer());
  const reply = await workOnImage({ source, make: { target: join(folder, 'none', 'made'), maxPixels: PIXELS } });
  expect(reply).toMatchObject({ fault: 'disk' });
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
