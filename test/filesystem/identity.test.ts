import {
  type FileHandle,
  lstat,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { openAtomicFile } from '../../src/core/output/atomicfile.ts';
import { isNameOf, isSameFile } from '../../src/filesystem/identity.ts';
import { system } from '../../src/filesystem/system.ts';
import { need } from '../support/capabilities.ts';
import { onWindows } from '../support/othersystem.ts';

let folder: string;
const at = (name: string) => join(folder, name);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-identity-'));
});

afterEach(() => rm(folder, { recursive: true }));

async function opened(name: string) {
  await writeFile(at(name), name);
  const file = await open(at(name), 'r');
  onTestFinished(() => file.close());
  return file;
}

/** As libuv 1.49 tells files by name: their volume is none. */
const withoutVolume = async (path: string) => Object.assign(await lstat(path), { dev: 0 });

it.each(['linux', 'win32'])('on %s a path names a file until another is there, or none', async (platform) => {
  if (platform === 'win32') onWindows();
  const file = await opened('patients.csv.part');
  expect(await isNameOf(at('patients.csv.part'), file)).toBe(true);
  await rename(at('patients.csv.part'), at('aside'));
  expect(await isNameOf(at('patients.csv.part'), file)).toBe(false);
  await writeFile(at('patients.csv.part'), 'of another program');
  expect(await isNameOf(at('patients.csv.part'), file)).toBe(false);
});

it.for(['linux', 'win32'])('on %s a link to a file is not its name', async (platform, context) => {
  need(context, 'symlinks');
  if (platform === 'win32') onWindows();
  const file = await opened('patients.csv.part');
  await symlink(at('patients.csv.part'), at('link'));
  expect(await isNameOf(at('link'), file)).toBe(false);
});

it('a number tells a file from the others of its disk alone, and what is not there is nothing else', () => {
  const [one, other, elsewhere] = [
    { ino: 1, dev: 1 },
    { ino: 2, dev: 1 },
    { ino: 1, dev: 2 },
  ] as const;
  expect([one, other, elsewhere, undefined].map((each) => isSameFile(one, each))).toEqual([true, false, false, false]);
  expect([one, undefined].map((each) => isSameFile(undefined, each))).toEqual([false, false]);
});

it('an export gets its name on Windows where facts by name are not those of the open file', async () => {
  const files: FileHandle[] = [];
  const { open: openFile } = system;
  onWindows({
    lstat: withoutVolume,
    async open(...how) {
      const file = await openFile(...how);
      files.push(file);
      return file;
    },
  });
  const sink = await openAtomicFile(at('patients.csv'));
  await sink.write('new');
  await sink.commit();
  // The file, and what its name was compared by: an open one could not be replaced by the next export.
  expect(files.map(({ fd }) => fd)).toEqual([-1, -1]);
  expect(await readdir(folder)).toEqual(['patients.csv']);
  expect(await readFile(at('patients.csv'), 'utf8')).toBe('new');
});

it('and what is given up there leaves nothing', async () => {
  onWindows({ lstat: async (path) => Object.assign(await lstat(path), { dev: 0, ino: 7 }) });
  const sink = await openAtomicFile(at('patients.csv'));
  await sink.write('new');
  await sink.abort();
  expect(await readdir(folder)).toEqual([]);
});
