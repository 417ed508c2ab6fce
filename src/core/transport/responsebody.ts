import { isUtf8 } from 'node:buffer';
import { versions } from 'node:process';
import type { BrotliDecompress, Gunzip, Inflate } from 'node:zlib';
import type { Utf8Builder } from '../utf8builder.ts';
import { type IncomingResponse, observedBody } from './send.ts';

type Zlib = typeof import('node:zlib');
type Pipeline = typeof import('node:stream/promises').pipeline;
type Decoder = Gunzip | Inflate | BrotliDecompress;

/** Node has Zstandard from 22.15 on, and its types here are those of an older one. */
interface ZstandardZlib {
  createZstdDecompress(options: { readonly chunkSize: number; readonly params: Record<number, number> }): Decoder;
}

const hasZstandard = versions.zstd !== undefined;

/** Bytes of output per chunk: with Node's default of 16 KiB a page takes four times as many chunks. */
const chunkSize = 64 * 1024;

/** Zstandard's parameter ZSTD_d_windowLogMax, and the maximum window of 8 MiB (2^23) of RFC 9659. */
const WINDOW_LOG_MAX = 100;
const MAX_WINDOW_LOG = 23;

const DECODERS: Readonly<Record<string, (zlib: Zlib) => Decoder>> = {
  gzip: (zlib) => zlib.createGunzip({ chunkSize }),
  'x-gzip': (zlib) => zlib.createGunzip({ chunkSize }),
  deflate: (zlib) => zlib.createInflate({ chunkSize }),
  br: (zlib) => zlib.createBrotliDecompress({ chunkSize }),
  ...(hasZstandard && {
    zstd: (zlib: Zlib) =>
      (zlib as unknown as ZstandardZlib).createZstdDecompress({
        chunkSize,
        params: { [WINDOW_LOG_MAX]: MAX_WINDOW_LOG },
      }),
  }),
};

/** The `Accept-Encoding` of every request to the API (D51). */
export const ACCEPTED = hasZstandard ? 'zstd, br, gzip' : 'br, gzip';

/** Maximum number of encodings of one body: more are an attempt to keep the client busy. */
const MAX_CODINGS = 5;

/** Maximum bytes of a body: what no page or report can be must not fill the memory. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** A page is 20 to 100 times larger than its compressed form; beyond this factor, and 8 MiB, it was made to do harm. */
const MAX_EXPANSION = 1000;
const FREE_EXPANSION_BYTES = 8 * 1024 * 1024;

/** A body that is not what its headers announce; another attempt may bring the right one. */
export class MalformedBody extends Error {}

/** A body that no other attempt will make readable. */
export class PermanentlyMalformed extends MalformedBody {}

/** A page for people in place of data: that of a website, or one where a network wants them to sign in. */
export class WebPage extends MalformedBody {
  static readonly next =
    'If you are in a guest Wi-Fi (a hotel, a train), open a browser and sign in there, then run it again. Otherwise check the address: it is what comes before /api/v1 (MOLAR_URL, --url).';

  constructor() {
    super('The response is not an API envelope but a web page.');
  }

  /** Whether a response is one, by its type or by its first characters. */
  static isIn(headers: Readonly<Record<string, string>>, body: Uint8Array): boolean {
    const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, 256)).toString('latin1');
    return (
      /^[^;]*\bx?html\b/i.test(headers['content-type'] ?? '') ||
      /^[\s\xef\xbb\xbf]*<(?:!doctype|html|head|meta|script)\b/i.test(start)
    );
  }
}

/** Reads a body into a buffer and returns its valid UTF-8. Throws MalformedBody, and whatever the body throws. */
export async function readBody({ headers, body }: IncomingResponse, buffer: Utf8Builder): Promise<Uint8Array> {
  const encoding = headers['content-encoding'];
  const codings = codingsOf(encoding);
  const isCompressed = codings !== undefined && codings.length > 0;
  let received = 0;
  const onChunk = ({ byteLength }: Uint8Array) => {
    received += byteLength;
  };
  for await (const chunk of isCompressed ? await decoded(observedBody(body, { onChunk }), codings) : body) {
    const length = buffer.length + chunk.byteLength;
    if (length > MAX_BODY_BYTES)
      throw new PermanentlyMalformed(`The response is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB.`);
    if (isCompressed && length > FREE_EXPANSION_BYTES && length > received * MAX_EXPANSION)
      throw new PermanentlyMalformed(
        `The response is more than ${MAX_EXPANSION} times larger than its compressed form.`,
      );
    buffer.append(chunk);
  }
  const text = buffer.bytes.subarray(0, buffer.length);
  if (!isCompressed) received = text.length;
  const announced = headers['content-length'];
  if (announced !== undefined && Number(announced) !== received)
    throw new MalformedBody(`The response was cut off after ${received} of ${announced} bytes.`);
  if (isUtf8(text)) return text;
  // An unknown encoding is an error only now: servers also name plain text here, `utf-8` for one.
  if (codings === undefined)
    throw new PermanentlyMalformed(`The response is in an encoding that molar does not know (${encoding}).`);
  throw new MalformedBody('The response is not valid UTF-8.');
}

/** The encodings that a `Content-Encoding` names, in the order applied; undefined where one cannot be decoded. */
function codingsOf(header = ''): readonly string[] | undefined {
  const names = header.split(',').map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => name !== '' && name !== 'identity');
  const isKnown = applied.length <= MAX_CODINGS && applied.every((name) => Object.hasOwn(DECODERS, name));
  return isKnown ? applied : undefined;
}

/** The decoded bytes of a body, however many. Throws MalformedBody, and whatever the body throws. */
async function decoded(
  body: AsyncIterable<Uint8Array>,
  codings: readonly string[],
): Promise<AsyncIterable<Uint8Array>> {
  // undici has loaded them by the time of a response; before, they would delay the start of every command.
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
  let fed = 0;
  // Node's decoders end with the compressed data and drop what follows.
  const refuseTrailingData = () => {
    if (fed === decoder.bytesWritten) return;
    throw new MalformedBody(`The response continues after its compressed data (${coding}).`);
  };
  const onChunk = ({ byteLength }: Uint8Array) => {
    fed += byteLength;
    // Endless trailing data would keep the request waiting.
    if (decoder.readableEnded) refuseTrailingData();
  };
  const feeding = pipeline(observedBody(encoded, { onChunk }), decoder);
  // Its failure is that of the decoder, or comes out below.
  feeding.catch(() => undefined);
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
    await feeding;
  } catch (cause) {
    throw isZlibError(cause) ? new MalformedBody(`The response was cut off or damaged (${coding}).`, { cause }) : cause;
  }
  refuseTrailingData();
}

/** `Z_DATA_ERROR`, `ERR__ERROR_FORMAT_PADDING_2`, `ZSTD_error_prefix_unknown`: with a number, unlike Node's own. */
function isZlibError(cause: unknown): boolean {
  const { code, errno } = cause as { readonly code?: unknown; readonly errno?: unknown };
  return typeof errno === 'number' && typeof code === 'string' && /^(?:Z_|ZSTD_|ERR_)/.test(code);
}
