import type { LockOwner } from '../lockfile.ts';
import type { HeldMirror, MirrorEngine } from './engine.ts';
import type { DatabasePlace, FilePlace, MirrorPlace } from './place.ts';
import type { MirrorDatabase } from './sql/database.ts';
import { type MirrorContents, readContents } from './sql/reading.ts';
import type { LockStatus } from './status.ts';

/** What `work` reads of a mirror; undefined where there is none. Throws a Failure with exit code 9 for what is no mirror. */
export async function readFrom<T>(
  place: MirrorPlace,
  work: (database: MirrorDatabase) => Promise<T>,
): Promise<T | undefined> {
  return place.kind === 'file' ? (await sqlite()).read(place, work) : (await postgres()).read(place, work);
}

/** What a mirror says of itself; undefined where there is none. Throws as `readFrom`. */
export function readMirror(place: MirrorPlace): Promise<MirrorContents | undefined> {
  return readFrom(place, readContents);
}

/**
 * Keeps other commands from writing to a mirror. Throws a Failure with exit code 9 that names the one which does; the lock of
 * a process that is gone is none.
 */
export async function holdMirror(place: MirrorPlace, command: string, owner: LockOwner): Promise<HeldMirror> {
  if (place.kind === 'file') return (await sqlite()).hold(place, command, owner);
  return (await postgres()).hold(place, command, owner);
}

/** Who is writing to a mirror. */
export async function lockStatus(place: MirrorPlace, owner: LockOwner): Promise<LockStatus | null> {
  return place.kind === 'file' ? (await sqlite()).holder(place, owner) : (await postgres()).holder(place, owner);
}

async function sqlite(): Promise<MirrorEngine<FilePlace>> {
  return (await import('./sqlite/engine.ts')).SQLITE_ENGINE;
}

async function postgres(): Promise<MirrorEngine<DatabasePlace>> {
  return (await import('./postgres/engine.ts')).POSTGRES_ENGINE;
}
