import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { molarIn } from '../inprocess.ts';
import { connection, molar, RUN } from '../molar.ts';
import { hostileServer, TestPlace } from './hostileplace.ts';
import { type Answering, data } from './hostileserver.ts';

const run = promisify(execFile);
const ROWS = Array.from({ length: 300 }, (_, at) => ({ id: at + 1, lastName: `Name ${at + 1}` }));
const WHOLE = `id,lastName\n${ROWS.map(({ id, lastName }) => `${id},${lastName}\n`).join('')}`;

const place = new TestPlace();
const server = hostileServer();

/** The records in pages of a hundred; `meanwhile` happens before the second one is answered. */
const serving =
  (meanwhile: () => Promise<unknown> = async () => undefined): Answering =>
  async (asked, response) => {
    if (asked.url.pathname.endsWith('/totalcount')) return data({ total: ROWS.length })(asked, response);
    const from = Number(asked.url.searchParams.get('lastId'));
    if (from === 100) await meanwhile();
    data(ROWS.filter(({ id }) => id > from).slice(0, 100))(asked, response);
  };

const LIST = ['patients', 'list', '--fields', 'id,lastName', '--page-size', '100', '--max-retries', '0'];
const listTo = (folder: string, out: string, answering = serving()) =>
  molarIn(folder, [...LIST, '--out', out], connection(server.open(answering)));

describe('a target that is', () => {
  const LINKS: readonly (readonly [string, string, string])[] = [
    ['a link to a file', 'behind.csv', 'behind.csv'],
    ['a dangling link', 'not-yet.csv', 'not-yet.csv'],
    ['a link to a file in a folder', 'deep/behind.csv', 'deep/behind.csv'],
  ];
  test.each(LINKS)('%s stays a link, and what it leads to is written', async (name, to, written) => {
    const folder = await place.folderOf(name);
    await mkdir(join(folder, 'deep'));
    if (!name.includes('dangling')) await writeFile(join(folder, to), 'before\n');
    await symlink(to, join(folder, 'all.csv'));
    const ended = await listTo(folder, 'all.csv');
    expect([ended.code, ended.stdout]).toEqual([0, '']);
    expect(await readlink(join(folder, 'all.csv'))).toBe(to);
    expect(await readFile(join(folder, written), 'utf8')).toBe(WHOLE);
  });

  const REFUSED: readonly (readonly [string, (path: string) => Promise<unknown>, RegExp])[] = [
    ['a folder', (path) => mkdir(path), /it is a folder/],
    ['a link to a folder', (path) => symlink('.', path), /it is a folder/],
    ['a link to itself', (path) => symlink('all.csv', path), /too many symbolic links/],
    ['a pipe', (path) => run('mkfifo', [path]), /not a regular file/],
    ['a link to a device', (path) => symlink('/dev/full', path), /not a regular file/],
    ['a link into a folder that is missing', (path) => symlink('none/all.csv', path), /no such file or folder/],
  ];
  test.each(REFUSED)('%s is refused before anything is asked', async (name, plant, says) => {
    const folder = await place.folderOf(name);
    await plant(join(folder, 'all.csv'));
    const url = server.open(serving());
    const ended = await molarIn(folder, [...LIST, '--out', 'all.csv'], connection(url));
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([9, '', expect.stringMatching(says)]);
    expect(server.requestsTo(url)).toEqual([]);
    expect(await readdir(folder)).toEqual(['all.csv']);
  });

  test.each(['none/all.csv', 'file/all.csv', `${'n'.repeat(300)}.csv`])(
    'at %s is refused before anything is asked',
    async (out) => {
      const folder = await place.folderOf(`place ${out.slice(0, 9)}`);
      await writeFile(join(folder, 'file'), 'mine');
      const url = server.open(serving());
      const ended = await molarIn(folder, [...LIST, '--out', out], connection(url));
      expect([ended.code, ended.stdout, ended.stderr]).toEqual([9, '', expect.stringMatching(/^Error: Cannot write/)]);
      expect(server.requestsTo(url)).toEqual([]);
      expect(await readdir(folder)).toEqual(['file']);
    },
  );
});

describe('a target that changes while it is written', () => {
  const PLANTED: readonly (readonly [string, (folder: string) => Promise<unknown>])[] = [
    ['its folder vanishes', (folder) => rm(join(folder, 'to'), { recursive: true })],
    ['its part vanishes', (folder) => rm(join(folder, 'to/all.csv.part'))],
    [
      'its part becomes a link',
      async (folder) => {
        await rm(join(folder, 'to/all.csv.part'));
        await symlink('../victim', join(folder, 'to/all.csv.part'));
      },
    ],
    [
      'it becomes a folder',
      async (folder) => {
        await rm(join(folder, 'to/all.csv'));
        await mkdir(join(folder, 'to/all.csv/full'), { recursive: true });
      },
    ],
  ];
  test.each(PLANTED)('%s: exit 9, and nothing else is written', async (name, change) => {
    const folder = await place.folderOf(name);
    await mkdir(join(folder, 'to'));
    await writeFile(join(folder, 'to/all.csv'), 'before\n');
    await writeFile(join(folder, 'victim'), 'precious');
    const ended = await listTo(
      folder,
      'to/all.csv',
      serving(() => change(folder)),
    );
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([9, '', expect.stringMatching(/^Error: Cannot write/)]);
    expect(await readFile(join(folder, 'victim'), 'utf8')).toBe('precious');
    const there = await lstat(join(folder, 'to/all.csv')).catch(() => undefined);
    if (there?.isFile()) expect(await readFile(join(folder, 'to/all.csv'), 'utf8')).toBe('before\n');
  });
});

describe('two runs at once', () => {
  test('into one file: one writes it, the other is told who does', async () => {
    const folder = await place.folderOf('two');
    const url = server.open(serving());
    const both = await Promise.all([1, 2, 3].map(() => molar(folder, [...LIST, '--out', 'all.csv'], connection(url))));
    const codes = both.map(({ code }) => code).toSorted();
    expect(codes).toEqual(expect.arrayContaining([0]));
    for (const { code, stderr } of both) {
      expect([0, 9]).toContain(code);
      if (code === 9) expect(stderr).toMatch(/all\.csv is in use by process \d+/);
    }
    expect(await readFile(join(folder, 'all.csv'), 'utf8')).toBe(WHOLE);
    expect(await readdir(folder)).toEqual(['all.csv']);
  });

  test('of bookmarks and settings in one folder lose nothing', async () => {
    const folder = await place.folderOf('settings');
    const keys = [
      ['pageSize', '50'],
      ['maxRetries', '3'],
      ['format', 'ndjson'],
    ];
    const env = { MOLAR_CONFIG_DIR: join(folder, 'config') };
    const set = await Promise.all(keys.map((pair) => molar(folder, ['config', 'set', ...pair], env)));
    expect(set.map(({ code, stderr }) => [code, stderr.includes('Error')])).toEqual(keys.map(() => [0, false]));
    const { stdout } = await molarIn(folder, ['config', 'list', '--csv'], env);
    for (const [key, value] of keys) expect(stdout).toMatch(new RegExp(`^${key},.*${value}`, 'm'));
  });
});

// A device that is always full is there on Linux only.
if (existsSync('/dev/full')) {
  test.concurrent.each(['csv', 'json'])('a full disk under standard output ends %s with 9', async (format) => {
    const folder = await place.folderOf(`full ${format}`);
    const env = { ...process.env, ...connection(server.open(serving())) };
    const line = `"${process.execPath}" "$0" patients list --fields id,lastName --format ${format} > /dev/full`;
    const { code, stderr } = await run('sh', ['-c', line, RUN], { cwd: folder, env }).then(
      () => ({ code: 0, stderr: '' }),
      (cause: { code: number; stderr: string }) => cause,
    );
    expect([code, stderr]).toEqual([9, expect.stringMatching(/no space left on the disk/)]);
  });
}
