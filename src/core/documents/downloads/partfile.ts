import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { linkFile, moveFile, removeFile, syncFolder } from '../../../filesystem/durable.ts';
import { isOpenToOthers, replacePrivate } from '../../../filesystem/private.ts';
import { codeOf } from '../../failure.ts';
import { guarded, seal } from '../../output/atomicfile.ts';
import { openOwnFile } from '../../output/ownfile.ts';
import { fileExists, type LabelledPath } from './localfile.ts';
import { type PartKey, readNote, type Validator, writeNote } from './partnote.ts';

const CHUNK = 1024 * 1024;

/**
 * A download in progress: `FILE.part` beside FILE, readable by the owner only, with `FILE.part.json` to say what it is a
 * part of. Another run of the same user resumes it when the server still has the same file; links planted in its
 * place are never followed. Failures have exit code 9.
 */
export class PartFile {
  /** Bytes that were received. */
  size = 0;
  /** What the bytes belong to; undefined while nothing has arrived, or when another run could not resume. */
  validator: Validator | undefined;
  private file: FileHandle | undefined;
  private hash: Hash = createHash('sha256');

  private constructor(
    private readonly target: LabelledPath,
    private readonly key: PartKey,
  ) {}

  /** Opens what an earlier run left of this very file, if it did; creates nothing yet. */
  static async open(target: LabelledPath, key: PartKey): Promise<PartFile> {
    const part = new PartFile(target, key);
    await part.guarded(() => part.restore());
    return part;
  }

  /** Whether the rest can be requested: HTTP itself, or the document, tells a changed file from this one. */
  get canResume(): boolean {
    if (this.size === 0 || this.validator === undefined) return false;
    const { etag, lastModified } = this.validator;
    return (etag !== null && isStrong(etag)) || lastModified !== null || this.key.guid !== null;
  }

  /** Starts with an empty file, another one than before: whoever still writes to the old one does no harm. */
  begin(validator: Validator | undefined): Promise<void> {
    return this.guarded(async () => {
      await this.drop();
      this.file = await replacePrivate(this.path);
      this.validator = validator;
      if (validator !== undefined) await writeNote(this.notePath, this.key, validator);
    });
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.guarded(async () => {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.opened.write(bytes, done, bytes.length - done, this.size + done);
        done += bytesWritten;
      }
    });
    this.hash.update(bytes);
    this.size += bytes.length;
  }

  async truncate(size: number): Promise<void> {
    await this.guarded(async () => {
      await this.opened.truncate(size);
      await this.rehash(size);
    });
  }

  /** SHA-256 of the bytes received, in hex. */
  sha256(): string {
    return this.hash.copy().digest('hex');
  }

  /** Another hash of the bytes received, in hex. */
  digest(algorithm: string): Promise<string> {
    return this.guarded(async () => (await this.hashed(algorithm, this.size)).digest('hex'));
  }

  /** Flushes the file to the disk and gives it its name; with `overwrite` in place of what has it. */
  publish(overwrite: boolean): Promise<void> {
    return this.guarded(async () => {
      await seal(this.opened, this.path, this.label);
      await this.opened.close();
      this.file = undefined;
      try {
        await removeFile(this.notePath);
        await (overwrite ? moveFile(this.path, this.target.path) : this.rename());
      } catch (cause) {
        await this.drop();
        throw cause;
      }
      await syncFolder(dirname(this.target.path));
    });
  }

  /** Closes the file; one that another run cannot resume is removed. Never throws. */
  async close(): Promise<void> {
    if (this.file === undefined) return;
    if (!this.canResume) return this.drop().catch(() => undefined);
    await this.opened.close().catch(() => undefined);
    this.file = undefined;
  }

  private get path(): string {
    return `${this.target.path}.part`;
  }

  private get label(): string {
    return `${this.target.label}.part`;
  }

  private get notePath(): string {
    return `${this.path}.json`;
  }

  private get opened(): FileHandle {
    if (this.file === undefined) throw new Error(`${this.label} is not open`);
    return this.file;
  }

  private async restore(): Promise<void> {
    const note = await readNote(this.notePath, this.key);
    if (note === undefined) return;
    const file = await openOwnFile(this.path, constants.O_RDWR).catch(() => undefined);
    if (!file) return;
    this.file = file;
    const facts = await file.stat();
    // A part that others can read was not left by an earlier run.
    if (isOpenToOthers(facts) || facts.size === 0 || facts.size > note.validator.total) return this.drop();
    this.validator = note.validator;
    await this.rehash(facts.size);
  }

  /** A second name for the file fails where there is one, which a rename would not. */
  private async rename(): Promise<void> {
    const { path } = this.target;
    try {
      await linkFile(this.path, path);
    } catch (cause) {
      if (codeOf(cause) === 'EEXIST') throw fileExists(this.target);
      if (!NO_HARD_LINKS.includes(codeOf(cause) ?? '')) throw cause;
      if ((await lstat(path).catch(() => undefined)) !== undefined) throw fileExists(this.target);
      return moveFile(this.path, path);
    }
    await removeFile(this.path);
  }

  private async drop(): Promise<void> {
    await this.file?.close();
    this.file = undefined;
    this.validator = undefined;
    this.size = 0;
    this.hash = createHash('sha256');
    await removeFile(this.notePath);
    await removeFile(this.path);
  }

  private async rehash(size: number): Promise<void> {
    this.hash = await this.hashed('sha256', size);
    this.size = size;
  }

  private async hashed(algorithm: string, size: number): Promise<Hash> {
    const hash = createHash(algorithm);
    const buffer = Buffer.alloc(Math.min(CHUNK, size));
    for (let at = 0; at < size; ) {
      const { bytesRead } = await this.opened.read(buffer, 0, Math.min(CHUNK, size - at), at);
      if (bytesRead === 0) throw new Error(`${this.label} became shorter`);
      hash.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    return hash;
  }

  private guarded<T>(work: () => Promise<T>): Promise<T> {
    return guarded(`write ${this.target.label}`, work);
  }
}

/** Whether an entity tag is a strong one, which `If-Range` takes (RFC 9110, 13.1.5). */
export function isStrong(etag: string): boolean {
  return /^"[^"]*"$/.test(etag);
}

/** Codes of file systems that give a file one name only. */
const NO_HARD_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES'];
