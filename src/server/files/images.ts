import { createRequire } from 'node:module';
import pLimit from 'p-limit';
import { Refusal } from '../../catalog/failures.ts';
import type { MimeType } from '../../catalog/resources/documentnames.ts';
import type { Files } from './files.ts';

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

let sharpModule: Promise<typeof import('sharp').default> | undefined;

function loadSharp(): Promise<typeof import('sharp').default> {
  sharpModule ??= import('sharp').then(
    ({ default: sharp }) => {
      sharp.block({ operation: ['VipsForeignLoad'] });
      sharp.unblock({ operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadNsgif'] });
      sharp.cache(false);
      sharp.concurrency(1);
      return sharp;
    },
    (cause: unknown) => {
      // Installed later, it works without a restart.
      sharpModule = undefined;
      throw new ImagesUnavailable(cause);
    },
  );
  return sharpModule;
}

/** An image has more pixels than are worked on: a bomb, or a mistake. */
export class ImageTooLarge extends ImageUnusable {}

/**
 * Pixels of an image that is worked on while no other such one is: decoding a progressive one holds all of it, at six
 * bytes a pixel. Phones take smaller ones.
 */
const LARGE_PIXELS = 12_500_000;

const largeTurn = pLimit(1);

/**
 * Makes `cropped`, `resized` and `thumbnail` of a staged image, each staged beside it in the document's own format.
 * `outputs` maps variants to staged names; `maxPixels` bounds the image and what `ratio` makes of it. Throws
 * `ImageUnusable`, and `ImagesUnavailable` without sharp.
 */
export async function makeVariants(
  files: Files,
  source: string,
  crop: Crop,
  outputs: { readonly cropped: string; readonly resized: string; readonly thumbnail: string },
  maxPixels: number,
): Promise<void> {
  const sharp = await loadSharp();
  // Optimized coding would hold the whole result beside the whole image, for a few bytes less.
  const upright = () =>
    sharp(source, { limitInputPixels: maxPixels, failOn: 'error' })
      .autoOrient()
      .jpeg({ optimizeCoding: false, force: false });
  try {
    // The header alone is read, so that a bomb is known by what it says of itself.
    const metadata = await sharp(source, { limitInputPixels: false }).metadata();
    const { width, height } = metadata.autoOrient;
    if (width * height > maxPixels) {
      const pixels = `${width} × ${height} pixels; this server works on ${maxPixels} at most`;
      throw new ImageTooLarge('file.content', `file.content is an image of ${pixels}.`);
    }
    checkBox(crop, width, height);
    const box = { left: crop.fromX, top: crop.fromY, width: crop.width, height: crop.height };
    const scaled = {
      width: scale(crop.width, crop.ratio),
      height: scale(crop.height, crop.ratio),
      fit: 'fill' as const,
    };
    if (scaled.width * scaled.height > maxPixels) {
      throw new ImageUnusable('file.ratio', `file.ratio makes an image of more than ${maxPixels} pixels.`);
    }
    const stageAll = async () => {
      await stageBytes(files, outputs.cropped, await upright().extract(box).toBuffer());
      await stageBytes(files, outputs.resized, await upright().extract(box).resize(scaled).toBuffer());
      const small = { width: THUMBNAIL_EDGE, height: THUMBNAIL_EDGE, fit: 'inside' as const, withoutEnlargement: true };
      await stageBytes(files, outputs.thumbnail, await upright().resize(small).toBuffer());
    };
    const pixels = Math.max(width * height, scaled.width * scaled.height);
    await (pixels > LARGE_PIXELS ? largeTurn(stageAll) : stageAll());
  } catch (error) {
    if (error instanceof ImageUnusable || isFileError(error)) throw error;
    throw new ImageUnusable(
      'file.content',
      'file.content is not a readable image: it is damaged, cut short or too large.',
      error,
    );
  }
}

async function stageBytes(files: Files, name: string, bytes: Buffer): Promise<void> {
  const stage = await files.stage(name);
  try {
    await stage.write(bytes);
    await stage.finish();
  } catch (error) {
    // An open file takes space on a full disk even when its name is gone.
    await stage.discard();
    throw error;
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

function isFileError(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}
