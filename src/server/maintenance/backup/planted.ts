import { existsSync, type Stats } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isSameFile } from '../../../filesystem/identity.ts';
import { isOurs } from '../../../filesystem/private.ts';
import { PROGRAMS, type Program } from '../../store/schema/introspection.ts';
import { StoreUnusable } from '../../store/store.ts';
import { MARK } from '../partfolder.ts';
import { DATABASE, openSqliteSnapshot } from '../snapshot.ts';
import { MANIFEST } from './manifest.ts';

/**
 * Refuses what no backup has and somebody must have put there: links, which restore what is elsewhere, and journals of
 * the database, whose pages no hash covers. Files of documents that backups beside this one have as well are no such
 * links. Throws `StoreUnusable`.
 */
export async function refuseLinks(backup: string): Promise<void> {
  await refuseIn(backup, backup, await backupsBeside(backup));
}

async function refuseIn(backup: string, folder: string, others: readonly string[]): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await lstat(path);
    if (found.isDirectory()) await refuseIn(backup, path, others);
    else if (!found.isFile() || (found.nlink > 1 && !(await isShared(found, relative(backup, path), others)))) {
      throw new StoreUnusable(
        `The backup has a link, or something else that is no file of its own: ${relative(backup, path)}.`,
        'Make sure that you know who put it there. A copy has no links: cp -rL BACKUP COPY.',
      );
    } else if (found.size > 0 && [`${DATABASE}-wal`, `${DATABASE}-journal`].includes(name)) {
      throw new StoreUnusable(`The backup has ${name}, which no backup has.`, 'Use another backup.');
    }
  }
}

/** The backups in the folder of one, itself included, finished or not. */
async function backupsBeside(backup: string): Promise<string[]> {
  const top = dirname(await realpath(backup));
  const folders = (await readdir(top)).map((name) => join(top, name));
  const backups: string[] = [];
  for (const folder of folders) {
    const found = await lstat(folder).catch(() => undefined);
    if (found === undefined || !found.isDirectory() || !isOurs(found)) continue;
    if (existsSync(join(folder, MANIFEST)) || existsSync(join(folder, MARK))) backups.push(folder);
  }
  return backups;
}

/** Whether every name of a file is the one that backups give the file of a document, in one of these. */
async function isShared(file: Stats, path: string, backups: readonly string[]): Promise<boolean> {
  if (!/^files[/\\][^/\\]{2}[/\\]/.test(path)) return false;
  const names = await Promise.all(backups.map((backup) => lstat(join(backup, path)).catch(() => undefined)));
  return names.filter((found) => isSameFile(found, file)).length === file.nlink;
}

/** Refuses a database of a backup that would do something by itself once it is served. Throws `StoreUnusable`. */
export async function refusePrograms(backup: string): Promise<void> {
  const snapshot = await openSqliteSnapshot(backup);
  const [first] = await snapshot.read.all<Program>(PROGRAMS).finally(() => snapshot.close());
  if (first === undefined) return;
  throw new StoreUnusable(
    `The database of the backup has a ${first.type} that is not of molar: ${first.name}.`,
    'Use another backup, and find out who changed this one.',
  );
}
