import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, open, rename, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname } from 'node:path';
import { codeOf, Failure, fileFailure, localFailure } from '../../failure.ts';
import { isSure, type Validator } from './contentrange.ts';
import { type PartKey, readNote, removeIfThere, writeNote } from './partnote.ts';

/** A file of this machine: `label` is what messages call it. */
export interface LocalPlace {
  readonly path: string;
  readonly label: string;
}

const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
const CHUNK = 1024 * 1024;

/**
 * A download on its way into `FILE.part` beside FILE, readable by the owner only, with `FILE.part.json` to tell what it
 * is a part of. Another run goes on with it when the server still has the same file; links planted in its place are
 * never followed. Failures have exit code 9.
 */
export class PartFile {
  /** Bytes that are there. */
  size = 0;
  /** What the bytes belong to; undefined while nothing has come, or when another run could not go on with it. */
  validator: Validator | undefined;
  private file: FileHandle | undefined;
  private hash: Hash = createHash('sha256');
  private readonly place: LocalPlace;
  private readonly key: PartKey;

  private constructor(place: LocalPlace, key: PartKey) {
    this.place = place;
    this.key = key;
  }

  /** Takes up what an earlier run left of this very file, if it did; creates nothing yet. */
  static async open(place: LocalPlace, key: PartKey): Promise<PartFile> {
    const part = new PartFile(place, key);
    await part.guarded(() => part.takeUp());
    return part;
  }

  /** Whether the rest can be asked for behind what is there. */
  get canGoOn(): boolean {
    return this.size > 0 && this.validator !== undefined && (isSure(this.validator) || this.key.guid !== null);
  }

  /** Starts with an empty file, as another one than was there: whoever writes to the old one harms nobody. */
  begin(validator: Validator | undefined): Promise<void> {
    return this.guarded(async () => {
      await this.drop();
      this.file = await open(this.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
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

  /** Cuts off what stands behind so many bytes. */
  async keepFirst(size: number): Promise<void> {
    await this.guarded(async () => {
      await this.opened.truncate(size);
      await this.count(size);
    });
  }

  /** SHA-256 of what is there, in hex. */
  sha256(): string {
    return this.hash.copy().digest('hex');
  }

  /** Another hash of what is there, in hex. */
  digest(algorithm: string): Promise<string> {
    return this.guarded(async () => (await this.hashed(algorithm, this.size)).digest('hex'));
  }

  /** Flushes the file to the disk and gives it its name; with `overwrite` in place of what has it. */
  publish(overwrite: boolean): Promise<void> {
    return this.guarded(async () => {
      await this.opened.sync();
      const [mine, there] = [await this.opened.stat(), await stat(this.path).catch(() => undefined)];
      if (there === undefined || there.ino !== mine.ino || there.dev !== mine.dev)
        throw new Error(`${this.place.label}.part was replaced by another program`);
      await this.opened.close();
      this.file = undefined;
      try {
        await removeIfThere(this.notePath);
        await (overwrite ? rename(this.path, this.place.path) : this.rename());
      } catch (cause) {
        await this.drop();
        throw cause;
      }
      await flushFolder(dirname(this.place.path));
    });
  }

  /** Lets go of the file; what another run cannot go on with is removed. Never throws. */
  async close(): Promise<void> {
    if (this.file === undefined) return;
    if (!this.canGoOn) return this.drop().catch(() => undefined);
    await this.opened.close().catch(() => undefined);
    this.file = undefined;
  }

  private get path(): string {
    return `${this.place.path}.part`;
  }

  private get notePath(): string {
    return `${this.path}.json`;
  }

  private get opened(): FileHandle {
    if (this.file === undefined) throw new Error(`${this.place.label}.part is not open`);
    return this.file;
  }

  private async takeUp(): Promise<void> {
    const note = await readNote(this.notePath, this.key);
    if (note === undefined) return;
    const file = await open(this.path, O_RDWR | O_NOFOLLOW).catch(() => undefined);
    if (file === undefined) return;
    this.file = file;
    const facts = await file.stat();
    if (!isOwn(facts) || facts.size === 0 || facts.size > note.validator.total) return this.drop();
    this.validator = note.validator;
    await this.count(facts.size);
  }

  /** A second name for the file fails where there is one, which a rename would not. */
  private async rename(): Promise<void> {
    const { path } = this.place;
    try {
      await link(this.path, path);
    } catch (cause) {
      if (codeOf(cause) === 'EEXIST') throw existing(this.place);
      if (!WITHOUT_LINKS.includes(codeOf(cause) ?? '')) throw cause;
      if ((await lstat(path).catch(() => undefined)) !== undefined) throw existing(this.place);
      return rename(this.path, path);
    }
    await removeIfThere(this.path);
  }

  private async drop(): Promise<void> {
    await this.file?.close();
    this.file = undefined;
    this.validator = undefined;
    this.size = 0;
    this.hash = createHash('sha256');
    await removeIfThere(this.notePath);
    await removeIfThere(this.path);
  }

  private async count(size: number): Promise<void> {
    this.hash = await this.hashed('sha256', size);
    this.size = size;
  }

  private async hashed(algorithm: string, size: number): Promise<Hash> {
    const hash = createHash(algorithm);
    const buffer = Buffer.alloc(Math.min(CHUNK, size));
    for (let at = 0; at < size; ) {
      const { bytesRead } = await this.opened.read(buffer, 0, Math.min(CHUNK, size - at), at);
      if (bytesRead === 0) throw new Error(`${this.place.label}.part became shorter`);
      hash.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    return hash;
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw cause instanceof Failure ? cause : fileFailure(`write ${this.place.label}`, cause);
    }
  }
}

/** Codes of file systems that give a file one name only. */
const WITHOUT_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES'];

/** The failure of a file that exists and is not to be replaced, exit 9. */
export function existing({ label }: LocalPlace): Failure {
  return localFailure('local.file', `${label} exists already.`, {
    source: label,
    hint: 'Replace it with --overwrite, or name another place with --out or --dir.',
  });
}

/** A part that others can read, or that has another name too, was not left by an earlier run. */
function isOwn(facts: { isFile(): boolean; readonly nlink: number; readonly mode: number }): boolean {
  return facts.isFile() && facts.nlink === 1 && ((facts.mode & 0o077) === 0 || platform() === 'win32');
}

/** Makes the name itself durable, where the system can flush folders. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, O_RDONLY).catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
