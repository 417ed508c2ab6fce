import type { LockOwner, Release } from '../lockfile.ts';
import type { MirrorDatabase } from './sql/database.ts';
import type { MirrorOptions } from './sql/preparing.ts';
import type { MirrorContents } from './sql/reading.ts';
import type { SqlMirror } from './sql/sqlmirror.ts';
import type { LockStatus } from './status.ts';
import type { MirrorFacts } from './store.ts';

/** A mirror that no other command writes to until it is released. */
export interface HeldMirror {
  /** What it says of itself; undefined where there is none. */
  read(): Promise<MirrorContents | undefined>;
  /** Opens it to write, and makes it where there is none. */
  open(facts: MirrorFacts, options: MirrorOptions): Promise<SqlMirror>;
  remove(): Promise<void>;
  readonly release: Release;
}

/** How mirrors of one kind of database are reached. Everything throws Failures. */
export interface MirrorEngine<Place> {
  /** What `work` reads of a mirror; undefined where there is none. */
  readonly read: <T>(place: Place, work: (database: MirrorDatabase) => Promise<T>) => Promise<T | undefined>;
  readonly hold: (place: Place, command: string, owner: LockOwner) => Promise<HeldMirror>;
  readonly holder: (place: Place, owner: LockOwner) => Promise<LockStatus | null>;
}
