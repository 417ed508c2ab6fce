import type { Readable } from 'node:stream';

/** Bytes of a kept file; `start` and `end` are inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A file that has arrived and is on disk, but belongs to no record yet. */
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
  write(chunk: Uint8Array): Promise<void>;
  /** Everything written is on disk. */
  finish(): Promise<StagedFile>;
  discard(): Promise<void>;
}

/**
 * Where file content lives. A file is staged first, named by a record that commits, then kept: whatever happens in
 * between, `recover` leaves exactly the files that records name.
 */
export interface Files {
  stage(name: string): Promise<Stage>;
  /** Puts a finished staged file (an image variant made from it, too) under its final name. */
  keep(name: string): Promise<void>;
  /** Where a staged or kept file can be read by path. */
  stagedPath(name: string): string;
  size(name: string): Promise<number | undefined>;
  open(name: string, range?: ByteRange): Promise<Readable>;
  remove(name: string): Promise<void>;
  /** Names of staged files left by a process that ended between commit and keep, or before the commit. */
  leftovers(): Promise<string[]>;
  close(): Promise<void>;
}

/** Name of one variant of a document's file: `<guid>-original`. */
export function fileName(guid: string, variant: string): string {
  return `${guid}-${variant}`;
}
