import type { Readable } from 'node:stream';
import { Refusal } from '../../catalog/failures.ts';

/** Bytes of a stored file; `start` and `end` are inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A file that was received and is on the local disk, but belongs to no record yet. */
export interface StagedFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  /** SHA-256 of the bytes, hexadecimal. */
  readonly sha256: string;
  /** The first bytes, enough to tell a file type. */
  readonly head: Buffer;
}

/** Receives the bytes of one file. */
export interface Stage {
  /** The chunk is no longer needed once this resolves. */
  write(chunk: Uint8Array): Promise<void>;
  /** Every byte written is on disk when this resolves; that the file exists lasts once it is persisted. */
  finish(): Promise<StagedFile>;
  discard(): Promise<void>;
}

/** A file as `list` returns it. */
export interface StoredFile {
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
}

/**
 * Where file content is stored. A file is staged, persisted, named by a record that commits, then finalized: whatever
 * happens in between, recovery leaves exactly the files that records name. Each method may reject with
 * `FilesUnavailable` when the storage is remote and away; `stage`, `finalize` and `discard` never need it.
 */
export interface Files {
  stage(name: string): Promise<Stage>;
  /**
   * Moves finished staged files to where they survive whatever happens to this machine (on a disk: a power cut) and
   * every server finds them: called before the record commits, so that no server serves a record whose file another
   * lacks. Any that fails fails all.
   */
  persist(names: readonly string[]): Promise<void>;
  /** Ends the staging of a file whose record is committed: it has its final name then. */
  finalize(name: string): Promise<void>;
  /** Ends the staging of a file that no record names; does nothing to a file that is not staged here, or finalized. */
  discard(name: string): Promise<void>;
  size(name: string): Promise<number | undefined>;
  open(name: string, range?: ByteRange): Promise<Readable>;
  remove(name: string): Promise<void>;
  /**
   * Every file with its final name, in no certain order, in constant memory. Where servers share the storage, a young
   * one may belong to a record that is only about to commit.
   */
  list(): AsyncIterable<StoredFile>;
  /** Names of staged files left by a process that ended between commit and finalize, or before the commit. */
  leftovers(): Promise<string[]>;
  close(): Promise<void>;
}

/** Files that are only read. */
export type SourceFiles = Pick<Files, 'size' | 'open'>;

/** The file storage is away, or refuses this server: 503. `code` is the storage's error code, for the log. */
export class FilesUnavailable extends Refusal {
  constructor(
    readonly code: string,
    cause: unknown,
  ) {
    const description = 'The file storage of this server cannot be used now. Try again in a moment.';
    super([{ code: 'server.unavailable', source: null, description }]);
    this.name = 'FilesUnavailable';
    this.cause = cause;
  }
}

/** Name of one variant of a document's file: `<guid>-original`. */
export function fileName(guid: string, variant: string): string {
  return `${guid}-${variant}`;
}

/** Path of a file below a folder or a prefix, the same in both: `3f/3f2a…-original`. */
export function storagePath(name: string): string {
  return `${name.slice(0, 2)}/${name}`;
}

/** The name of the file with this storage path; undefined for what is not ours. */
export function nameOfPath(path: string): string | undefined {
  const name = path.slice(3);
  return /^[^/]{2}\/[^/]+$/.test(path) && storagePath(name) === path ? name : undefined;
}
