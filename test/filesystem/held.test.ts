import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { moveFile, removeEmptyFolder, removeFile, removeTree } from '../../src/filesystem/durable.ts';
import { attend, FileHeld } from '../../src/filesystem/held.ts';
import { onWindows, replaceSystem, systemError } from '../support/othersystem.ts';

let folder: string;
let said: string[];
const at = (name: string) => join(folder, name);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-held-'));
  said = [];
  attend({ say: (text) => void said.push(text) });
  await writeFile(at('patients.csv'), 'old');
  await writeFile(at('patients.csv.part'), 'new');
});

afterEach(async () => {
  attend({ say: () => undefined });
  await rm(folder, { recursive: true });
});

/** The operation, refused the first times. */
function refusing<A extends unknown[], R>(times: number, code: string, work: (...args: A) => Promise<R>) {
  let tries = 0;
  return async (...args: A): Promise<R> => {
    if (tries++ < times) throw systemError(code);
    return work(...args);
  };
}

const move = () => moveFile(at('patients.csv.part'), at('patients.csv'));

it.each(['EBUSY', 'EPERM', 'EACCES', 'ENOTEMPTY'])('a file that %s keeps for a moment gets its name', async (code) => {
  const { slept } = onWindows({ rename: refusing(4, code, rename) });
  await move();
  expect(await readFile(at('patients.csv'), 'utf8')).toBe('new');
  expect(await readdir(folder)).toEqual(['patients.csv']);
  expect(slept).toEqual([10, 20, 40, 80]);
  expect(said).toEqual([]);
});

it('a folder where a file is to be removed is told at once: nobody holds it', async () => {
  await mkdir(at('folder'));
  const { slept } = onWindows({ unlink: refusing(Number.POSITIVE_INFINITY, 'EPERM', unlink) });
  await expect(removeFile(at('folder'))).rejects.toMatchObject({ code: 'EISDIR' });
  expect(slept).toEqual([]);
});

it('what removes is tried again, too', async () => {
  await mkdir(at('empty'));
  await mkdir(at('full/inner'), { recursive: true });
  const { slept } = onWindows({
    unlink: refusing(1, 'EBUSY', unlink),
    rmdir: refusing(1, 'ENOTEMPTY', rmdir),
    rm: refusing(1, 'EPERM', rm),
  });
  await removeFile(at('patients.csv'));
  await removeEmptyFolder(at('empty'));
  await removeTree(at('full'));
  expect(await readdir(folder)).toEqual(['patients.csv.part']);
  expect(slept).toEqual([10, 10, 10]);
});

it('says once who is waited for, gives up after a minute, and leaves both files as they were', async () => {
  let saidAfter: number | undefined;
  const { slept } = onWindows({ rename: refusing(Number.POSITIVE_INFINITY, 'EBUSY', rename) });
  const waited = () => slept.reduce((sum, milliseconds) => sum + milliseconds, 0);
  attend({
    say: (text) => {
      said.push(text);
      saidAfter = waited();
    },
  });
  const failure = await move().catch((cause: unknown) => cause);
  expect(failure).toBeInstanceOf(FileHeld);
  expect((failure as FileHeld).next).toMatch(/^Close the program that has patients\.csv open/);
  expect(said).toEqual(['Waiting for patients.csv: close the program that has it open.']);
  expect(saidAfter).toBeGreaterThanOrEqual(3000);
  expect(saidAfter).toBeLessThan(5000);
  expect(waited()).toBeGreaterThanOrEqual(60_000);
  expect(waited()).toBeLessThan(61_000);
  expect(await readFile(at('patients.csv'), 'utf8')).toBe('old');
  expect(await readFile(at('patients.csv.part'), 'utf8')).toBe('new');
});

it.each(['ENOENT', 'ENOSPC', 'EIO', 'EXDEV'])('%s is no other program: it fails at once', async (code) => {
  const { slept } = onWindows({ rename: refusing(1, code, rename) });
  await expect(move()).rejects.toMatchObject({ code });
  expect(slept).toEqual([]);
});

it('a signal ends the waiting with its reason, and nothing is tried again', async () => {
  const interrupts = new AbortController();
  const reason = new Error('Interrupted.');
  let tries = 0;
  onWindows({
    rename: async () => {
      if (++tries === 3) interrupts.abort(reason);
      throw systemError('EBUSY');
    },
  });
  attend({ say: () => undefined, signal: interrupts.signal });
  await expect(move()).rejects.toBe(reason);
  expect(tries).toBe(3);
});

it('the wait itself is ended by a signal, as the timers of Node are', async () => {
  const interrupts = new AbortController();
  const reason = new Error('Interrupted.');
  replaceSystem({
    platform: 'win32',
    rename: async () => {
      setImmediate(() => interrupts.abort(reason));
      throw systemError('EBUSY');
    },
  });
  attend({ say: () => undefined, signal: interrupts.signal });
  await expect(move()).rejects.toBe(reason);
});

it.each(['linux', 'darwin'] as const)(
  "on %s an open file is in nobody's way: what fails there fails at once",
  async (platform) => {
    let tries = 0;
    replaceSystem({
      platform,
      rename: async () => {
        tries++;
        throw systemError('EPERM');
      },
    });
    await expect(move()).rejects.toMatchObject({ code: 'EPERM' });
    expect(tries).toBe(1);
  },
);
