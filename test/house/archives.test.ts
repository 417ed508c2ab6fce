import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from './tree.ts';

type Packer = (folder: string, file: string, epoch: number, level: number) => void;
const { packers, packTar, packZip }: { packers(): unknown; packTar: Packer; packZip: Packer } = await import(
  pathToFileURL(join(ROOT, 'bin/archives/pack.mjs')).href
);

const PYTHON = `
import json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print(json.dumps([[i.filename, list(i.date_time), archive.read(i).decode()] for i in archive.infolist()]))
`;

let folder: string;
const { TZ: zone = 'UTC', XZ_OPT: habit = '' } = process.env;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'molar-archives-'));
});
afterEach(() => {
  Object.assign(process.env, { TZ: zone, XZ_OPT: habit });
  rmSync(folder, { recursive: true, force: true });
});

/** How somebody makes an archive: the order and time in which files came, their rights, and the settings of a shell. */
interface Habits {
  readonly order: readonly string[];
  readonly time: Date;
  readonly mode: number;
  readonly TZ: string;
  readonly XZ_OPT: string;
}

const ONE = {
  order: ['b/two.txt', 'a.txt'],
  time: new Date(0),
  mode: 0o644,
  TZ: 'America/Denver',
  XZ_OPT: '--check=none',
};
const TWO = { order: ['a.txt', 'b/two.txt'], time: new Date(), mode: 0o600, TZ: 'Pacific/Auckland', XZ_OPT: '' };

/** Packs two files as somebody does, and gives the path of the archive. */
function packed(pack: Packer, name: string, { order, time, mode, ...env }: Habits): string {
  const top = join(folder, name, 'top');
  for (const path of order) {
    const file = join(top, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, `${path}\n`);
    chmodSync(file, mode);
    utimesSync(file, time, time);
  }
  Object.assign(process.env, env);
  const archive = join(folder, name, 'archive.xz');
  pack(top, archive, Date.UTC(2026, 6, 1, 23, 30, 10) / 1000, 6);
  return archive;
}

describe('a tar archive', () => {
  it('has the same bytes whoever makes it', ({ skip }) => {
    try {
      packers();
    } catch (error) {
      if (process.env.CI === 'true') throw error;
      skip('there is no GNU tar');
    }
    const one = packed(packTar, 'one', ONE);
    const two = packed(packTar, 'two', TWO);
    expect(readFileSync(one).equals(readFileSync(two))).toBe(true);
    const listed = spawnSync('tar', ['-tvf', one], { encoding: 'utf8', env: { PATH: process.env.PATH, TZ: 'UTC' } });
    expect(listed.stdout.replaceAll(/ +/g, ' ')).toBe(
      [
        'drwxr-xr-x 0/0 0 2026-07-01 23:30 top/',
        '-rw-r--r-- 0/0 6 2026-07-01 23:30 top/a.txt',
        'drwxr-xr-x 0/0 0 2026-07-01 23:30 top/b/',
        '-rw-r--r-- 0/0 10 2026-07-01 23:30 top/b/two.txt',
        '',
      ].join('\n'),
    );
  });
});

describe('a ZIP archive', () => {
  it('has the same bytes in every time zone, and the time and order that others read', () => {
    const one = packed(packZip, 'one', ONE);
    const two = packed(packZip, 'two', TWO);
    expect(readFileSync(one).equals(readFileSync(two))).toBe(true);
    const { stdout, stderr } = spawnSync('python3', ['-c', PYTHON, one], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const time = [2026, 7, 1, 23, 30, 10];
    expect(JSON.parse(stdout)).toEqual([
      ['top/a.txt', time, 'a.txt\n'],
      ['top/b/two.txt', time, 'b/two.txt\n'],
    ]);
  });
});
