import { fstatSync, readlinkSync, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { system } from '../../../src/filesystem/system.ts';
import { backUp } from '../../../src/server/maintenance/backup/backup.ts';
import { restore } from '../../../src/server/maintenance/restore.ts';
import { need } from '../../support/capabilities.ts';
import { replaceSystem } from '../../support/othersystem.ts';
import { filesIn, makePractice, scratch, WORK } from './practices.ts';

let place: Awaited<ReturnType<typeof scratch>>;
let folder: string;
beforeAll(async () => {
  place = await scratch();
  folder = await realpath(place.path);
  await makePractice(join(folder, 'base'));
  await backUp({ data: join(folder, 'base') }, join(folder, 'earlier'), { ...WORK, version: '1' });
});
afterAll(() => place.remove());

/** What is on the disk when a folder gets its name: files by what they are, with the size that was synced, and folders. */
async function syncedBy(target: string, work: () => Promise<unknown>) {
  const { sync, datasync, fsync, rename } = system;
  const files = new Map<number, number>();
  const folders = new Set<string>();
  let atRename: { readonly files: ReadonlyMap<number, number>; readonly folders: ReadonlySet<string> } | undefined;
  const after: string[] = [];
  const note = (descriptor: number) => {
    const facts = fstatSync(descriptor);
    const name = readlinkSync(`/proc/self/fd/${descriptor}`);
    if (!facts.isDirectory()) files.set(facts.ino, facts.size);
    else if (atRename === undefined) folders.add(name);
    else after.push(name);
  };
  replaceSystem({
    sync: (file) => {
      note(file.fd);
      return sync(file);
    },
    datasync: (file) => {
      note(file.fd);
      return datasync(file);
    },
    fsync: (descriptor) => {
      note(descriptor);
      return fsync(descriptor);
    },
    rename: (from, to) => {
      if (to === target) atRename = { files: new Map(files), folders: new Set(folders) };
      return rename(from, to);
    },
  });
  await work();
  return { files: atRename?.files ?? new Map(), folders: atRename?.folders ?? new Set(), after };
}

describe('everything is on the disk when it gets its name', () => {
  const target = (name: string) => join(folder, name);

  it.for<[string, () => Promise<unknown>]>([
    ['backup', () => backUp({ data: target('base') }, target('backup'), { ...WORK, version: '1' })],
    ['restored', () => restore(target('earlier'), { data: target('restored') }, WORK)],
  ])('in a folder that was %s', async ([name, work], context) => {
    need(context, 'proc');
    const synced = await syncedBy(target(name), work);
    // Those of the journal are of whoever has the database open.
    const files = (await filesIn(target(name))).filter((file) => !/-(?:wal|shm)$/.test(file));
    expect(files.length).toBeGreaterThan(5);
    const lost = files.filter((file) => synced.files.get(statSync(file).ino) !== statSync(file).size);
    expect(lost.map((file) => relative(folder, file))).toEqual([]);
    const part = `${target(name)}.part`;
    expect([...synced.folders]).toEqual(expect.arrayContaining([part, join(part, 'files')]));
    expect(synced.after).toEqual([folder, target(name)]);
  });
});
