import { createHash } from 'node:crypto';
import { Failure, fileFailure } from '../../failure.ts';
import type { OutgoingBody } from '../../transport/send.ts';
import { type ContentSource, contentChanged, fill, giveBack, MEMORY, takeMemory } from '../content/source.ts';

/** The fields of POST /api/v1/documents, `file` without its content (specification, Documents). */
export type DocumentFields = Readonly<Record<string, unknown>> & { readonly file?: Readonly<Record<string, number>> };

/** A body that is made while it is sent. */
export type StreamedBody = Exclude<OutgoingBody, string>;

/** Bytes of content in one chunk: a multiple of three, so that base64 needs no padding between chunks. */
const CHUNK = MEMORY - 3;

/** Whether content goes out at once: no buffers of it live long enough to become old garbage. */
export function isOnePiece({ size }: { readonly size: number }): boolean {
  return size <= CHUNK;
}

/** Bytes of content that are encoded at once: of more the text would be too long for the heap of what is short-lived. */
const ENCODED = 72 * 1024;

/**
 * JSON of a document with the base64 of its content, read from disk while it is sent: memory stays at a chunk whatever
 * the size. `length` is exact. When the content is no longer of the size and `sha256` it was checked with, the stream
 * throws `contentChanged` before its last bytes, so that no server can take it for a whole document; and a Failure with
 * exit code 9 when it cannot be read.
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
    open: () => chunks({ head, tail }, content, Math.min(options.chunk ?? CHUNK, CHUNK), options.onBytes),
  };
}

/** Length of the base64 text, padding included, of so many bytes. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

async function* chunks(
  { head, tail }: { readonly head: Buffer; readonly tail: Buffer },
  { source, sha256 }: { readonly source: ContentSource; readonly sha256: string },
  chunk: number,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const reader = (isOnePiece(source) && source.reopen?.()) || (await source.open());
  const hash = createHash('sha256');
  const memory = takeMemory();
  try {
    for (let position = 0; position < source.size; ) {
      const left = source.size - position;
      const last = left <= chunk;
      // One byte more than there should be at the end, so that a file that has grown shows.
      const bytes = await fill(reader, position, memory.subarray(0, last ? left + 1 : chunk), left);
      hash.update(bytes);
      if (bytes.length !== Math.min(left, chunk) || (last && hash.digest('hex') !== sha256))
        throw contentChanged(source.label);
      yield encoded(bytes, position === 0 ? head : NOTHING, last ? tail : NOTHING);
      position += bytes.length;
      onBytes?.(bytes.length);
    }
  } catch (cause) {
    throw cause instanceof Failure ? cause : fileFailure(`read ${source.label}`, cause);
  } finally {
    giveBack(memory);
    await reader.close();
  }
}

const NOTHING = Buffer.alloc(0);

/** The base64 of bytes between what stands before and behind it. */
function encoded(bytes: Buffer, before: Buffer, behind: Buffer): Buffer {
  const text = Buffer.allocUnsafe(before.length + base64Length(bytes.length) + behind.length);
  let end = before.copy(text);
  for (let from = 0; from < bytes.length; from += ENCODED)
    end += text.write(bytes.toString('base64', from, Math.min(bytes.length, from + ENCODED)), end, 'latin1');
  behind.copy(text, end);
  return text;
}
