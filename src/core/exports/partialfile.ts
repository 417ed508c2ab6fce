import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../failure.ts';
import { createPart, discard, guarded, publish, replaceable } from '../output/atomicfile.ts';

const CHUNK = 256 * 1024;

/** How much of a part counts. */
export interface PartMark {
  readonly bytes: number;
  /** Of these bytes, in hexadecimal. */
  readonly sha256: string;
}

/**
 * `FILE.part`: takes what will be FILE, knows how much it holds and the hash of it, and stays when a run ends early.
 * All methods throw a Failure with exit code 9 when the disk fails.
 */
export class KeptPart {
  /** The part itself, beside the file that symbolic links lead to. */
  readonly path: string;
  private readonly target: string;
  private readonly doing: string;
  private readonly file: FileHandle;
  private readonly hash: Hash;
  private bytes: number;

  private constructor(target: string, doing: string, file: FileHandle, hash: Hash, bytes: number) {
    this.target = target;
    this.path = partPath(target);
    this.doing = doing;
    this.file = file;
    this.hash = hash;
    this.bytes = bytes;
  }

  /** An empty part for a target of `targetOf`, in place of an older one. */
  static async create(target: string): Promise<KeptPart> {
    const doing = `write ${target}`;
    const file = await guarded(doing, () => createPart(partPath(target)));
    return new KeptPart(target, doing, file, createHash('sha256'), 0);
  }

  /** The part as an earlier run left it, what stands behind the mark cut off; undefined when it is not what was marked. */
  static async reopen(target: string, mark: PartMark): Promise<KeptPart | undefined> {
    const doing = `go on with ${partPath(target)}`;
    const file = await guarded(doing, () => openExisting(partPath(target)));
    if (file === undefined) return undefined;
    const hash = createHash('sha256');
    let part: KeptPart | undefined;
    try {
      const found = await guarded(doing, () => hashStart(file, mark.bytes, hash));
      if (!found || hash.copy().digest('hex') !== mark.sha256) return undefined;
      await guarded(doing, () => file.truncate(mark.bytes));
      part = new KeptPart(target, doing, file, hash, mark.bytes);
      return part;
    } finally {
      if (part === undefined) await file.close();
    }
  }

  async write(data: string | Uint8Array): Promise<void> {
    const chunk = typeof data === 'string' ? Buffer.from(data) : data;
    let written = 0;
    await guarded(this.doing, async () => {
      while (written < chunk.byteLength) {
        const { bytesWritten } = await this.file.write(
          chunk,
          written,
          chunk.byteLength - written,
          this.bytes + written,
        );
        written += bytesWritten;
      }
    });
    this.hash.update(chunk);
    this.bytes += chunk.byteLength;
  }

  /** What has been written so far. */
  mark(): PartMark {
    return { bytes: this.bytes, sha256: this.hash.copy().digest('hex') };
  }

  /** Makes what has been written outlast a failure of the machine. */
  async flush(): Promise<void> {
    await guarded(this.doing, () => this.file.datasync());
  }

  /** Puts the part in the place of the file. */
  async publish(): Promise<void> {
    // A write that failed half way may have left bytes behind those that count.
    await guarded(this.doing, () => this.file.truncate(this.bytes));
    await guarded(this.doing, () => publish(this.file, this.path, this.target));
  }

  /** Leaves the part for a later run; never throws. */
  async keep(): Promise<void> {
    await this.file.close().catch(() => undefined);
  }

  /** Removes the part; never throws. */
  async remove(): Promise<void> {
    await discard(this.file, this.path);
  }
}

/**
 * The file that is to be replaced: the one behind symbolic links. Throws a Failure with exit code 9, also when its
 * folder is missing or takes no files.
 */
export function targetOf(path: string): Promise<string> {
  return guarded(`write ${path}`, async () => {
    const target = await replaceable(path);
    await access(dirname(target), constants.W_OK | constants.X_OK);
    return target;
  });
}

export function partPath(target: string): string {
  return `${target}.part`;
}

/** Undefined where there is none, or where something stands that molar did not leave: a link, or the file of another. */
async function openExisting(part: string): Promise<FileHandle | undefined> {
  const { O_RDWR, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let file: FileHandle | undefined;
  try {
    file = await open(part, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile() || found.nlink > 1) throw new Planted();
    // Only the owner of a file may set its mode: what another could read back is not gone on with.
    await file.chmod(0o600);
    return file;
  } catch (cause) {
    await file?.close();
    if (
      cause instanceof Planted ||
      ['ENOENT', 'ELOOP', 'EMLINK', 'EPERM', 'EACCES', 'ENXIO'].includes(codeOf(cause) ?? '')
    )
      return undefined;
    throw cause;
  }
}

class Planted extends Error {}

/** Hashes the first bytes of a file; false when it has fewer. */
async function hashStart(file: FileHandle, length: number, hash: Hash): Promise<boolean> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  for (let position = 0; position < length; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK, length - position), position);
    if (bytesRead === 0) return false;
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  return true;
}
