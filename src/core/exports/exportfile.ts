import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFile } from '../../filesystem/durable.ts';
import { closeFile, replacePrivate } from '../../filesystem/private.ts';
import { usageFailure } from '../failure.ts';
import { discard, guarded, publish } from '../output/atomicfile.ts';
import { openOwnFile, replaceable } from '../output/ownfile.ts';
import type { Sink } from '../output/sink.ts';
import {
  differences,
  type ExportIdentity,
  type Journal,
  journalPath,
  type PartMark,
  readJournal,
  removeJournal,
  writeJournal,
} from './journal.ts';

/** What an open part is made of. */
interface OpenPart {
  readonly handle: FileHandle;
  readonly hash: Hash;
  readonly bytes: number;
}

/**
 * The file of an export while it is written: `FILE.part`, its journal, and the hash of what it holds. All methods throw
 * a Failure with exit code 9 when the disk fails.
 */
export class ExportFile {
  /** What an earlier run left, when this one resumes it. */
  readonly earlier: Journal | undefined;
  /** Why it starts over although another run had begun, where that is so. */
  readonly restart: string | undefined;
  private readonly handle: FileHandle;
  private readonly hash: Hash;
  private bytes: number;
  /** The part up to the last complete page: what a later run can resume. */
  private settled: PartMark;

  private constructor(
    private readonly target: string,
    { handle, hash, bytes }: OpenPart,
    earlier?: Journal,
    restart?: string,
  ) {
    this.handle = handle;
    this.hash = hash;
    this.bytes = bytes;
    this.earlier = earlier;
    this.restart = restart;
    this.settled = this.mark();
  }

  /** Starts over with an empty part; whatever an earlier run left is gone. */
  static async begin(target: string, restart?: string): Promise<ExportFile> {
    await removeJournal(partPath(target));
    const handle = await guarded(`write ${target}`, () => replacePrivate(partPath(target)));
    return new ExportFile(target, { handle, hash: createHash('sha256'), bytes: 0 }, undefined, restart);
  }

  /**
   * Resumes what an earlier run of the same export left, or begins where there is nothing, or nothing that can be
   * trusted: a job that always resumes must not fail until a person intervenes. `now`: the filter to be sent, and the
   * columns. Throws a Failure with exit code 2 that names every difference when it was another export.
   */
  static async resume(
    target: string,
    identity: ExportIdentity,
    now: Pick<Journal, 'sentFilter' | 'columns'>,
  ): Promise<ExportFile> {
    const journal = await checkResume(target, identity);
    if (journal === undefined) return ExportFile.begin(target);
    if (journal === null) return ExportFile.begin(target, 'its journal cannot be read');
    if (journal.sentFilter !== now.sentFilter) return ExportFile.begin(target, 'its bookmark has changed since');
    if (journal.columns !== now.columns) return ExportFile.begin(target, 'its columns have changed with molar');
    const part = await reopen(target, journal);
    if (part !== undefined) return new ExportFile(target, part, journal);
    return ExportFile.begin(target, journal.bytes === 0 ? undefined : 'its part is not as it was left');
  }

  get hasBegun(): boolean {
    return this.bytes > 0;
  }

  /** What has been written so far. */
  mark(): PartMark {
    return { bytes: this.bytes, sha256: this.hash.copy().digest('hex') };
  }

  /** Where formatted text goes; neither `commit` nor `abort` of it ends this file. */
  sink(wrap: (inner: Sink) => Sink): Sink {
    const nothing = () => Promise.resolve();
    return wrap({ write: (data) => this.write(data), commit: nothing, abort: nothing });
  }

  private async write(data: string | Uint8Array): Promise<void> {
    const chunk = typeof data === 'string' ? Buffer.from(data) : data;
    const { byteLength } = chunk;
    let written = 0;
    await guarded(`write ${this.target}`, async () => {
      while (written < byteLength) {
        const { bytesWritten } = await this.handle.write(chunk, written, byteLength - written, this.bytes + written);
        written += bytesWritten;
      }
    });
    this.hash.update(chunk);
    this.bytes += byteLength;
  }

  /** A page is complete: what the part holds now can be resumed. */
  settle(): void {
    this.settled = this.mark();
  }

  /** Writes the journal, after the part itself is safe on the disk. */
  async checkpoint(journal: Omit<Journal, keyof PartMark>): Promise<void> {
    await guarded(`write ${this.target}`, () => syncFile(this.handle, 'data'));
    await writeJournal(partPath(this.target), { ...journal, ...this.settled });
  }

  /** Renames the part to the file, and removes the journal. */
  async publish(): Promise<void> {
    const part = partPath(this.target);
    await guarded(`write ${this.target}`, async () => {
      await publish(this.handle, part, this.target);
      await this.handle.close();
    });
    await removeJournal(part);
  }

  /** Ends without the file: part and journal stay for `--resume`, or are removed. Never throws. */
  async leave(journal: Omit<Journal, keyof PartMark> | undefined): Promise<void> {
    if (journal === undefined) {
      await discard(this.handle, partPath(this.target));
      await removeJournal(partPath(this.target)).catch(() => undefined);
      return;
    }
    // On a full disk the journal of the last checkpoint stays.
    await this.checkpoint(journal).catch(() => undefined);
    await this.handle.close().catch(() => undefined);
  }
}

/**
 * The journal that an earlier run left for a target of `targetOf`: undefined for none, null for one that makes no sense.
 * Throws a Failure with exit code 2 that names every difference when it was another export.
 */
export async function checkResume(target: string, identity: ExportIdentity): Promise<Journal | null | undefined> {
  const journal = await readJournal(partPath(target));
  const different = journal ? differences(journal, identity) : [];
  if (different.length === 0) return journal;
  throw usageFailure(`${journalPath(partPath(target))} is of another export: ${different.join('; ')}.`, {
    source: '--resume',
    hint: 'Run it as it was run then, or without --resume to start over.',
  });
}

/**
 * The file that is to be replaced: the one behind symbolic links of our own. Throws a Failure with exit code 9, also when its
 * folder is missing or takes no files.
 */
export function targetOf(path: string): Promise<string> {
  return guarded(`write ${path}`, async () => {
    const target = await replaceable(path);
    await access(dirname(target), constants.W_OK | constants.X_OK);
    return target;
  });
}

/** Path of the part of a target. */
export function partPath(target: string): string {
  return `${target}.part`;
}

/** The part as an earlier run left it, what is behind the mark cut off; undefined when it is not what was marked. */
async function reopen(target: string, { bytes, sha256 }: PartMark): Promise<OpenPart | undefined> {
  const path = partPath(target);
  return guarded(`resume ${path}`, async () => {
    const handle = await openOwnFile(path, constants.O_RDWR);
    const hash = createHash('sha256');
    let part: OpenPart | undefined;
    try {
      // A part that others may read is closed to them; where that cannot be, it is not resumed.
      const isClosed =
        handle &&
        (await closeFile(path, handle).then(
          () => true,
          () => false,
        ));
      if (!isClosed || !(await hashStart(handle, bytes, hash))) return undefined;
      if (hash.copy().digest('hex') !== sha256) return undefined;
      await handle.truncate(bytes);
      part = { handle, hash, bytes };
      return part;
    } finally {
      if (part === undefined) await handle?.close();
    }
  });
}

const CHUNK = 256 * 1024;

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
