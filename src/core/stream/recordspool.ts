import type { FileHandle } from 'node:fs/promises';
import { openNameless } from '../../filesystem/private.ts';
import { guarded } from '../output/atomicfile.ts';

const BLOCK = 64 * 1024;
const LINE_FEED = 10;

/**
 * Buffers records on the disk, a line each, to be read in order or in reverse: an unlinked file of mode 0600, so
 * nothing is left behind however the process ends. A block of it is in memory. Throws a Failure with exit code 9 when
 * the disk fails.
 */
export class RecordSpool {
  count = 0;
  private size = 0;
  private pending: string[] = [];
  private pendingLength = 0;

  private constructor(
    private readonly file: FileHandle,
    private readonly doing: string,
  ) {}

  /** A spool in a folder. */
  static async open(folder: string): Promise<RecordSpool> {
    const doing = `buffer records in ${folder}`;
    return new RecordSpool(await guarded(doing, () => openNameless(folder)), doing);
  }

  /** Adds a record: text without a line feed. */
  async add(line: string): Promise<void> {
    this.count++;
    this.pending.push(`${line}\n`);
    this.pendingLength += line.length + 1;
    if (this.pendingLength >= BLOCK) await this.write();
  }

  /** Writes what is still in memory; returns the bytes written so far, where the next record begins. */
  async flush(): Promise<number> {
    await this.write();
    return this.size;
  }

  /** The records in order, in batches: all, or those between two positions of `flush`. */
  async *forwards(start = 0, end = Number.POSITIVE_INFINITY): AsyncGenerator<readonly string[]> {
    const stop = Math.min(end, await this.flush());
    let rest = Buffer.alloc(0);
    for (let at = start; at < stop; at += BLOCK) {
      const bytes = Buffer.concat([rest, await this.block(at, Math.min(BLOCK, stop - at))]);
      const complete = bytes.lastIndexOf(LINE_FEED) + 1;
      rest = bytes.subarray(complete);
      if (complete > 0) yield linesOf(bytes.subarray(0, complete));
    }
  }

  /** The records in reverse, in batches. */
  async *backwards(): AsyncGenerator<readonly string[]> {
    await this.write();
    let rest = Buffer.alloc(0);
    for (let end = this.size; end > 0; ) {
      const at = Math.max(0, end - BLOCK);
      const bytes = Buffer.concat([await this.block(at, end - at), rest]);
      // The first line may have begun in an earlier block.
      const start = at === 0 ? 0 : bytes.indexOf(LINE_FEED) + 1;
      rest = bytes.subarray(0, start);
      if (start < bytes.length) yield linesOf(bytes.subarray(start)).reverse();
      end = at;
    }
  }

  /** Frees the disk space; never throws. */
  async close(): Promise<void> {
    await this.file.close().catch(() => undefined);
  }

  private async write(): Promise<void> {
    const bytes = Buffer.from(this.pending.join(''));
    this.pending = [];
    this.pendingLength = 0;
    await guarded(this.doing, () => this.file.appendFile(bytes));
    this.size += bytes.length;
  }

  private async block(at: number, length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await guarded(this.doing, () => this.file.read(bytes, 0, length, at));
    return bytes.subarray(0, bytesRead);
  }
}

/** Lines of bytes that end with a line feed. */
function linesOf(bytes: Buffer): string[] {
  return bytes.toString('utf8').slice(0, -1).split('\n');
}
