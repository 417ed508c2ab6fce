import type { Readable } from 'node:stream';

/** Bytes of a kept file; `start` and `end` are inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A file that has arrived and is on the local disk, but belongs to no record yet. */
export interface StagedFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  /** SHA-256 of the bytes, hexadecimal. */
  readonly sha256: string;
  /** The first bytes, enough to tell a file type. */
  readonly head: Buffer;
}

/** Takes the bytes of one file. */
export interface Stage {
  /** The chunk is no longer needed once this resolves. */
  write(chunk: Uint8Array): Promise<void>;
  /** Every byte written is on disk; that the file is there lasts once it is secured. */
  finish(): Promise<StagedFile>;
  discard(): Promise<void>;
}

/** A file as `list` tells of it. */
export interface KeptFile {
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
}

/**
 * Where file content lives. A file is staged, secured, named by a record that commits, then kept: whatever happens in
 * between, recovery leaves exactly the files that records name. Each method may reject with `FilesUnavailable` when
 * the storage is elsewhere and away; `stage`, `keep` and `discard` never need it.
 */
export interface Files {
  stage(name: string): Promise<Stage>;
  /**
   * Brings finished staged files to where they outlive what may happen to this machine (on a disk: a power cut) and every
   * server finds them: called before the record commits, so that no server answers for a file that another lacks. Any that fails fails all.
   */
  secure(names: readonly string[]): Promise<void>;
  /** Ends the staging of a file whose record is committed: it stands under its final name. */
  keep(name: string): Promise<void>;
  /** Ends the staging of a file that no record names; does nothing to a file that is not staged here, or kept. */
  discard(name: string): Promise<void>;
  size(name: string): Promise<number | undefined>;
  open(name: string, range?: ByteRange): Promise<Readable>;
  remove(name: string): Promise<void>;
  /**
   * Every file that stands under its final name, in no certain order, in constant memory. Where servers share the
   * storage, a young one may belong to a record that is only about to commit.
   */
  list(): AsyncIterable<KeptFile>;
  /** Names of staged files left by a process that ended between commit and keep, or before the commit. */
  leftovers(): Promise<string[]>;
  close(): Promise<void>;
}

/** Name of one variant of a document's file: `<guid>-original`. */
export function fileName(guid: string, variant: string): string {
  return `${guid}-${variant}`;
}

/** Where a file is kept below a folder or a prefix, the same in both: `3f/3f2a…-original`. */
export function placeOf(name: string): string {
  return `${name.slice(0, 2)}/${name}`;
}

/** The name of the file that is kept at a place; undefined for what is not ours. */
export function nameAt(place: string): string | undefined {
  const name = place.slice(3);
  return /^[^/]{2}\/[^/]+$/.test(place) && placeOf(name) === place ? name : undefined;
}
