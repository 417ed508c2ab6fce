import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cleanEnv, exit } from '../molar.ts';
import { archiveOf, PLAIN, Site } from './installing.ts';
import { newKey, run, writeSums } from './release.ts';

const ARCH = process.arch;
const site = new Site();

describe('install.sh, over a version that is there', () => {
  /** A home where it is installed; its links are relative, so a copy is as good. */
  let template: string;

  beforeAll(async () => {
    await site.move();
    template = site.home;
    await site.publish('0.1.0', { pages: ['molar.1', 'molar-gone.1'] });
    expect(await site.install()).toMatchObject({ code: 0 });
  });

  beforeEach(async () => {
    await cp(template, site.home, { recursive: true, verbatimSymlinks: true });
    expect(await site.installed()).toBe('0.1.0');
  });

  it('upgrades, keeps the version before and no older one, and no page of it', async () => {
    await site.publish('0.2.0');
    expect(await site.install()).toMatchObject({ code: 0, stderr: '' });
    expect(await site.installed()).toBe('0.2.0');
    expect(await readdir(site.at('share/man/man1'))).toEqual(['molar.1']);
    expect(await readFile(site.at('share/man/man1/molar.1'), 'utf8')).toContain('0.2.0');
    expect(await readdir(site.at('lib/molar'))).toEqual(
      [0, 1].map((before) => `molar-0.${before + 1}.0-linux-${ARCH}`),
    );
    await site.publish('0.3.0');
    await site.install();
    expect(await readdir(site.at('lib/molar'))).toEqual(
      [1, 2].map((before) => `molar-0.${before + 1}.0-linux-${ARCH}`),
    );
  });

  it('is removed, and leaves data, settings and what is of others', async () => {
    await mkdir(join(site.home, '.config/molar'), { recursive: true });
    await writeFile(join(site.home, '.config/molar/config.json'), '{}');
    await mkdir(site.at('share/molar'), { recursive: true });
    await writeFile(site.at('share/molar/data'), 'data');
    await writeFile(site.at('share/man/man1/molar-of-another.1'), 'another');
    await writeFile(site.at('bin/other'), 'another');
    const { code, stdout } = await site.install(['--uninstall']);
    expect({ code, told: stdout.includes(join(site.home, '.config/molar/config.json')) }).toEqual({
      code: 0,
      told: true,
    });
    const { stdout: left } = await run('find', [site.home, '-not', '-type', 'd', '-printf', '%P\n']);
    expect(left.trimEnd().split('\n').sort()).toEqual([
      '.config/molar/config.json',
      '.local/bin/other',
      '.local/share/man/man1/molar-of-another.1',
      '.local/share/molar/data',
    ]);
    expect(site.asked).toEqual([]);
    expect(await site.install(['--uninstall'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is not installed'),
    });
  });

  const damage = async () => {
    const file = join(site.release, archiveOf('0.2.0'));
    const content = await readFile(file);
    content.writeUInt8(content.readUInt8(100) ^ 1, 100);
    await writeFile(file, content);
  };
  const cutOff = (announced: boolean) => () => {
    site.instead = (path, response) => {
      if (path !== archiveOf('0.2.0')) return false;
      response.writeHead(200, announced ? { 'content-length': '1000000' } : {});
      response.write(Buffer.alloc(50_000), () => response.destroy());
      return true;
    };
  };
  const missing = (name: string) => () => rm(join(site.release, name));

  it.each<[name: string, spoil: () => unknown, said: string]>([
    ['a damaged archive', damage, 'is not what SHA256SUMS says'],
    [
      'an archive and sums that somebody changed',
      () => damage().then(() => writeSums(site.release, newKey().key)),
      'does not have the signature',
    ],
    ['a signature of another key', () => writeSums(site.release, newKey().key), 'does not have the signature'],
    [
      'a signature that is none',
      () => writeFile(join(site.release, 'SHA256SUMS.sig'), 'OK'),
      'does not have the signature',
    ],
    ['no signature', missing('SHA256SUMS.sig'), 'Cannot download'],
    ['no sums', missing('SHA256SUMS'), 'Cannot download'],
    ['no archive', missing(archiveOf('0.2.0')), 'Cannot download'],
    ['a download that is cut off', cutOff(true), 'Cannot download'],
    ['a download of unknown length that is cut off', cutOff(false), 'Cannot download'],
    [
      'a program that does not run here',
      () => site.publish('0.2.0', { program: '#!/nowhere\n' }),
      'does not run on this system',
    ],
    [
      'a program of another version',
      () => site.publish('0.2.0', { program: '#!/bin/sh\necho molar-cli/0.1.9 x\n' }),
      'holds another version',
    ],
    [
      'two versions',
      () =>
        writeFile(join(site.release, archiveOf('0.2.1')), 'x').then(() => writeSums(site.release, site.signing.key)),
      'more than one version',
    ],
    [
      'nothing for this system',
      () => missing(archiveOf('0.2.0'))().then(() => writeSums(site.release, site.signing.key)),
      `There is no molar for linux-${ARCH}`,
    ],
  ])('refuses %s, and the old one stays', { timeout: 60_000 }, async (_name, spoil, said) => {
    await site.publish('0.2.0');
    await spoil();
    expect(await site.install()).toMatchObject({ code: 1, stderr: expect.stringContaining(said) });
    expect(await site.installed()).toBe('0.1.0');
    expect(await readdir(site.at('share/man/man1'))).toContain('molar-gone.1');
  });

  it('refuses a damaged archive without openssl, too', async () => {
    await site.publish('0.2.0');
    await damage();
    const ended = await site.install([], { PATH: await site.pathOf([...PLAIN, 'curl']) });
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('is not what SHA256SUMS says') });
    expect(await site.installed()).toBe('0.1.0');
  });

  it('keeps the old one where the disk is full', async () => {
    await site.publish('0.2.0');
    // Blocks of 512 bytes: enough for the sums, too little for the archive.
    const { code, stderr } = await run('sh', ['-c', `ulimit -f 64; exec sh '${site.script}'`], site.environment());
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('space on the disk') });
    expect(await site.installed()).toBe('0.1.0');
  });

  it.each<[NodeJS.Signals, number | null]>([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
    ['SIGKILL', null],
  ])('leaves the old one after %s, and nothing that the next run does not remove', async (signal, code) => {
    await site.publish('0.2.0');
    let child: ChildProcess | undefined;
    site.instead = (path, response) => {
      if (path !== archiveOf('0.2.0') || child?.pid === undefined) return false;
      const { pid } = child;
      // A terminal sends it to all of the group.
      response.write('x', () => process.kill(-pid, signal));
      return true;
    };
    child = spawn('sh', [site.script], {
      cwd: site.home,
      env: cleanEnv(site.environment()),
      stdio: 'ignore',
      detached: true,
    });
    expect(await exit(child)).toBe(code);
    expect(await readlink(site.at('bin/molar'))).toContain('molar-0.1.0-');
    site.instead = undefined;
    const next = await site.install();
    expect(next).toMatchObject({ code: 0 });
    expect(await site.installed()).toBe('0.2.0');
  });
});
