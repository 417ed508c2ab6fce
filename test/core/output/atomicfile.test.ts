import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAtomicFile, writeAtomicFile } from '../../../src/core/output/atomicfile.ts';
import { need, OWNER_ONLY } from '../../support/capabilities.ts';
import { replaceSystem, systemError } from '../../support/othersystem.ts';

let folder: string;
const at = (name: string) => join(folder, name);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text = 'new'): Promise<void> {
  const sink = await openAtomicFile(path);
  await sink.write(text);
  await sink.commit();
}

describe('openAtomicFile', () => {
  it('writes a file that only its owner can read', async () => {
    const sink = await openAtomicFile(at('a.csv'));
    await sink.write('one\n');
    expect(await readdir(folder)).toEqual(['a.csv.part']);
    await sink.write('zwö\n');
    await sink.commit();
    expect(await readdir(folder)).toEqual(['a.csv']);
    expect(await readFile(at('a.csv'), 'utf8')).toBe('one\nzwö\n');
    expect((await stat(at('a.csv'))).mode & 0o777).toBe(OWNER_ONLY.file);
  });

  it('leaves the file as it was until it is whole', async () => {
    await writeFile(at('a.csv'), 'old');
    const sink = await openAtomicFile(at('a.csv'));
    await sink.write('new');
    expect(await readFile(at('a.csv'), 'utf8')).toBe('old');
    await sink.commit();
    expect(await readFile(at('a.csv'), 'utf8')).toBe('new');
  });

  it('leaves everything as it was when it is given up', async () => {
    await writeFile(at('a.csv'), 'old');
    const sink = await openAtomicFile(at('a.csv'));
    await sink.write('new');
    await sink.abort();
    expect(await readdir(folder)).toEqual(['a.csv']);
    expect(await readFile(at('a.csv'), 'utf8')).toBe('old');
  });

  it('leaves everything as it was when a disk takes no more of it', async () => {
    await writeFile(at('a.csv'), 'old');
    replaceSystem({ sync: () => Promise.reject(systemError('ENOSPC')) });
    await expect(writeAtomicFile(at('a.csv'), 'new')).rejects.toMatchObject({ exitCode: 9 });
    expect(await readdir(folder)).toEqual(['a.csv']);
    expect(await readFile(at('a.csv'), 'utf8')).toBe('old');
  });

  it('replaces a part that an earlier run left', async () => {
    await writeFile(at('a.csv.part'), 'left behind and longer');
    await write(at('a.csv'));
    expect(await readFile(at('a.csv'), 'utf8')).toBe('new');
  });

  it('does not follow a link planted as the part', async (context) => {
    need(context, 'symlinks');
    await writeFile(at('victim'), 'precious');
    await symlink(at('victim'), at('a.csv.part'));
    await write(at('a.csv'));
    expect(await readFile(at('victim'), 'utf8')).toBe('precious');
    expect((await lstat(at('a.csv'))).isFile()).toBe(true);
  });

  it.for<[string, boolean]>([
    ['that exists', true],
    ['that does not exist', false],
  ])('keeps a link and replaces its target %s', async ([, exists], context) => {
    need(context, 'symlinks');
    await mkdir(at('data'));
    if (exists) await writeFile(at('data/real.csv'), 'old');
    await symlink('data/real.csv', at('link.csv'));
    await symlink('link.csv', at('a.csv'));
    await write(at('a.csv'));
    expect(await readlink(at('a.csv'))).toBe('link.csv');
    expect(await readFile(at('data/real.csv'), 'utf8')).toBe('new');
    expect(await readdir(at('data'))).toEqual(['real.csv']);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['a folder', () => mkdir(at('a.csv')), 'it is a folder'],
    // Windows says of it what it says of an open file, which is waited for.
    ...(process.platform === 'win32'
      ? []
      : [
          ['a part that is a folder', () => mkdir(at('a.csv.part')), 'Cannot write'] as [
            string,
            () => Promise<unknown>,
            string,
          ],
        ]),
  ])('refuses %s', async (_name, prepare, message) => {
    await prepare();
    await expect(openAtomicFile(at('a.csv'))).rejects.toMatchObject({
      code: 'local.file',
      exitCode: 9,
      message: expect.stringContaining(message),
    });
  });

  it('refuses a link to itself', async (context) => {
    need(context, 'symlinks');
    await symlink('a.csv', at('a.csv'));
    await expect(openAtomicFile(at('a.csv'))).rejects.toMatchObject({
      code: 'local.file',
      exitCode: 9,
      message: expect.stringContaining('too many symbolic links'),
    });
  });

  it('refuses a device', async (context) => {
    need(context, 'posixShell');
    await expect(openAtomicFile('/dev/null')).rejects.toMatchObject({ exitCode: 9 });
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });

  it('refuses a folder that is not there', async () => {
    await expect(openAtomicFile(at('no/a.csv'))).rejects.toMatchObject({
      message: `Cannot write ${at('no/a.csv')}: no such file or folder.`,
    });
  });

  it('publishes nothing when its folder has become a link since', async (context) => {
    need(context, 'symlinks');
    await mkdir(at('to'));
    const sink = await openAtomicFile(at('to/a.csv'));
    await sink.write('mine');
    await rename(at('to'), at('elsewhere'));
    await symlink('elsewhere', at('to'));
    await expect(sink.commit()).rejects.toMatchObject({ exitCode: 9 });
    await sink.abort();
    expect(await readdir(at('elsewhere'))).toEqual([]);
  });

  it('publishes nothing when another program put something else in place of the part', async (context) => {
    need(context, 'replaceOpen');
    const sink = await openAtomicFile(at('a.csv'));
    await sink.write('mine');
    await writeFile(at('other'), 'theirs');
    await rename(at('other'), at('a.csv.part'));
    await expect(sink.commit()).rejects.toMatchObject({ exitCode: 9 });
    await sink.abort();
    expect(await readdir(folder)).toEqual(['a.csv.part']);
  });
});
