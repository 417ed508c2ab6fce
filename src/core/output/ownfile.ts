import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import * as system from 'node:process';
import { isOurs, makePrivateFolder } from '../../filesystem/private.ts';
import { codeOf, ignoreMissing } from '../../filesystem/system.ts';

/*
 * Others may write to the folder that a user names, and may have put there beforehand what molar is going to write:
 * links, pipes, files of their own that they can read later. This is how molar tells them from what it left itself.
 */

const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Symbolic links of one path before it counts as a circle. */
const MAX_LINKS = 40;

/** Root's own links lead to `/tmp` and the like; who can make them can do anything else, too. */
const ROOT = 0;

/**
 * The absolute path of a file that may be made or replaced, without the symbolic links on the way (contract §5): links
 * to folders may be root's, the last one only our own. Throws for links of other users, and for what is no regular file.
 */
export async function replaceable(path: string): Promise<string> {
  let target = resolve(path);
  for (let links = 0; links <= MAX_LINKS; links++) {
    target = await inOwnFolder(target);
    const found = await lstat(target).catch(ignoreMissing);
    if (found === undefined || found.isFile()) return target;
    if (!found.isSymbolicLink()) throw new Error(found.isDirectory() ? 'it is a folder' : 'it is not a regular file');
    if (!isOurs(found)) throw new Error('it is a symbolic link of another user');
    target = resolve(dirname(target), await readlink(target));
  }
  throw new Error('too many symbolic links');
}

/** The path in a folder without links; the last name of it stays as it is. Throws as `withoutLinks` does. */
export async function inOwnFolder(path: string): Promise<string> {
  return join(await withoutLinks(dirname(path)), basename(path));
}

/** The absolute path without symbolic links, whether or not it exists. Throws for a link of another user than root. */
export async function withoutLinks(path: string): Promise<string> {
  const all = resolve(path);
  if (system.geteuid === undefined) return all;
  const { root } = parse(all);
  const namesOf = (absolute: string) => absolute.slice(root.length).split(sep);
  let found = root;
  let links = 0;
  for (let names = namesOf(all); names.length > 0; ) {
    const [name = '', ...rest] = names;
    const next = join(found, name);
    const facts = await lstat(next).catch(ignoreMissing);
    const isLink = facts?.isSymbolicLink() === true;
    if (isLink && !isOurs(facts) && facts.uid !== ROOT) throw new Error(`${next} is a symbolic link of another user`);
    if (isLink && ++links > MAX_LINKS) throw new Error('too many symbolic links');
    names = isLink ? [...namesOf(resolve(found, await readlink(next))), ...rest] : rest;
    found = isLink ? root : next;
  }
  return found;
}

/** Makes a folder for its user alone, unless it is there; returns its path without links. Throws as `withoutLinks`. */
export async function makeOwnFolder(path: string): Promise<string> {
  const folder = await withoutLinks(path);
  await makePrivateFolder(folder);
  return folder;
}

/** Opens a regular file; `flags` of the system. Throws for anything else: no link is followed, no pipe waited for. */
export async function openRegular(path: string, flags: number): Promise<FileHandle> {
  const file = await open(path, flags | O_NONBLOCK);
  const isFile = await file.stat().then(
    (facts) => facts.isFile(),
    () => false,
  );
  if (isFile) return file;
  await file.close();
  throw new Error('it is not a regular file');
}

/** The text of a regular file, not read through a link. */
export async function readUnlinked(path: string): Promise<string> {
  return textOf(await openRegular(path, constants.O_RDONLY | O_NOFOLLOW));
}

const NOT_OURS = ['ELOOP', 'EMLINK', 'EPERM', 'EACCES', 'ENXIO', 'EISDIR'];

/**
 * Opens what an earlier run left: undefined where there is nothing, null for what cannot be it. That is a link, a file of
 * another user or with another name besides, or no file at all. Told from the open file: its name may lead elsewhere by
 * now. Throws as the file system does.
 */
export async function openOwnFile(path: string, flags: number): Promise<FileHandle | null | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, flags | O_NOFOLLOW | O_NONBLOCK);
    const facts = await file.stat();
    if (facts.isFile() && facts.nlink <= 1 && isOurs(facts)) return file;
    await file.close();
    return null;
  } catch (cause) {
    await file?.close();
    if (NOT_OURS.includes(codeOf(cause) ?? '')) return null;
    return ignoreMissing(cause);
  }
}

/** The text of what an earlier run left, as `openOwnFile` tells. */
export async function readOwnFile(path: string): Promise<string | null | undefined> {
  const file = await openOwnFile(path, constants.O_RDONLY);
  return file && textOf(file);
}

/** The bytes of an open file, which is closed. */
export async function bytesOf(file: FileHandle): Promise<Buffer> {
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** The same as text in UTF-8. */
async function textOf(file: FileHandle): Promise<string> {
  return (await bytesOf(file)).toString('utf8');
}
