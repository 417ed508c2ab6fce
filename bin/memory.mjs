// Where tests put their files, as variables for their process.
import { accessSync, constants, statfsSync } from 'node:fs';
import { freemem } from 'node:os';

/** The file system in memory that Linux has for everybody, and the bytes that have to be free in it and in memory. */
const MEMORY = { folder: '/dev/shm', free: 8 * 2 ** 30 };

/**
 * In memory where there is room, since a test that writes waits for the disk, at each commit, for as long as it works;
 * else, or where TMPDIR names a folder, where the system puts such files.
 */
export function temporaryFolder() {
  if (process.platform !== 'linux' || process.env.TMPDIR !== undefined || freemem() < MEMORY.free) return {};
  try {
    accessSync(MEMORY.folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(MEMORY.folder);
    return bavail * bsize < MEMORY.free ? {} : { TMPDIR: MEMORY.folder };
  } catch {
    return {};
  }
}
