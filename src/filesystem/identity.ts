import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { whileHeld } from './held.ts';
import { ignoreMissing, system } from './system.ts';

/** Facts that tell a file from every other one. */
export interface Identity {
  readonly ino: number;
  readonly dev: number;
}

/** Whether two facts are of one file; both by name, or both of open files, for Windows may tell other ones by name. */
export function isSameFile(one: Identity | undefined, other: Identity | undefined): boolean {
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev;
}

/** Whether a path, and no link there, still leads to a file that is open. */
export async function isNameOf(path: string, file: FileHandle): Promise<boolean> {
  const named = await system.lstat(path).catch(ignoreMissing);
  if (named === undefined || named.isSymbolicLink()) return false;
  return isSameFile(system.platform === 'win32' ? await factsOf(path) : named, await file.stat());
}

/**
 * The facts of a file as an open one has them. By name Windows may tell others: no volume where libuv is 1.49 or 1.50
 * (Node 22.12 to 22.16, 24.0 and 24.1), and both different where profiles are in containers, as on terminal servers.
 */
async function factsOf(path: string): Promise<Identity | undefined> {
  const file = await whileHeld(path, () => system.open(path, constants.O_RDONLY)).catch(ignoreMissing);
  return file?.stat().finally(() => file.close());
}
