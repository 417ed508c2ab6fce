import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HARMFUL } from '../../cli/poison.ts';
import { molarIn } from '../inprocess.ts';
import { connection, type Served, serve, writeFixture } from '../molar.ts';
import { TestPlace } from './hostileplace.ts';

const PDF = '%PDF-1.7\n%%EOF\n';
const place = new TestPlace();
let served: Served;

beforeAll(async () => {
  await writeFixture(place.path, 3);
  served = await serve(place.path, ['--data', './d', '--import', 'fixture.ndjson']);
});
afterAll(async () => {
  await served.stop();
});

const upload = (folder: string, ...argv: readonly string[]) =>
  molarIn(folder, ['documents', 'upload', ...argv], connection(served.url));

describe('what is no file to upload', () => {
  const KINDS: readonly (readonly [string, (path: string) => Promise<unknown>, number, RegExp])[] = [
    ['a pipe', (path) => promisify(execFile)('mkfifo', [path]), 9, /is not a regular file/],
    ['a device', (path) => symlink('/dev/zero', path), 9, /is not a regular file/],
    ['a link to itself', (path) => symlink('scan.pdf', path), 9, /too many symbolic links/],
    ['a dangling link', (path) => symlink('nowhere', path), 9, /no such file or folder/],
    ['an empty file', (path) => writeFile(path, ''), 2, /scan\.pdf/],
    ['nothing', async () => undefined, 9, /no such file or folder/],
  ];
  test.each(KINDS)('%s is refused, and nothing waits for it', async (name, plant, exit, says) => {
    const folder = await place.folderOf(`kind ${name}`);
    await plant(join(folder, 'scan.pdf'));
    const ended = await upload(folder, 'scan.pdf');
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([exit, '', expect.stringMatching(says)]);
  });

  test('does not keep the others of its folder out, nor does a circle of links', async () => {
    const folder = await place.folderOf('mixed');
    await mkdir(join(folder, 'in/deep'), { recursive: true });
    await writeFile(join(folder, 'in/deep/good.pdf'), PDF);
    await symlink('..', join(folder, 'in/deep/circle'));
    await symlink('/dev/zero', join(folder, 'in/zero.pdf'));
    await promisify(execFile)('mkfifo', [join(folder, 'in/pipe.pdf')]);
    const ended = await upload(folder, 'in', '--recursive');
    expect([ended.code, ended.stderr]).toEqual([6, expect.stringMatching(/zero\.pdf is not a regular file/)]);
    const results = await readFile(join(folder, 'molar-results.csv'), 'utf8');
    expect(results).toMatch(/^in\/deep\/good\.pdf,.*,done,\d+,good\.pdf,1,$/m);
  });
});

describe('a file of a hostile name', () => {
  const NAMES = [
    'line\nbreak',
    'esc\u001b[31m',
    '=cmd()',
    '+1',
    '@x',
    '\ttab',
    "'=quoted",
    'comma, "quote"',
    '\u202efdp',
  ];

  test('is stored once, told without harm, and its results run again as a manifest', async () => {
    const folder = await place.folderOf('names');
    await mkdir(join(folder, 'in'));
    for (const [at, name] of NAMES.entries()) await writeFile(join(folder, 'in', `${name}.pdf`), `${PDF}${at}\n`);
    const first = await upload(folder, 'in');
    expect(first.stderr).not.toMatch(HARMFUL);
    const results = await readFile(join(folder, 'molar-results.csv'), 'utf8');
    expect(results).not.toMatch(/(^|,)"?[=+@\t]/m);
    const again = await upload(folder, '--manifest', 'molar-results.csv');
    expect(again.code).toBe(first.code);
    const ids = (text: string) => text.match(/,done,(\d+),/g);
    const after = await readFile(join(folder, 'molar-results.csv'), 'utf8');
    expect(ids(after)).toEqual(ids(results));
    expect((ids(results) ?? []).length).toBeGreaterThan(4);
  });
});

describe('a manifest', () => {
  const rows = 'file,name\nscan.pdf,M\u00fcller\n';
  const TEXTS: readonly (readonly [string, string | Buffer, number, RegExp])[] = [
    ['with a byte order mark and CRLF', `\ufeff${rows.replaceAll('\n', '\r\n')}`, 0, /^$/],
    ['in UTF-16', Buffer.from(`\ufeff${rows}`, 'utf16le'), 0, /^$/],
    ['in Latin-1', Buffer.from(rows, 'latin1'), 2, /UTF-8/],
    ['with a lone quote', 'file,name\nscan.pdf,a"b\n', 2, /line 2/],
    ['with a quote that stays open', 'file,name\nscan.pdf,"ab\n', 2, /line 2/],
    ['with a NUL', 'file,name\nsc\u0000an.pdf,x\n', 2, /m\.csv.*line 2/],
    ['of one line of 1 MB', `file,${'x'.repeat(1_000_000)}\n`, 2, /m\.csv/],
    ['without a column for files', 'name\nx\n', 2, /file/],
    ['with a column twice', 'file,file\nscan.pdf,scan.pdf\n', 2, /file/],
    ['of nothing', '', 2, /m\.csv/],
  ];
  test.each(TEXTS)('%s', async (name, text, exit, says) => {
    const folder = await place.folderOf(`manifest ${name}`);
    await writeFile(join(folder, 'scan.pdf'), `${PDF}${name}\n`);
    await writeFile(join(folder, 'm.csv'), text);
    const { code, stdout, stderr } = await upload(folder, '--manifest', 'm.csv');
    expect([code, stderr]).toEqual([exit, expect.stringMatching(says)]);
    // The service numbers what others of this table have called the same.
    expect(/M\u00fcller( \(\d\))?\.pdf/.test(stdout)).toBe(exit === 0);
    expect(Buffer.byteLength(stderr)).toBeLessThan(5000);
    expect((await readdir(folder)).filter((each) => /\.(lock|part)$/.test(each))).toEqual([]);
  });
});
