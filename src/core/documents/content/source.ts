import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, stat } from 'node:fs/promises';
import { type Failure, fileFailure, localFailure } from '../../failure.ts';

/** Bytes that can be read anywhere, as often as needed. */
export interface ContentReader {
  /** Fills `buffer` from `position` on; gives the number of bytes read, which may be short, and 0 only at the end. */
  readonly read: (buffer: Uint8Array, position: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** The content of one upload: a file, or stdin after it was spooled. `size` in bytes, as it was when looked at. */
export interface ContentSource {
  readonly label: string;
  readonly size: number;
  readonly open: () => Promise<ContentReader>;
  /**
   * As `open`, for what was read a moment ago and is not large: it comes from the memory of the system, in less time
   * than handing the work to another thread takes. Absent where there is no quicker way.
   */
  readonly reopen?: () => ContentReader;
}

/** The content is no longer what was checked: sent as it is, the document would be half old and half new. Exit 9. */
export function contentChanged(label: string): Failure {
  return localFailure('local.file', `${label} changed while it was being read.`, { source: label, hint: CHANGED_HINT });
}

const CHANGED_HINT = 'Upload it again when nothing writes to it any more.';

/** A file by its path; each `open` is a descriptor of its own. Throws a Failure with exit code 9 when it cannot be read. */
export async function fileSource(path: string, label: string = path): Promise<ContentSource> {
  const failed = (cause: unknown) => Promise.reject(fileFailure(`read ${label}`, cause));
  const facts = await stat(path).catch(failed);
  if (facts.isDirectory())
    throw localFailure('local.file', `${label} is a folder, not a file; give folders on the command line.`);
  // Looked at before it is opened: opening a pipe would wait for its writer.
  if (!facts.isFile())
    throw localFailure('local.file', `${label} is not a regular file.`, { hint: 'Use - to read from stdin.' });
  return {
    label,
    size: facts.size,
    open: async () => handleReader(await open(path, 'r').catch(failed), true),
    reopen: () => descriptorReader(path, label),
  };
}

function descriptorReader(path: string, label: string): ContentReader {
  try {
    const descriptor = openSync(path, 'r');
    return {
      read: async (buffer, position) => readSync(descriptor, buffer, 0, buffer.length, position),
      close: async () => closeSync(descriptor),
    };
  } catch (cause) {
    throw fileFailure(`read ${label}`, cause);
  }
}

/** Reads through a handle; `owned` handles are closed with the reader. */
export function handleReader(handle: FileHandle, owned: boolean): ContentReader {
  return {
    read: async (buffer, position) => (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
    close: async () => {
      if (owned) await handle.close();
    },
  };
}

/**
 * Does some work that opens a source several times, with one reader for all of it, which keeps the beginning: a file
 * that is not large is read once.
 */
export async function whileOpen<T>(source: ContentSource, work: (opened: ContentSource) => Promise<T>): Promise<T> {
  const reader = await source.open();
  const memory = takeMemory();
  try {
    const begun = await fill(reader, 0, memory.subarray(0, source.size + 1), source.size);
    const read = async (buffer: Uint8Array, position: number) =>
      position < begun.length ? begun.copy(buffer, 0, position) : reader.read(buffer, position);
    return await work({ ...source, open: async () => ({ read, close: async () => {} }) });
  } finally {
    giveBack(memory);
    await reader.close();
  }
}

/** Bytes of memory that content is read into; a multiple of three. */
export const MEMORY = 255 * 1024;

/** Memory that nobody uses now: to take fresh memory for every file costs more than to read the file. */
const spare: Buffer[] = [];

/** Memory of `MEMORY` bytes to read into, until `giveBack`. */
export function takeMemory(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(MEMORY);
}

/** Gives memory back, of which nothing is used any more. */
export function giveBack(memory: Buffer): void {
  spare.push(memory);
}

/** Up to `length` bytes from `position`, fewer only at the end of the content. */
export function readFully(reader: ContentReader, position: number, length: number): Promise<Buffer> {
  return fill(reader, position, Buffer.alloc(length));
}

/**
 * Fills a buffer from `position` on; gives the part of it that was filled, all of it unless the content ends. Where
 * more than `enough` bytes are not to be expected, it is not asked for them again.
 */
export async function fill(
  reader: ContentReader,
  position: number,
  buffer: Buffer,
  enough = buffer.length,
): Promise<Buffer> {
  let filled = 0;
  while (filled < Math.min(enough, buffer.length)) {
    const read = await reader.read(buffer.subarray(filled), position + filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

/** SHA-256 of the content, in hex. Throws `contentChanged` when it is not `source.size` bytes long. */
export async function sha256Of(source: ContentSource): Promise<string> {
  const reader = await source.open();
  const hash = createHash('sha256');
  const memory = takeMemory();
  try {
    let position = 0;
    for (let read = memory.length; read === memory.length; position += read) {
      // One byte more than there should be, so that a file that has grown shows.
      const left = source.size - position;
      const bytes = await fill(reader, position, memory.subarray(0, left + 1), Math.max(1, left));
      hash.update(bytes);
      read = bytes.length;
    }
    if (position !== source.size) throw contentChanged(source.label);
    return hash.digest('hex');
  } finally {
    giveBack(memory);
    await reader.close();
  }
}
