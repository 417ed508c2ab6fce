import { createHash, hash } from 'node:crypto';
import { closeSync, open, openSync, read, readSync } from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type Failure, fileFailure, localFailure } from '../../failure.ts';

/** With bare descriptors: a FileHandle for every file takes its time. */
const [openFile, readSome] = [promisify(open), promisify(read)];

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
  /** All of it, while it is in memory. */
  readonly whole?: Buffer;
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
    open: async () => descriptorReader(await openFile(path, 'r').catch(failed), readAside),
    reopen: () => descriptorReader(openedNow(path, label), readNow),
  };
}

type ReadPart = (descriptor: number, buffer: Uint8Array, position: number) => Promise<number>;

const readAside: ReadPart = async (descriptor, buffer, position) =>
  (await readSome(descriptor, buffer, 0, buffer.length, position)).bytesRead;

const readNow: ReadPart = async (descriptor, buffer, position) =>
  readSync(descriptor, buffer, 0, buffer.length, position);

function openedNow(path: string, label: string): number {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    throw fileFailure(`read ${label}`, cause);
  }
}

function descriptorReader(descriptor: number, readPart: ReadPart): ContentReader {
  return {
    read: (buffer, position) => readPart(descriptor, buffer, position),
    // Nothing was written, so there is nothing to wait for.
    close: async () => closeSync(descriptor),
  };
}

/** Reads through a handle, which stays open. */
export function handleReader(handle: FileHandle): ContentReader {
  return {
    read: async (buffer, position) => (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
    close: async () => {},
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
    const isWhole = begun.length === source.size && begun.length < memory.length;
    return await work({
      ...source,
      open: async () => ({ read, close: async () => {} }),
      ...(isWhole && { whole: begun }),
    });
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
  if (source.whole !== undefined) return hash('sha256', source.whole, 'hex');
  const reader = await source.open();
  const sum = createHash('sha256');
  const memory = takeMemory();
  try {
    let position = 0;
    for (let read = memory.length; read === memory.length; position += read) {
      // One byte more than there should be, so that a file that has grown shows.
      const left = source.size - position;
      const bytes = await fill(reader, position, memory.subarray(0, left + 1), Math.max(1, left));
      sum.update(bytes);
      read = bytes.length;
    }
    if (position !== source.size) throw contentChanged(source.label);
    return sum.digest('hex');
  } finally {
    giveBack(memory);
    await reader.close();
  }
}
