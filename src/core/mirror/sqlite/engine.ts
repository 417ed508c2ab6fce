import { basename, dirname, join } from 'node:path';
import { removeDurably } from '../../../filesystem/durable.ts';
import { holderOf, holdLock } from '../../lockfile.ts';
import { guarded } from '../../output/atomicfile.ts';
import { makeOwnFolder } from '../../output/ownfile.ts';
import type { MirrorEngine } from '../engine.ts';
import type { FilePlace } from '../place.ts';
import { readContents } from '../sql/reading.ts';
import { SqlMirror } from '../sql/sqlmirror.ts';
import { SqliteDatabase } from './database.ts';

/** Mirrors in files: the lock of `practice.db` is `.practice.db.lock` beside it. */
export const SQLITE_ENGINE: MirrorEngine<FilePlace> = {
  read: ({ name }, work) => SqliteDatabase.read(name, work),
  async hold({ name: file }, command, owner) {
    await guarded(`make the folder ${dirname(file)}`, () => makeOwnFolder(dirname(file)));
    const release = await holdLock(lockPath(file), `The mirror ${file}`, { ...owner, command });
    return {
      release,
      read: () => SqliteDatabase.read(file, readContents),
      async open(facts, options) {
        const database = await SqliteDatabase.open(file);
        try {
          return await SqlMirror.open(database, facts, options);
        } catch (cause) {
          await database.close();
          throw cause;
        }
      },
      remove: () =>
        guarded(`remove ${file}`, async () => {
          for (const suffix of ['', '-wal', '-shm']) await removeDurably(file + suffix);
        }),
    };
  },
  async holder({ name }, owner) {
    const holder = await holderOf(lockPath(name), owner);
    if (holder === undefined) return null;
    return { pid: holder.pid, command: holder.command ?? null, since: holder.startedAt ?? null };
  },
};

function lockPath(file: string): string {
  return join(dirname(file), `.${basename(file)}.lock`);
}
