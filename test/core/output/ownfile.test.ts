import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import {
  chmod,
  chown,
  lchown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAtomicFile } from '../../../src/core/output/atomicfile.ts';
import { openOwnFile, openRegular, readOwnFile, replaceable, withoutLinks } from '../../../src/core/output/ownfile.ts';
import { need } from '../../support/capabilities.ts';
import { otherUser } from '../../support/services.ts';

const run = promisify(execFile);
let folder = '';
const at = (name: string) => join(folder, name);

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'molar-own-')));
  await writeFile(at('mine'), 'mine');
});
afterEach(() => rm(folder, { recursive: true }));

describe('what an earlier run left', () => {
  it('is a file of our own with one name', async () => {
    expect(await readOwnFile(at('mine'))).toBe('mine');
    expect(await readOwnFile(at('none'))).toBeUndefined();
  });

  it.for<[string, () => Promise<unknown>, 'symlinks' | 'posixShell' | undefined]>([
    ['a link', () => symlink('mine', at('left')), 'symlinks'],
    ['a second name of a file', () => link(at('mine'), at('left')), undefined],
    ['a folder', () => mkdir(at('left')), undefined],
    ['a pipe', () => run('mkfifo', [at('left')]), 'posixShell'],
  ])('is not %s', async ([, plant, needed], context) => {
    if (needed !== undefined) need(context, needed);
    await plant();
    for (const flags of [constants.O_RDONLY, constants.O_RDWR, constants.O_WRONLY | constants.O_APPEND])
      expect(await openOwnFile(at('left'), flags)).toBeNull();
    expect(await readFile(at('mine'), 'utf8')).toBe('mine');
  });
});

describe('a path without links', () => {
  it('is found through links of our own, also where it does not exist', async (context) => {
    need(context, 'symlinks');
    await mkdir(at('real/deep'), { recursive: true });
    await symlink('real', at('one'));
    await symlink(at('one/deep'), at('two'));
    expect(await withoutLinks(at('two/../one/none/x'))).toBe(at('real/none/x'));
    expect(await withoutLinks(at('two'))).toBe(at('real/deep'));
    expect(await withoutLinks('/')).toBe('/');
  });

  it('has an end', async (context) => {
    need(context, 'symlinks');
    await symlink('b', at('a'));
    await symlink('a', at('b'));
    await expect(withoutLinks(at('a/x'))).rejects.toThrow('too many symbolic links');
  });

  it('is none through a file', async (context) => {
    need(context, 'notAFolder');
    await expect(replaceable(at('mine/x'))).rejects.toThrow('ENOTDIR');
  });
});

it('reads regular files only, and does not wait for a pipe', async (context) => {
  need(context, 'posixShell');
  await run('mkfifo', [at('pipe')]);
  await expect(openRegular(at('pipe'), constants.O_RDONLY)).rejects.toThrow('it is not a regular file');
  await expect(openRegular(folder, constants.O_RDONLY)).rejects.toThrow('it is not a regular file');
});

const other = otherUser();
if (other !== undefined) {
  describe('what belongs to another user', () => {
    it('was not left by an earlier run', async () => {
      await chown(at('mine'), other, other);
      expect(await openOwnFile(at('mine'), constants.O_RDWR)).toBeNull();
    });

    it('does not become a part, however fast they put it there', async () => {
      await chmod(folder, 0o777);
      // Not Node: it may lie where no other user can start it, as below the home folder of root.
      const script = 'umask 0; while :; do true >> "$0"; done 2>/dev/null';
      const planter = spawn('/bin/sh', ['-c', script, at('a.csv.part')], { uid: other, gid: other });
      await once(planter, 'spawn');
      try {
        for (let met = 0; met < 5; ) {
          expect({ code: planter.exitCode, signal: planter.signalCode }).toEqual({ code: null, signal: null });
          const sink = await openAtomicFile(at('a.csv')).catch((cause: Error) => cause);
          if (sink instanceof Error) {
            expect(sink.message).toContain('it already exists');
            met++;
          } else {
            expect((await lstat(at('a.csv.part'))).uid).toBe(process.getuid?.());
            await sink.abort();
          }
        }
      } finally {
        if (planter.kill('SIGKILL')) await once(planter, 'exit');
      }
    });

    it('is replaced where it is a file, and not followed where it is a link', async (context) => {
      need(context, 'symlinks');
      await chown(at('mine'), other, other);
      expect(await replaceable(at('mine'))).toBe(at('mine'));
      await symlink('mine', at('link'));
      expect(await replaceable(at('link'))).toBe(at('mine'));
      await lchown(at('link'), other, other);
      await expect(replaceable(at('link'))).rejects.toThrow('it is a symbolic link of another user');
      await symlink('.', at('folder'));
      expect(await replaceable(at('folder/mine'))).toBe(at('mine'));
      await lchown(at('folder'), other, other);
      await expect(replaceable(at('folder/mine'))).rejects.toThrow(
        `${at('folder')} is a symbolic link of another user`,
      );
    });
  });
}
