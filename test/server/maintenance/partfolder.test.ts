import { existsSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hasModes } from '../../../src/filesystem/private.ts';
import { system } from '../../../src/filesystem/system.ts';
import { openPartFolder } from '../../../src/server/maintenance/partfolder.ts';
import { need } from '../../support/capabilities.ts';
import { openBelow } from '../../support/descriptors.ts';
import { onWindows, replaceSystem, systemError } from '../../support/othersystem.ts';

let folder: string;
let target: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'molar-part-')));
  target = join(folder, 'backup');
});

afterEach(() => rm(folder, { recursive: true }));

it('takes its name with nothing open inside, while nobody else may fill it', async (context) => {
  need(context, 'proc');
  const seen: unknown[] = [];
  const { rename } = system;
  replaceSystem({
    async rename(from, to) {
      const others = await openPartFolder(target).catch((cause: Error) => cause.message);
      seen.push([openBelow(String(from)), others]);
      return rename(from, to);
    },
  });
  const part = await openPartFolder(target);
  await writeFile(join(part.path, 'molar.sqlite'), 'x');
  expect(openBelow(folder)).toContain(`${part.path}.lock`);
  expect(openBelow(part.path)).toEqual([]);
  await part.finish();
  await part.close();
  expect(seen).toEqual([[[], `Another molar is writing to ${part.path}.`]]);
  expect(await readdir(folder)).toEqual(['backup']);
  expect(await readdir(target)).toEqual(['molar.sqlite']);
  expect((await stat(target)).mode & 0o777).toBe(0o700);
});

it('takes its name when all names in it are on the disk, and loses its mark when that name is', async (context) => {
  need(context, 'proc');
  const part = await openPartFolder(target);
  await mkdir(join(part.path, 'files', 'ab'), { recursive: true });
  const { fsync, rename, unlink } = system;
  const seen: string[] = [];
  const short = (path: string) => path.slice(folder.length);
  replaceSystem({
    fsync: (descriptor) => {
      seen.push(`sync ${short(readlinkSync(`/proc/self/fd/${descriptor}`))}`);
      return fsync(descriptor);
    },
    rename: (from, to) => {
      seen.push(`rename to ${short(String(to))}`);
      return rename(from, to);
    },
    unlink: (path) => {
      seen.push(`remove ${short(String(path))}`);
      return unlink(path);
    },
  });
  await part.finish();
  expect(seen).toEqual([
    ...['sync /backup.part/files/ab', 'sync /backup.part/files', 'sync /backup.part'],
    ...['rename to /backup', 'sync ', 'remove /backup.part.lock', 'remove /backup/unfinished.lock', 'sync /backup'],
  ]);
});

it('lets go of a folder that it may not fill', async () => {
  const { mkdir: make } = system;
  replaceSystem({
    // Somebody takes the name while the folder is made.
    mkdir: (async (...args: Parameters<typeof make>) => {
      await mkdir(target, { recursive: true });
      await writeFile(join(target, 'mine'), 'x');
      return make(...args);
    }) as typeof make,
  });
  await expect(openPartFolder(target)).rejects.toThrow('is there already, and not empty.');
  await rm(target, { recursive: true });
  replaceSystem({ mkdir: make });
  const again = await openPartFolder(target);
  await again.finish();
  expect(await readdir(folder)).toEqual(['backup']);
});

it('goes on with what an interrupted run left, also of a molar that locked inside', async () => {
  await mkdir(`${target}.part`, { mode: 0o755 });
  await writeFile(join(`${target}.part`, 'unfinished.lock'), '');
  await writeFile(join(`${target}.part`, 'kept'), 'kept');
  const first = await openPartFolder(target);
  // For its owner alone, whatever it was.
  if (hasModes()) expect((await stat(first.path)).mode & 0o777).toBe(0o700);
  await expect(openPartFolder(target)).rejects.toThrow('Another molar is writing');
  await first.close();
  const second = await openPartFolder(target);
  await mkdir(target);
  const { rename } = system;
  replaceSystem({
    // Not every system puts a folder in the place of another one, though that be empty.
    async rename(from, to) {
      if (existsSync(to)) throw systemError('EEXIST');
      return rename(from, to);
    },
  });
  await second.finish();
  expect(await readFile(join(target, 'kept'), 'utf8')).toBe('kept');
  expect(await readdir(folder)).toEqual(['backup']);
});

it('whoever began while another finished does not go on', async () => {
  const part = await openPartFolder(target);
  await writeFile(join(part.path, 'kept'), 'kept');
  const { mkdir: make } = system;
  let isFinished = false;
  replaceSystem({
    // The second has found no target yet.
    mkdir: (async (...args: Parameters<typeof make>) => {
      if (!isFinished) await part.finish();
      isFinished = true;
      return make(...args);
    }) as typeof make,
  });
  await expect(openPartFolder(target)).rejects.toThrow(`${target} is there already, and not empty.`);
  expect(await readdir(target)).toEqual(['kept']);
  await expect(openPartFolder(target)).rejects.toThrow(`${target} is there already, and not empty.`);
});

it('takes its name also where the file of its lock stays', async () => {
  const { unlink } = system;
  replaceSystem({
    unlink: async (path) => {
      if (String(path).endsWith('.lock') && !String(path).endsWith('unfinished.lock')) throw systemError('EIO');
      return unlink(path);
    },
  });
  const part = await openPartFolder(target);
  await part.finish();
  expect(await readdir(target)).toEqual([]);
});

it('a folder that another program keeps stays a part, from which the next run goes on', async () => {
  let isHeld = true;
  const { rename } = system;
  onWindows({
    async rename(from, to) {
      if (isHeld) throw systemError('EPERM');
      return rename(from, to);
    },
  });
  const part = await openPartFolder(target);
  await writeFile(join(part.path, 'kept'), 'kept');
  await expect(part.finish()).rejects.toThrow('another program has it open');
  await part.close();
  isHeld = false;
  const again = await openPartFolder(target);
  expect(await readdir(again.path)).toEqual(['kept', 'unfinished.lock']);
  await again.finish();
  expect(await readdir(target)).toEqual(['kept']);
});
