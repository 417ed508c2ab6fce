import { versions } from 'node:process';
import type { BrotliDecompress, Gunzip, Inflate } from 'node:zlib';
import { watchedBody } from './watchedbody.ts';

type Zlib = typeof import('node:zlib');
type Pipeline = typeof import('node:stream/promises').pipeline;
type Decoder = Gunzip | Inflate | BrotliDecompress;

/** Node has Zstandard from 22.15 on, and its types here are those of an older one. */
interface ZstandardZlib {
  createZstdDecompress(options: { readonly chunkSize: number; readonly params: Record<number, number> }): Decoder;
}

const hasZstandard = versions.zstd !== undefined;

/** Bytes of output at a time: with the 16 KiB of Node a page takes four times as many turns. */
const chunkSize = 64 * 1024;

/** Parameter of Zstandard, and the window of 8 MiB (2^23) that an answer may need at most (RFC 9659). */
const WINDOW_LOG_MAX = 100;
const LARGEST_WINDOW = 23;

const DECODERS: Readonly<Record<string, (zlib: Zlib) => Decoder>> = {
  gzip: (zlib) => zlib.createGunzip({ chunkSize }),
  'x-gzip': (zlib) => zlib.createGunzip({ chunkSize }),
  deflate: (zlib) => zlib.createInflate({ chunkSize }),
  br: (zlib) => zlib.createBrotliDecompress({ chunkSize }),
  ...(hasZstandard && {
    zstd: (zlib: Zlib) =>
      (zlib as unknown as ZstandardZlib).createZstdDecompress({
        chunkSize,
        params: { [WINDOW_LOG_MAX]: LARGEST_WINDOW },
      }),
  }),
};

/** The `Accept-Encoding` of every request to the API (D51). */
export const ACCEPTED = hasZstandard ? 'zstd, br, gzip' : 'br, gzip';

/** More are no answer of a server but an attempt to keep the client busy. */
const MOST_CODINGS = 5;

/**
 * What a `Content-Encoding` says was applied, in that order; empty for `identity`. Undefined where it names what cannot
 * be decoded.
 */
export function codingsOf(header = ''): readonly string[] | undefined {
  const names = header.split(',').map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => name !== '' && name !== 'identity');
  const isKnown = applied.length <= MOST_CODINGS && applied.every((name) => Object.hasOwn(DECODERS, name));
  return isKnown ? applied : undefined;
}

/** A body that is not what its `Content-Encoding` says: cut off, damaged, or longer than the compressed data. */
export class Undecodable extends Error {}

/**
 * The decoded bytes of a body. Compressed data is held for as long as it takes to decode it: how much may come out is
 * for the reader to limit. Throws Undecodable, and whatever the body throws.
 */
export async function decoded(
  body: AsyncIterable<Uint8Array>,
  codings: readonly string[],
): Promise<AsyncIterable<Uint8Array>> {
  // undici has loaded them by the time of an answer; before, they would delay the start of every command.
  const [zlib, { pipeline }] = await Promise.all([import('node:zlib'), import('node:stream/promises')]);
  return codings.toReversed().reduce((encoded, coding) => decodedOnce(encoded, coding, zlib, pipeline), body);
}

async function* decodedOnce(
  encoded: AsyncIterable<Uint8Array>,
  coding: string,
  zlib: Zlib,
  pipeline: Pipeline,
): AsyncGenerator<Uint8Array> {
  const decoder = DECODERS[coding]?.(zlib);
  if (decoder === undefined) throw new Error(`There is no decoder of ${coding}.`);
  const given = new Given(decoder, coding);
  const feeding = pipeline(watchedBody(encoded, given), decoder);
  // Its failure is that of the decoder, or comes out below.
  feeding.catch(() => undefined);
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
    await feeding;
  } catch (cause) {
    throw isOfZlib(cause) ? new Undecodable(`The answer was cut off or damaged (${coding}).`, { cause }) : cause;
  }
  given.check();
}

/** Counts what a decoder is given: Node's decoders end with the compressed data, and drop what follows. */
class Given {
  private bytes = 0;
  private readonly decoder: Decoder;
  private readonly coding: string;

  constructor(decoder: Decoder, coding: string) {
    this.decoder = decoder;
    this.coding = coding;
  }

  readonly piece = ({ byteLength }: Uint8Array): void => {
    this.bytes += byteLength;
    // Without end, it would keep the request waiting.
    if (this.decoder.readableEnded) this.check();
  };

  check(): void {
    if (this.bytes === this.decoder.bytesWritten) return;
    throw new Undecodable(`The answer goes on behind its compressed data (${this.coding}).`);
  }
}

/** `Z_DATA_ERROR`, `ERR__ERROR_FORMAT_PADDING_2`, `ZSTD_error_prefix_unknown`: with a number, unlike Node's own. */
function isOfZlib(cause: unknown): boolean {
  const { code, errno } = cause as { readonly code?: unknown; readonly errno?: unknown };
  return typeof errno === 'number' && typeof code === 'string' && /^(?:Z_|ZSTD_|ERR_)/.test(code);
}
