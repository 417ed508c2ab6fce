import { createHash, type Hash, hash } from 'node:crypto';
import { closeSync, open, write } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeFile, removeTree, syncDescriptor, syncFolder } from '../../filesystem/durable.ts';
import { makePrivateFolder } from '../../filesystem/private.ts';
import { sharedRun } from '../../filesystem/sharedrun.ts';
import type { Stage, StagedFile } from './files.ts';

/** Bare descriptors: making a FileHandle for every document costs measurable time. */
const [openFile, writeFile] = [promisify(open), promisify(write)];

/** Milliseconds after which a staged file in a shared folder counts as abandoned: no import lasts a day. */
export const ABANDONED_MS = 24 * 60 * 60 * 1000;

/** Files on the local disk that belong to no record yet. */
export interface Staging {
  path(name: string): string;
  stage(name: string): Promise<Stage>;
  /** Makes the existence of finished files survive a power cut. */
  persist(): Promise<void>;
  has(name: string): Promise<boolean>;
  drop(name: string): Promise<void>;
  /** Names of what earlier processes left; only of abandoned files when other processes may be staging here now. */
  leftovers(): Promise<string[]>;
}

/** Opens a staging folder, 0700 with files of 0600. `shared`: other processes stage in it, too. */
export async function openStaging(folder: string, shared: boolean): Promise<Staging> {
  await makePrivateFolder(folder);
  const path = (name: string) => join(folder, name);
  return {
    path,
    stage: async (name) => new DiskStage(name, path(name)),
    persist: sharedRun(() => syncFolder(folder)),
    has: async (name) => (await statOf(path(name))) !== undefined,
    drop: (name) => removeTree(path(name)),
    async leftovers() {
      const names = await readdir(folder);
      if (!shared) return names;
      const old: string[] = [];
      for (const name of names) if (await isAbandoned(path(name))) old.push(name);
      return old;
    },
  };
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await statOf(path);
  return found !== undefined && found.mtimeMs < Date.now() - ABANDONED_MS;
}

/** Size and times of a file, undefined when it does not exist. */
export async function statOf(path: string): Promise<{ size: number; mtime: Date; mtimeMs: number } | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const HEAD_BYTES = 64;

/** Bytes buffered before they are written: most documents are then written at once. */
const BUFFER_BYTES = 256 * 1024;
/** Maximum number of buffers. Documents beyond write each chunk as it arrives, so that many take little memory. */
const MAX_BUFFERS = 16;
/** Unused buffers, and the number of all: allocating a fresh one costs more than copying into one. */
const spare: Buffer[] = [];
let allocated = 0;

const NO_BUFFER = Buffer.alloc(0);

function acquireBuffer(): Buffer {
  const buffer = spare.pop();
  if (buffer !== undefined) return buffer;
  if (allocated === MAX_BUFFERS) return NO_BUFFER;
  allocated++;
  return Buffer.allocUnsafeSlow(BUFFER_BYTES);
}

/** A file on the local disk while its bytes arrive, at most 256 KiB of them in memory. */
class DiskStage implements Stage {
  /** Hash of what was written before the end; a document that fits the buffer is hashed at once. */
  private sum: Hash | undefined;
  private readonly head = Buffer.alloc(HEAD_BYTES);
  private readonly buffer = acquireBuffer();
  private buffered = 0;
  private size = 0;
  private descriptor: number | undefined;
  private ended = false;

  constructor(
    private readonly name: string,
    private readonly path: string,
  ) {}

  async write(chunk: Uint8Array): Promise<void> {
    if (this.size < HEAD_BYTES) this.head.set(chunk.subarray(0, HEAD_BYTES - this.size), this.size);
    this.size += chunk.length;
    if (this.buffered + chunk.length > this.buffer.length) await this.flush();
    if (chunk.length > this.buffer.length) return this.writePart(chunk);
    this.buffer.set(chunk, this.buffered);
    this.buffered += chunk.length;
  }

  async finish(): Promise<StagedFile> {
    const rest = this.buffer.subarray(0, this.buffered);
    const sha256 = this.sum?.update(rest).digest('hex') ?? hash('sha256', rest, 'hex');
    await this.writeAll(rest);
    await syncDescriptor(await this.opened());
    this.end();
    const { name, path, size } = this;
    return { name, path, size, sha256, head: this.head.subarray(0, size) };
  }

  async discard(): Promise<void> {
    this.end();
    await removeFile(this.path);
  }

  private async flush(): Promise<void> {
    const { buffered } = this;
    this.buffered = 0;
    if (buffered > 0) await this.writePart(this.buffer.subarray(0, buffered));
  }

  private async writePart(bytes: Uint8Array): Promise<void> {
    this.sum ??= createHash('sha256');
    this.sum.update(bytes);
    await this.writeAll(bytes);
  }

  private async writeAll(bytes: Uint8Array): Promise<void> {
    const descriptor = await this.opened();
    for (let done = 0; done < bytes.length; )
      done += (await writeFile(descriptor, bytes, done, bytes.length - done)).bytesWritten;
  }

  private async opened(): Promise<number> {
    this.descriptor ??= await openFile(this.path, 'wx', 0o600);
    return this.descriptor;
  }

  /** Closes the file and releases the buffer; nothing is written any more. */
  private end(): void {
    if (this.ended) return;
    this.ended = true;
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    if (this.buffer !== NO_BUFFER) spare.push(this.buffer);
  }
}
