import { createHash } from 'node:crypto';
import type { OutgoingBody } from '../../transport/send.ts';
import { type ContentSource, contentChanged, fill } from '../content/source.ts';

/** The fields of POST /api/v1/documents, `file` without its content (specification, Documents). */
export type DocumentFields = Readonly<Record<string, unknown>> & { readonly file?: Readonly<Record<string, number>> };

/** A body that is made while it is sent. */
export type StreamedBody = Exclude<OutgoingBody, string>;

/** Bytes of content in one chunk: a multiple of three, so that base64 needs no padding between chunks. */
const CHUNK = 192 * 1024;

/**
 * JSON of a document with the base64 of its content, read from disk while it is sent: memory stays at a chunk whatever
 * the size. `length` is exact. When the content is no longer of the size and `sha256` it was checked with, the stream
 * throws `contentChanged` before its last bytes, so that no server can take it for a whole document.
 */
export function documentBody(
  fields: DocumentFields,
  content: { readonly source: ContentSource; readonly sha256: string },
  options: { readonly chunk?: number; readonly onBytes?: (bytes: number) => void } = {},
): StreamedBody {
  const { file = {}, ...rest } = fields;
  const opening = JSON.stringify({ ...rest, file });
  const head = Buffer.from(`${opening.slice(0, -2)}${Object.keys(file).length > 0 ? ',' : ''}"content":"`);
  const tail = Buffer.from('"}}');
  return {
    length: head.length + base64Length(content.source.size) + tail.length,
    open: async function* () {
      yield head;
      yield* base64(content, options.chunk ?? CHUNK, options.onBytes);
      yield tail;
    },
  };
}

/** Length of the base64 text, padding included, of so many bytes. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

async function* base64(
  { source, sha256 }: { readonly source: ContentSource; readonly sha256: string },
  chunk: number,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const reader = await source.open();
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(chunk, source.size));
  try {
    for (let position = 0; position < source.size; ) {
      const bytes = await fill(reader, position, buffer.subarray(0, source.size - position));
      position += bytes.length;
      hash.update(bytes);
      const last = position >= source.size;
      const whole = last || bytes.length === chunk;
      if (!whole || (last && (await isOther(reader.read, position, hash.digest('hex'), sha256))))
        throw contentChanged(source.label);
      yield Buffer.from(bytes.toString('base64'), 'latin1');
      onBytes?.(bytes.length);
    }
  } finally {
    await reader.close();
  }
}

async function isOther(
  read: (buffer: Uint8Array, position: number) => Promise<number>,
  end: number,
  found: string,
  expected: string,
): Promise<boolean> {
  return found !== expected || (await read(Buffer.alloc(1), end)) > 0;
}
