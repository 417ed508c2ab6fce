import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join, resolve, win32 } from 'node:path';
import { removeFile, syncFolder } from './durable.ts';
import { tell } from './held.ts';
import { codeOf, system } from './system.ts';

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
const NEW = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;

/** Whether something belongs to whoever runs molar, root included; always so where files have no owner (Windows). */
export function isOurs({ uid }: { readonly uid: number }): boolean {
  return process.geteuid === undefined || uid === process.geteuid();
}

/** Whether modes tell who may use a file; on Windows access lists do, which are not read. */
export function hasModes(): boolean {
  return system.platform !== 'win32';
}

/** Whether others may do what the bits of a mode say: anything unless named. False where modes tell nothing. */
export function isOpenToOthers({ mode }: { readonly mode: number }, bits = 0o077): boolean {
  return hasModes() && (mode & bits) !== 0;
}

/**
 * Makes a folder for its user alone, with those above it that are missing; one that is there keeps its rights. What is made
 * lasts: a power cut would take a folder that is not in its own folder yet with everything that was synced inside.
 */
export async function makePrivateFolder(path: string): Promise<boolean> {
  const told = await system.mkdir(path, { recursive: true, mode: 0o700 });
  if (told === undefined) return false;
  const first = resolve(withoutPrefix(told));
  // One of that name may have been removed since it was closed.
  closed.delete(first);
  await restrict(first, 'folder');
  const top = dirname(first);
  for (let made = resolve(withoutPrefix(path)); made.length > top.length; made = dirname(made))
    await syncFolder(dirname(made));
  return true;
}

/** A path as people write it: on Windows, Node tells the first folder that it made as `\\?\C:\…` or `\\?\UNC\…`. */
function withoutPrefix(path: string): string {
  return path.replace(/^\\\\\?\\(UNC(?=\\))?/, (_, unc) => (unc === undefined ? '' : '\\'));
}

/** Takes the rights of others to a folder of ours away. */
export async function closeFolder(path: string): Promise<void> {
  if (hasModes()) await system.chmod(path, 0o700);
  else await restrict(path, 'folder');
}

/** Takes the rights of others to a file of ours away; of the one that is open, where its name may lead elsewhere by now. */
export async function closeFile(path: string, file?: FileHandle): Promise<void> {
  if (!hasModes()) await restrict(path, 'file');
  else await (file === undefined ? system.chmod(path, 0o600) : system.fchmod(file, 0o600));
}

/** Makes a file that must not exist yet, for its user alone; `flags` besides. Throws `EEXIST`. */
export async function createPrivate(path: string, flags = 0): Promise<FileHandle> {
  const file = await system.open(path, NEW | flags, 0o600);
  await restrict(path, 'file');
  return file;
}

/** A new private file in place of whatever is there; a link is removed, not followed. */
export async function replacePrivate(path: string): Promise<FileHandle> {
  // Removing a link removes the link itself. What a second molar plants between these calls makes the open fail.
  await removeFile(path);
  return createPrivate(path);
}

/** A new private file in a folder whose name is gone before anything is in it: nothing is left however the process ends. */
export async function openNameless(folder: string): Promise<FileHandle> {
  // No secret: where something has the name already, making the file fails. node:crypto would take 7 ms to load.
  const path = join(folder, `molar-${process.pid}-${Math.random().toString(36).slice(2)}`);
  // Nor does it need an access list: it has no name by which somebody else could open it.
  const file = await system.open(path, NEW, 0o600);
  try {
    await removeFile(path);
    return file;
  } catch (cause) {
    await file.close();
    throw cause;
  }
}

/** Folders that were closed by this process: on Windows what is made inside inherits that. */
const closed = new Set<string>();

function inherits(path: string): boolean {
  const folder = dirname(path);
  return closed.has(folder) || (folder !== path && inherits(folder));
}

/** The security identifier of the user, asked for once. */
let user: Promise<string> | undefined;
let isWarned = false;

/** On Windows, lets nobody but the user use a file or folder that was just made. Says once where that fails. */
async function restrict(named: string, what: 'file' | 'folder'): Promise<void> {
  const path = resolve(withoutPrefix(named));
  if (hasModes() || closed.has(path) || inherits(path)) return;
  try {
    user ??= readUser();
    const rights = what === 'folder' ? '(OI)(CI)F' : 'F';
    await system.run(program('icacls'), [path, '/inheritance:r', '/grant:r', `*${await user}:${rights}`]);
    if (what === 'folder') closed.add(path);
  } catch (cause) {
    if (isWarned) return;
    isWarned = true;
    tell(`Others on this computer may be able to read ${path} and what else is written: ${reasonOf(cause)}.`);
  }
}

/** By its identifier: a name may be that of a local account and of another one in the domain. */
async function readUser(): Promise<string> {
  const text = await system.run(program('whoami'), ['/user', '/fo', 'csv', '/nh']);
  const id = /\b(S-1-[\d-]+)"?\s*$/.exec(text)?.[1];
  if (id === undefined) throw new Error('whoami tells no identifier of the user');
  return id;
}

function program(name: string): string {
  return win32.join(system.windowsFolder, 'System32', `${name}.exe`);
}

function reasonOf(cause: unknown): string {
  const code = codeOf(cause);
  return `its access list could not be set (${code ?? (cause instanceof Error ? cause.message : String(cause))})`;
}
