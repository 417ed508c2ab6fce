import { mkdtempSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const isWindows = process.platform === 'win32';

/** What tests need of the system, each with what to say of a system that has it not. */
const CAPABILITIES = {
  /** Permissions for owner, group and others. */
  modes: 'files have no permissions for owner, group and others',
  /** On Windows to make them takes a privilege. */
  symlinks: 'no symbolic links can be made',
  /** On Windows and macOS names that differ in case are those of one file. */
  caseSensitive: 'names of files are the same in any case',
  /** On Windows a path through a file is one that does not exist. */
  notAFolder: 'a path through a file is like any that does not exist',
  /** On Windows a file that is open cannot be replaced by another. */
  replaceOpen: 'a file that is open cannot be replaced',
  /** On Windows every signal that another process sends ends a process at once. */
  signals: 'no process can be asked to end',
  /** sh and what comes with it; devices and pipes that have a path. */
  posixShell: 'there is no sh, nor what comes with it',
  /** Linux alone tells which file a descriptor is of. */
  proc: 'there is no /proc',
  /** Linux alone has them, and lets root alone make them. */
  namespaces: 'nothing can have processes and mounts of its own',
} as const;

type Capability = keyof typeof CAPABILITIES;

/** Skips a test where the system that runs it lacks something; in CI only on Windows, else that is a failure. */
export function need(context: { skip(reason: string): never }, ...needed: readonly Capability[]): void {
  const lacking = needed.find((name) => !has[name]);
  if (lacking === undefined) return;
  if (process.env.CI === 'true' && !isWindows) throw new Error(`CI needs a system for these tests: ${lacking}.`);
  context.skip(CAPABILITIES[lacking]);
}

/** Files are tried out, since not the system alone decides what they can be. */
const has: Readonly<Record<Capability, boolean>> = {
  ...tried(),
  notAFolder: !isWindows,
  replaceOpen: !isWindows,
  signals: !isWindows,
  posixShell: !isWindows,
  proc: process.platform === 'linux',
  namespaces: process.platform === 'linux' && process.getuid?.() === 0,
};

/** The permissions that files and folders for their owner alone show: where there are access lists, what Node makes up. */
export const OWNER_ONLY = has.modes ? { file: 0o600, folder: 0o700 } : { file: 0o666, folder: 0o666 };

function tried() {
  const folder = mkdtempSync(join(tmpdir(), 'molar-capabilities-'));
  try {
    const file = join(folder, 'file');
    writeFileSync(file, '', { mode: 0o600 });
    return {
      modes: (statSync(file).mode & 0o777) === 0o600,
      symlinks: canLink(file, join(folder, 'link')),
      caseSensitive: statSync(join(folder, 'FILE'), { throwIfNoEntry: false }) === undefined,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function canLink(target: string, path: string): boolean {
  try {
    symlinkSync(target, path);
    return readlinkSync(path) === target;
  } catch {
    return false;
  }
}
