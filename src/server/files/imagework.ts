/** A part of an upright image, in pixels. */
interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Something to do with the image in a file. */
export interface ImageTask {
  readonly source: string;
  /** What to make of it; without, only its header is read. */
  readonly make?: {
    /** Where the result is written, in the format of the image. */
    readonly target: string;
    readonly maxPixels: number;
    readonly box?: Box;
    readonly size?: { readonly width: number; readonly height: number; readonly fit: 'fill' | 'inside' };
  };
}

/** What the header of an image says. */
export interface ImageFacts {
  readonly format: string;
  /** Pixels of the upright image. */
  readonly width: number;
  readonly height: number;
  /** Whether it has to be turned or mirrored top to bottom to be upright. */
  readonly turned: boolean;
  /** Whether it is progressive or interlaced: what is at its top is known when all of it is read. */
  readonly progressive: boolean;
  readonly channels: number;
  readonly bytesPerSample: number;
  /** Whether a JPEG has a colour for several pixels. */
  readonly subsampled: boolean;
}

/**
 * The outcome of a task, as it can be sent between processes. The fault: sharp is missing, the disk or the process failed,
 * or the image cannot be used.
 */
export type ImageReply =
  | { readonly facts: ImageFacts }
  | { readonly fault: 'missing' | 'disk' | 'process' | 'image'; readonly message: string };

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
      throw cause;
    },
  );
  return sharpModule;
}

/** Works on an image in this process; never rejects. */
export async function workOnImage({ source, make }: ImageTask): Promise<ImageReply> {
  let sharp: typeof import('sharp').default;
  try {
    sharp = await loadSharp();
  } catch (error) {
    return { fault: 'missing', message: messageOf(error) };
  }
  try {
    const header = await sharp(source, { limitInputPixels: false }).metadata();
    if (make !== undefined) {
      // Optimized coding would hold the whole result beside the whole image, for a few bytes less.
      const image = sharp(source, { limitInputPixels: make.maxPixels, failOn: 'error' })
        .autoOrient()
        .jpeg({ optimizeCoding: false, force: false });
      if (make.box !== undefined) image.extract(make.box);
      if (make.size !== undefined) image.resize({ ...make.size, withoutEnlargement: make.size.fit === 'inside' });
      await image.toFile(make.target);
    }
    const { format, autoOrient, orientation = 1, isProgressive = false, channels, depth } = header;
    return {
      facts: {
        format,
        ...autoOrient,
        turned: orientation > 2,
        progressive: isProgressive,
        channels,
        bytesPerSample: depth === 'ushort' ? 2 : 1,
        subsampled: header.chromaSubsampling?.startsWith('4:2:0') ?? false,
      },
    };
  } catch (error) {
    const message = messageOf(error);
    // What could not be written is named, also where the image breaks off while it is.
    if (make === undefined || !message.includes(make.target)) return { fault: 'image', message };
    const read = sharp(source, { limitInputPixels: make.maxPixels, failOn: 'error' }).stats();
    const isWhole = await read.then(
      () => true,
      () => false,
    );
    return { fault: isWhole ? 'disk' : 'image', message };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
