import { createHash } from 'node:crypto';
import sharp from 'sharp';
import type { Content } from './operation.ts';
import type { Random } from './random.ts';

/** A file to upload: its type, the `file` of the body, and what is to be stored of it. */
export interface Upload {
  readonly mimeType: string;
  readonly file: Readonly<Record<string, unknown>>;
  readonly content: Content;
}

const TYPES = ['PDF', 'DOCX', 'XLS', 'MSG'] as const;

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A file without variants, from a byte to more than a socket takes at once. */
export function plainUpload(random: Random): Upload {
  const bytes = random.bytes(random.of([1, 900, 20_000, 90_000]));
  return {
    mimeType: random.of(TYPES),
    file: { content: bytes.toString('base64') },
    content: { original: sha256(bytes) },
  };
}

/** An image with a crop. Which bytes its variants have is told by a server that nobody disturbs. */
export type ImageUpload = Omit<Upload, 'content'>;

export async function imageUploads(): Promise<ImageUpload[]> {
  const images = [
    ['JPEG', 160, 100, 0.5],
    ['PNG', 100, 160, 1.5],
    ['GIF', 120, 120, 0.25],
  ] as const;
  return Promise.all(
    images.map(async ([mimeType, width, height, ratio]) => {
      const noise = { type: 'gaussian', mean: 120, sigma: 40 } as const;
      const picture = sharp({ create: { width, height, channels: 3, background: '#808080', noise } });
      const bytes = await picture
        .toFormat(mimeType === 'JPEG' ? 'jpeg' : mimeType === 'PNG' ? 'png' : 'gif')
        .toBuffer();
      const crop = { fromX: 10, fromY: 20, width: width - 40, height: height - 60, ratio };
      return { mimeType, file: { content: bytes.toString('base64'), ...crop } };
    }),
  );
}
