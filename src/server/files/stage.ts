import { createHash, type Hash, hash } from 'node:crypto';
import { closeSync, fsync, open, write } from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Stage, StagedFile } from './files.ts';

/** With bare descriptors: a FileHandle for every document takes its time. */
const [openFile, writeSome] = [promisify(open), promisify(write)];

/** Brings what was written through a descriptor to the disk. */
export const syncFile = promisify(fsync);

const HEAD_BYTES = 64;

/** Bytes gathered before they are written: most documents are then written at once. */
const GATHERED_BYTES = 256 * 1024;
/** Documents that gather at the same time. Those beyond write each piece as it comes, so that many take little memory. */
const MOST_GATHERING = 16;
/** Memory for gathering that is free, and how much there is in all: fresh memory costs more than to copy into it. */
const spare: Buffer[] = [];
let made = 0;

function takeMemory(): Buffer {
  const memory = spare.pop();
  if (memory !== undefined) return memory;
  if (made === MOST_GATHERING) return NONE;
  made++;
  return Buffer.allocUnsafeSlow(GATHERED_BYTES);
}

const NONE = Buffer.alloc(0);

/** A file on the local disk while its bytes arrive, at most 256 KiB of them in memory. */
export class DiskStage implements Stage {
  private readonly name: string;
  private readonly path: string;
  /** Of what was written before the end; a document that is gathered whole is hashed at once. */
  private sum: Hash | undefined;
  private readonly head = Buffer.alloc(HEAD_BYTES);
  private readonly gathered = takeMemory();
  private waiting = 0;
  private size = 0;
  private descriptor: number | undefined;
  private ended = false;

  constructor(name: string, path: string) {
    this.name = name;
    this.path = path;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.size < HEAD_BYTES) this.head.set(chunk.subarray(0, HEAD_BYTES - this.size), this.size);
    this.size += chunk.length;
    if (this.waiting + chunk.length > this.gathered.length) await this.flush();
    if (chunk.length > this.gathered.length) return this.writePart(chunk);
    this.gathered.set(chunk, this.waiting);
    this.waiting += chunk.length;
  }

  async finish(): Promise<StagedFile> {
    const rest = this.gathered.subarray(0, this.waiting);
    const sha256 = this.sum?.update(rest).digest('hex') ?? hash('sha256', rest, 'hex');
    await this.writeAll(rest);
    await syncFile(await this.opened());
    this.end();
    const { name, path, size } = this;
    return { name, path, size, sha256, head: this.head.subarray(0, size) };
  }

  async discard(): Promise<void> {
    this.end();
    await rm(this.path, { force: true });
  }

  private async flush(): Promise<void> {
    const { waiting } = this;
    this.waiting = 0;
    if (waiting > 0) await this.writePart(this.gathered.subarray(0, waiting));
  }

  private async writePart(bytes: Uint8Array): Promise<void> {
    this.sum ??= createHash('sha256');
    this.sum.update(bytes);
    await this.writeAll(bytes);
  }

  private async writeAll(bytes: Uint8Array): Promise<void> {
    const descriptor = await this.opened();
    for (let done = 0; done < bytes.length; )
      done += (await writeSome(descriptor, bytes, done, bytes.length - done)).bytesWritten;
  }

  private async opened(): Promise<number> {
    this.descriptor ??= await openFile(this.path, 'wx', 0o600);
    return this.descriptor;
  }

  /** Nothing is written any more: lets go of the file and of the memory. */
  private end(): void {
    if (this.ended) return;
    this.ended = true;
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    if (this.gathered !== NONE) spare.push(this.gathered);
  }
}
