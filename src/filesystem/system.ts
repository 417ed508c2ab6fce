import * as sync from 'node:fs';
import * as files from 'node:fs/promises';
import { uptime } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * What this folder asks of the system, and the system it believes to be on: lint lets nothing else in `src` rename, remove,
 * sync or change rights. A test replaces members to be on another system or a failing disk, and a recorder to see the order.
 */
export const system = {
  platform: process.platform,
  /** Folder of Windows; programs are started by their whole path, since it looks into the current folder first. */
  windowsFolder: process.env.SystemRoot ?? 'C:\\Windows',
  open: files.open,
  lstat: (path: string) => files.lstat(path),
  mkdir: files.mkdir,
  rename: files.rename,
  link: files.link,
  unlink: files.unlink,
  rmdir: files.rmdir,
  rm: files.rm,
  chmod: files.chmod,
  fchmod: (file: files.FileHandle, mode: number) => file.chmod(mode),
  sync: (file: files.FileHandle) => file.sync(),
  datasync: (file: files.FileHandle) => file.datasync(),
  /** Of a bare descriptor. */
  fsync: promisify(sync.fsync),
  openSync: sync.openSync,
  closeSync: sync.closeSync,
  unlinkSync: sync.unlinkSync,
  /** What Linux calls the time since it was started; undefined elsewhere. */
  bootId: (): string | undefined => {
    try {
      return sync.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    } catch {
      return undefined;
    }
  },
  /** When the machine was started, in seconds since 1970 by its clock. */
  bootTime: (): number => Date.now() / 1000 - uptime(),
  /** Waits some milliseconds; rejects when `signal` is aborted. */
  sleep: (milliseconds: number, signal: AbortSignal | undefined): Promise<unknown> =>
    sleep(milliseconds, undefined, { signal }),
  /** Runs a program to its end and answers what it printed; rejects unless it ends with 0. */
  run: async (program: string, args: readonly string[]): Promise<string> => {
    // Only Windows needs it, and loading it takes longer than most of what a command does.
    const { execFile } = await import('node:child_process');
    return (await promisify(execFile)(program, args, { timeout: 10_000, windowsHide: true })).stdout;
  },
};

/** The system error code of a thrown value (`ENOENT`), where it has one. */
export function codeOf(cause: unknown): string | undefined {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** For `catch`: undefined for a file that does not exist; throws any other error again. */
export function ignoreMissing(cause: unknown): undefined {
  if (codeOf(cause) === 'ENOENT') return undefined;
  throw cause;
}
