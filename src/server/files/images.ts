import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Refusal, refusal } from '../../catalog/failures.ts';
import type { MimeType } from '../../catalog/resources/documentnames.ts';
import { removeTree } from '../../filesystem/durable.ts';
import type { Files } from './files.ts';
import type { ImageFacts, ImageTask } from './imagework.ts';

/** A crop box in pixels of the upright image, and the scale applied after it (D38). */
export interface Crop {
  readonly fromX: number;
  readonly fromY: number;
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
}

/** The image or its crop cannot be used; the message is for the caller, `source` the field at fault. */
export class ImageUnusable extends Error {
  constructor(
    readonly source: string,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'ImageUnusable';
  }
}

/** Maximum pixels of the long edge of a thumbnail (D38). */
export const THUMBNAIL_EDGE = 256;

const SIGNATURES: Readonly<Partial<Record<MimeType, readonly string[]>>> = {
  JPEG: ['ffd8ff'],
  PNG: ['89504e470d0a1a0a'],
  GIF: ['474946383761', '474946383961'],
};

/** Whether the first bytes of a file are those of its image type. */
export function looksLike(type: MimeType, head: Buffer): boolean {
  const hex = head.toString('hex');
  return SIGNATURES[type]?.some((signature) => hex.startsWith(signature)) ?? true;
}

/** The optional package sharp is missing or does not run here: 503 until the operator installs it. */
export class ImagesUnavailable extends Refusal {
  constructor(cause: unknown) {
    const description =
      'This server cannot crop images: its optional package sharp is not installed, or does not run on its machine.';
    super([{ code: 'server.images', source: null, description }]);
    this.name = 'ImagesUnavailable';
    this.cause = cause;
  }
}

/** Whether sharp is installed. Whether it also runs shows with the first image: loading it takes time and memory. */
export function hasImageLibrary(): boolean {
  try {
    createRequire(import.meta.url).resolve('sharp');
    return true;
  } catch {
    return false;
  }
}

/** An image has more pixels than are worked on: a bomb, or a mistake. */
export class ImageTooLarge extends ImageUnusable {}

/** Bytes a pixel that an image of the most pixels may hold while it is worked on: what full colour takes. */
const HELD_BYTES = 3;

/** Bytes a pixel that a GIF takes, its frames and those of the result: measured. */
const GIF_BYTES = 14;

/** JPEG's decoder reserves for whole blocks, and has some bytes of its own. */
const DECODER_SLACK = 1.06;

/**
 * Makes `cropped`, `resized` and `thumbnail` of a staged image, each staged beside it in the document's own format.
 * `outputs` maps variants to staged names; `maxPixels` bounds the image and what `ratio` makes of it, and at three bytes
 * each the memory that all images take together. Throws `ImageUnusable`, and `ImagesUnavailable` without sharp.
 */
export async function makeVariants(
  files: Files,
  source: string,
  crop: Crop,
  outputs: { readonly cropped: string; readonly resized: string; readonly thumbnail: string },
  maxPixels: number,
): Promise<void> {
  const maxBytes = maxPixels * HELD_BYTES;
  const work = (make?: ImageTask['make']) => run({ source, ...(make && { make }) }, maxBytes * DECODER_SLACK);
  // The header alone is read, so that a bomb is known by what it says of itself.
  const facts = await work();
  const { width, height } = facts;
  if (width * height > maxPixels) {
    const pixels = `${width} × ${height} pixels; this server works on ${maxPixels} at most`;
    throw new ImageTooLarge('file.content', `file.content is an image of ${pixels}.`);
  }
  checkBox(crop, width, height);
  const box = { left: crop.fromX, top: crop.fromY, width: crop.width, height: crop.height };
  const size = { width: scale(crop.width, crop.ratio), height: scale(crop.height, crop.ratio) };
  if (size.width * size.height > maxPixels) {
    throw new ImageUnusable('file.ratio', `file.ratio makes an image of more than ${maxPixels} pixels.`);
  }
  const held = heldBytes(facts, size.width * size.height);
  if (held.least > maxBytes) {
    const advice = 'Send it as a JPEG that is neither progressive nor rotated, or smaller';
    throw new ImageTooLarge('file.content', `file.content takes too much memory to work on. ${advice}.`);
  }
  const small = { width: THUMBNAIL_EDGE, height: THUMBNAIL_EDGE };
  await memory.use(held.most, maxBytes, async () => {
    const stage = (name: string, make: Omit<NonNullable<ImageTask['make']>, 'target' | 'maxPixels'>) =>
      stageMade(files, source, name, (target) => work({ target, maxPixels, ...make }));
    await stage(outputs.cropped, { box });
    await stage(outputs.resized, { box, size: { ...size, fit: 'fill' } });
    await stage(outputs.thumbnail, { size: { ...small, fit: 'inside' } });
  });
}

/** Works on an image; at fault are sharp, the disk, the process, or the image. */
async function run(task: ImageTask, maxBytes: number): Promise<ImageFacts> {
  // In a bundle of its own, which finds that of the process beside it.
  const { runTask } = await import('./imageport.ts');
  const reply = await runTask(task, maxBytes);
  if ('facts' in reply) return reply.facts;
  const cause = new Error(reply.message);
  if (reply.fault === 'missing') throw new ImagesUnavailable(cause);
  if (reply.fault === 'disk') throw Object.assign(cause, { code: 'EIO', syscall: 'write' });
  if (reply.fault === 'process') {
    throw refusal('server.unavailable', null, 'The work on images has ended. Try again in a moment.');
  }
  throw new ImageUnusable(
    'file.content',
    'file.content is not a readable image: it is damaged, cut short or too large.',
    cause,
  );
}

/** Bytes of an image that are in memory at once, at least and at most; of others only some lines are. */
function heldBytes(facts: ImageFacts, resultPixels: number): { readonly least: number; readonly most: number } {
  const { format, progressive, turned, channels, bytesPerSample } = facts;
  const pixels = facts.width * facts.height;
  if (format === 'gif') return same(GIF_BYTES * Math.max(pixels, resultPixels));
  const upright = turned ? pixels * channels * bytesPerSample : 0;
  if (!progressive) return same(upright);
  if (format !== 'jpeg') return same(pixels * channels * bytesPerSample + upright);
  // Coefficients of two bytes, of which a subsampled image has half, or more: headers do not say it exactly.
  const most = pixels * channels * 2;
  return { least: facts.subsampled && !turned ? most / 2 : most + upright, most: most + upright };
}

function same(bytes: number) {
  return { least: bytes, most: bytes };
}

/** Memory that images take together: what does not fit beside those worked on waits for them, and others behind it. */
class SharedMemory {
  private used = 0;
  private readonly waiting: { readonly bytes: number; readonly limit: number; readonly begin: () => void }[] = [];

  async use(bytes: number, limit: number, work: () => Promise<void>): Promise<void> {
    await new Promise<void>((begin) => {
      this.waiting.push({ bytes, limit, begin });
      this.beginNext();
    });
    try {
      await work();
    } finally {
      this.used -= bytes;
      this.beginNext();
    }
  }

  private beginNext(): void {
    for (let next = this.waiting[0]; next && (this.used === 0 || this.used + next.bytes <= next.limit); ) {
      this.used += next.bytes;
      next.begin();
      this.waiting.shift();
      next = this.waiting[0];
    }
  }
}

const memory = new SharedMemory();

/**
 * Stages a file that `make` writes, and is in pieces in memory alone. It is written in a folder of its own: what still
 * works on it when this process has been killed cannot leave it behind once the next start has removed the folder.
 */
async function stageMade(files: Files, source: string, name: string, make: (target: string) => Promise<unknown>) {
  const folder = `${source}-made`;
  const target = join(folder, 'image');
  try {
    await mkdir(folder, { mode: 0o700 });
    await make(target);
    const stage = await files.stage(name);
    try {
      for await (const chunk of createReadStream(target)) await stage.write(chunk);
      await stage.finish();
    } catch (error) {
      // An open file takes space on a full disk even when its name is gone.
      await stage.discard();
      throw error;
    }
  } finally {
    await removeTree(folder);
  }
}

function checkBox(crop: Crop, width: number, height: number): void {
  if (crop.fromX + crop.width <= width && crop.fromY + crop.height <= height) return;
  const source = crop.fromX + crop.width > width ? 'file.width' : 'file.height';
  throw new ImageUnusable(source, `The crop box reaches outside the image, which has ${width} × ${height} pixels.`);
}

function scale(edge: number, ratio: number): number {
  return Math.max(1, Math.round(edge * ratio));
}
