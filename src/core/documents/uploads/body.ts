import { createHash } from 'node:crypto';
import { Failure, fileFailure } from '../../failure.ts';
import type { OutgoingBody } from '../../transport/send.ts';
import {
  acquireBuffer,
  BUFFER_BYTES,
  type ContentSource,
  contentChanged,
  fill,
  releaseBuffer,
} from '../content/source.ts';

/** The fields of POST /api/v1/documents, `file` without its content (specification, Documents). */
export type DocumentFields = Readonly<Record<string, unknown>> & { readonly file?: Readonly<Record<string, number>> };

/** A body that is generated while it is sent. */
export type StreamedBody = Exclude<OutgoingBody, string>;

/** Bytes of content in one chunk: a multiple of three, so that base64 needs no padding between chunks. */
const CHUNK = BUFFER_BYTES - 3;

/** Whether content goes out in one chunk: none of its buffers lives long enough to become old garbage. */
export function isSingleChunk({ size }: { readonly size: number }): boolean {
  return size <= CHUNK;
}

/** Bytes of content that are encoded at once: the text of more would not fit into the heap for short-lived objects. */
const ENCODED = 72 * 1024;

/**
 * JSON of a document with the base64 of its content, read from disk while it is sent: memory stays at a chunk whatever
 * the size. `length` is exact. When the content no longer has the size and `sha256` it was checked with, the stream
 * throws `contentChanged` before its last bytes, so that no server can take it for a complete document; and a Failure
 * with exit code 9 when it cannot be read.
 */
export function documentBody(
  fields: DocumentFields,
  content: CheckedContent,
  options: { readonly chunk?: number; readonly onBytes?: (bytes: number) => void } = {},
): StreamedBody {
  const { file = {}, ...rest } = fields;
  const opening = JSON.stringify({ ...rest, file });
  const head = Buffer.from(`${opening.slice(0, -2)}${Object.keys(file).length > 0 ? ',' : ''}"content":"`);
  const tail = Buffer.from('"}}');
  return {
    length: head.length + base64Length(content.source.size) + tail.length,
    open: () => chunks({ head, tail }, content, Math.min(options.chunk ?? CHUNK, CHUNK), options.onBytes),
  };
}

interface CheckedContent {
  readonly source: ContentSource;
  readonly sha256: string;
}

/** Length of the base64 text, padding included, of so many bytes. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

async function* chunks(
  { head, tail }: { readonly head: Buffer; readonly tail: Buffer },
  { source, sha256 }: CheckedContent,
  chunk: number,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const reader = (isSingleChunk(source) && source.reopen?.()) || (await source.open());
  const hash = createHash('sha256');
  const buffer = acquireBuffer();
  try {
    for (let position = 0; position < source.size; ) {
      const left = source.size - position;
      const isLast = left <= chunk;
      // One byte more than expected at the end, so that a file that has grown shows.
      const bytes = await fill(reader, position, buffer.subarray(0, isLast ? left + 1 : chunk), left);
      hash.update(bytes);
      if (bytes.length !== Math.min(left, chunk) || (isLast && hash.digest('hex') !== sha256))
        throw contentChanged(source.label);
      yield encoded(bytes, position === 0 ? head : NOTHING, isLast ? tail : NOTHING);
      position += bytes.length;
      onBytes?.(bytes.length);
    }
  } catch (cause) {
    throw cause instanceof Failure ? cause : fileFailure(`read ${source.label}`, cause);
  } finally {
    releaseBuffer(buffer);
    await reader.close();
  }
}

const NOTHING = Buffer.alloc(0);

/** The base64 of bytes between two other pieces of text. */
function encoded(bytes: Buffer, before: Buffer, after: Buffer): Buffer {
  const text = Buffer.allocUnsafe(before.length + base64Length(bytes.length) + after.length);
  let end = before.copy(text);
  for (let from = 0; from < bytes.length; from += ENCODED)
    end += text.write(bytes.toString('base64', from, Math.min(bytes.length, from + ENCODED)), end, 'latin1');
  after.copy(text, end);
  return text;
}

/** Called with the bytes of content as they go out, negative when an attempt starts over. */
export type OnBytes = (bytes: number, source: ContentSource) => void;

/** The body of one upload, generated anew for each attempt; `sent`: bytes of content that the last attempt sent. */
export interface CountedBody extends StreamedBody {
  sent: number;
}

/** A document's body that counts the content it sends. */
export function countedBody(fields: DocumentFields, content: CheckedContent, onBytes?: OnBytes): CountedBody {
  const count = (bytes: number) => {
    body.sent += bytes;
    onBytes?.(bytes, content.source);
  };
  const { length, open } = documentBody(fields, content, { onBytes: count });
  const body: CountedBody = {
    length,
    sent: 0,
    open() {
      count(-body.sent);
      return open();
    },
  };
  return body;
}
