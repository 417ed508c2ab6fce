import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { PROGRAMS, type Program } from '../../store/schema/introspection.ts';
import { StoreUnusable } from '../../store/store.ts';
import { DATABASE, openSqliteSnapshot } from '../snapshot.ts';

/**
 * Refuses what no backup has and somebody must have put there: links, which restore what is elsewhere, and journals of
 * the database, whose pages no hash covers. Throws `StoreUnusable`.
 */
export async function refuseLinks(backup: string, folder = backup): Promise<void> {
  for (const name of await readdir(folder).catch(missing)) {
    const path = join(folder, name);
    const found = await lstat(path);
    if (found.isDirectory()) await refuseLinks(backup, path);
    else if (!found.isFile() || found.nlink > 1) {
      throw new StoreUnusable(
        `The backup has a link, or something else that is no file of its own: ${relative(backup, path)}.`,
        'Make sure that you know who put it there. A copy has no links: cp -rL BACKUP COPY.',
      );
    } else if (found.size > 0 && [`${DATABASE}-wal`, `${DATABASE}-journal`].includes(name)) {
      throw new StoreUnusable(`The backup has ${name}, which no backup has.`, 'Use another backup.');
    }
  }
}

/** A folder that is not there is told by the reader of its manifest. */
function missing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
  throw error;
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
