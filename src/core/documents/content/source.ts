import { createHash, hash } from 'node:crypto';
import { closeSync, open, openSync, read, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type Failure, fileFailure, localFailure, usageFailure } from '../../failure.ts';

/** Bare descriptors: making a FileHandle for every file costs measurable time. */
const [openFile, readFile] = [promisify(open), promisify(read)];

/** Maximum content of a document, in bytes (D38). */
export const MAX_CONTENT = 50 * 1024 * 1024;

/** Bytes that can be read at any position, as often as needed. */
export interface ContentReader {
  /** Fills `buffer` from `position` on; returns the number of bytes read, which may be short, and 0 only at the end. */
  readonly read: (buffer: Uint8Array, position: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** The content of one upload: a file, or spooled standard input. `size` in bytes, as it was when checked. */
export interface ContentSource {
  readonly label: string;
  readonly size: number;
  readonly open: () => Promise<ContentReader>;
  /** As `open`, for a small file read a moment ago: the system's cache is faster read here than in a thread. */
  readonly reopen?: () => ContentReader;
  /** The complete content, while it is in memory. */
  readonly complete?: Buffer;
}

/** The failure of content that changed since it was checked: the document would be half old and half new. Exit 9. */
export function contentChanged(label: string): Failure {
  const hint = 'Upload it again when nothing writes to it any more.';
  return localFailure('local.file', `${label} changed while it was being read.`, { source: label, hint });
}

/** The failure of content that is larger than a document may be; `size` in bytes, where it is known. */
export function tooLarge(label: string, limit: number, size?: number): Failure {
  const has = size === undefined ? 'more' : sizeText(size);
  return usageFailure(`${label}: a document may have at most ${sizeText(limit)}, it has ${has}.`, { source: label });
}

function sizeText(bytes: number): string {
  const mebibytes = bytes / (1024 * 1024);
  if (mebibytes < 1) return `${bytes} bytes`;
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${mebibytes.toFixed(2)} MiB (${bytes} bytes)`;
}

/** A file by its path; each `open` makes a new descriptor. Throws a Failure with exit code 9 when it cannot be read. */
export async function fileSource(path: string, label: string = path): Promise<ContentSource> {
  const failed = (cause: unknown): never => {
    throw fileFailure(`read ${label}`, cause);
  };
  const facts = await stat(path).catch(failed);
  if (facts.isDirectory())
    throw localFailure('local.file', `${label} is a folder, not a file; give folders on the command line.`);
  // Checked before it is opened: opening a pipe would wait for its writer.
  if (!facts.isFile())
    throw localFailure('local.file', `${label} is not a regular file.`, { hint: 'Use - to read from stdin.' });
  return {
    label,
    size: facts.size,
    async open() {
      const descriptor = await openFile(path, 'r').catch(failed);
      return {
        read: async (buffer, at) => (await readFile(descriptor, buffer, 0, buffer.length, at)).bytesRead,
        // Nothing was written, so there is nothing to wait for.
        close: async () => closeSync(descriptor),
      };
    },
    reopen() {
      const descriptor = openNow(path, failed);
      return {
        read: async (buffer, at) => readSync(descriptor, buffer, 0, buffer.length, at),
        close: async () => closeSync(descriptor),
      };
    },
  };
}

function openNow(path: string, failed: (cause: unknown) => never): number {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    return failed(cause);
  }
}

/** Does work that opens a source several times, with one reader that buffers the beginning: a small file is read once. */
export async function whileOpen<T>(source: ContentSource, work: (opened: ContentSource) => Promise<T>): Promise<T> {
  const reader = await source.open();
  const buffer = acquireBuffer();
  try {
    const head = await fill(reader, 0, buffer.subarray(0, source.size + 1), source.size);
    const read = async (target: Uint8Array, position: number) =>
      position < head.length ? head.copy(target, 0, position) : reader.read(target, position);
    const isComplete = head.length === source.size && head.length < buffer.length;
    return await work({
      ...source,
      open: async () => ({ read, close: async () => {} }),
      ...(isComplete && { complete: head }),
    });
  } finally {
    releaseBuffer(buffer);
    await reader.close();
  }
}

/** Bytes of a buffer that content is read into; a multiple of three. */
export const BUFFER_BYTES = 255 * 1024;

/** Unused buffers: a fresh one for every file costs more than reading the file. */
const spare: Buffer[] = [];

/** A buffer of `BUFFER_BYTES` bytes to read into, until `releaseBuffer`. */
export function acquireBuffer(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
}

/** Returns a buffer of which nothing is used any more. */
export function releaseBuffer(buffer: Buffer): void {
  spare.push(buffer);
}

/** Up to `length` bytes from `position`, fewer only at the end of the content. */
export function readFully(reader: ContentReader, position: number, length: number): Promise<Buffer> {
  return fill(reader, position, Buffer.alloc(length));
}

/** Fills a buffer from `position` until `enough` bytes are there; returns the filled part, short only at the end. */
export async function fill(
  reader: ContentReader,
  position: number,
  buffer: Buffer,
  enough = buffer.length,
): Promise<Buffer> {
  let filled = 0;
  while (filled < Math.min(enough, buffer.length)) {
    const bytes = await reader.read(buffer.subarray(filled), position + filled);
    if (bytes === 0) break;
    filled += bytes;
  }
  return buffer.subarray(0, filled);
}

/** SHA-256 of the content, in hex. Throws `contentChanged` when it is not `source.size` bytes long. */
export async function sha256Of(source: ContentSource): Promise<string> {
  if (source.complete !== undefined) return hash('sha256', source.complete, 'hex');
  const reader = await source.open();
  const sum = createHash('sha256');
  const buffer = acquireBuffer();
  try {
    let position = 0;
    for (let bytesRead = buffer.length; bytesRead === buffer.length; position += bytesRead) {
      // One byte more than expected, so that a file that has grown shows.
      const left = source.size - position;
      const bytes = await fill(reader, position, buffer.subarray(0, left + 1), Math.max(1, left));
      sum.update(bytes);
      bytesRead = bytes.length;
    }
    if (position !== source.size) throw contentChanged(source.label);
    return sum.digest('hex');
  } finally {
    releaseBuffer(buffer);
    await reader.close();
  }
}
