import { link, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { downloadTo } from '../../../../src/core/documents/downloads/downloadfile.ts';
import { system } from '../../../../src/filesystem/system.ts';
import { need } from '../../../support/capabilities.ts';
import { replaceSystem, systemError } from '../../../support/othersystem.ts';
import { base64, CONTENT, OTHER, receiving } from '../receiving.ts';
import { cut, fileAnswer, type Held, type Special, status, whole } from './downloadserver.ts';

const at = receiving();
const { download, stored, outcome, interrupted } = at;

describe('a hash that the server tells', () => {
  it.each<[string, (content: Buffer) => Record<string, string>]>([
    ['Repr-Digest', (content) => ({ 'repr-digest': `md5=:${base64(CONTENT, 'md5')}:, sha-256=:${base64(content)}:` })],
    ['Content-Digest', (content) => ({ 'content-digest': `sha-512=:${base64(content, 'sha512')}:` })],
    ['Digest', (content) => ({ digest: `SHA-256=${base64(content)}` })],
    ['Content-MD5', (content) => ({ 'content-md5': base64(content, 'md5') })],
    ['an object store', (content) => ({ 'x-amz-checksum-sha256': base64(content) })],
    ['another object store', (content) => ({ 'x-goog-hash': `crc32c=AAAAAA==,md5=${base64(content, 'md5')}` })],
  ])('is checked: %s', async (_, headers) => {
    const lie = (it: Held) => whole(it.content, headers(OTHER));
    at.server.specials = [lie, (it) => whole(it.content, headers(it.content))];
    expect(await outcome()).toEqual(['downloaded', 1000]);
    await rm(join(at.folder, 'scan.pdf'));
    at.server.specials = Array.from({ length: 6 }, () => lie);
    expect(await outcome()).toEqual([
      8,
      expect.stringMatching(/^The downloaded content does not have the (SHA-256|SHA-512|MD5) /),
    ]);
    expect(await readdir(at.folder)).toEqual([]);
  });

  it.each<[string, Record<string, string>]>([
    ['of a part', { 'x-amz-checksum-sha256': `${base64(OTHER)}-3` }],
    ['of an unknown kind', { 'repr-digest': `sha-1=:${base64(OTHER, 'sha1')}:`, digest: 'crc32c=AAAAAA==' }],
    ['that is none', { 'content-md5': 'nothing', 'repr-digest': 'sha-256=:!:' }],
  ])('is passed over: %s', async (_, headers) => {
    at.server.extra = () => headers;
    expect(await outcome()).toEqual(['downloaded', 1000]);
  });
});

describe('a link', () => {
  it.each([400, 401, 403, 404, 410])('that has expired (%s) is asked for again', async (code) => {
    await interrupted();
    at.server.specials = [() => status(code)];
    expect(await outcome()).toEqual(['downloaded', 1000]);
    const [first, second] = at.server.fileRequests.map(({ url }) => url);
    expect(first).not.toBe(second);
    expect(at.server.ranges).toEqual(['bytes=400-', 'bytes=400-']);
  });

  it('may expire again after it gave something', async () => {
    const expired = () => status(403);
    const some: Special = (it, request) => cut(fileAnswer(it, request, at.server.extra(it)), 100);
    at.server.specials = [expired, some, expired, some, expired];
    expect(await outcome()).toEqual(['downloaded', 1000]);
  });

  it.each([
    [403, 3, 'The server refused its own download link (HTTP 403).'],
    [404, 4, 'The server did not send the file (HTTP 404).'],
    [410, 4, 'The server did not send the file (HTTP 410).'],
  ])('that stays refused (%s) is asked for once more only', async (code, exitCode, message) => {
    at.server.specials = Array.from({ length: 3 }, () => () => status(code));
    expect(await outcome()).toEqual([exitCode, message]);
    expect(at.server.specials).toHaveLength(1);
    expect(await readdir(at.folder)).toEqual([]);
  });

  it('to another host gets neither token nor organization', async () => {
    await download();
    expect(at.server.fileRequests.map(({ headers }) => headers)).toEqual([
      { accept: '*/*', 'accept-encoding': 'identity' },
    ]);
  });

  it('that redirects is not followed', async () => {
    at.server.specials = [() => status(302, { location: 'https://elsewhere.example.com/' })];
    expect(await outcome()).toEqual([8, 'The download link redirects (HTTP 302).']);
    expect(at.server.fileRequests).toHaveLength(1);
  });

  it('whose file comes in an encoding is refused', async () => {
    at.server.specials = [(it) => whole(it.content, { 'content-encoding': 'gzip' })];
    expect(await outcome()).toEqual([8, expect.stringContaining('encoding that was not requested (gzip)')]);
  });
});

it.each([
  ['downloaded from', false],
  ['asked for the same file by', true],
])('a busy host that is %s is waited for as long as it says, as often as any other', async (_, isThere) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const place = { path: join(at.folder, 'scan.pdf'), label: 'scan.pdf' };
  if (isThere) await writeFile(place.path, CONTENT);
  at.server.specials = Array.from({ length: 7 }, () => () => status(503, { 'retry-after': '7' }));
  const slept: number[] = [];
  const { clock, retry } = at.server.fetching();
  const fetching = at.server.fetching({
    clock: { ...clock, sleep: async (milliseconds) => void slept.push(milliseconds) },
    retry: { ...retry, longestWait: 60_000 },
  });
  const run = downloadTo(place, at.server.row(at.held), at.server.downloading({ fetching }), false);
  await expect(run).rejects.toMatchObject({ code: 'http.503' });
  expect(slept).toEqual(Array(5).fill(7000));
  expect(at.server.fileRequests).toHaveLength(6);
  // What waits for a host that stands still would keep the process.
  expect(vi.getTimerCount()).toBe(0);
});

describe('a file that exists', () => {
  it.each<[string, Buffer, Record<string, string>, unknown[], number]>([
    ['the same', CONTENT, {}, ['skipped', 1000], 1],
    ['the same by its hash', CONTENT, { 'repr-digest': `sha-256=:${base64(CONTENT)}:` }, ['skipped', 1000], 1],
    ['of the same size', OTHER, {}, [9, 'scan.pdf exists already.'], 1],
    [
      'of the same size, which the hash tells',
      OTHER,
      { 'repr-digest': `sha-256=:${base64(CONTENT)}:` },
      [9, 'scan.pdf exists already.'],
      1,
    ],
    ['of another size', CONTENT.subarray(1), {}, [9, 'scan.pdf exists already.'], 1],
  ])('and is %s', async (_, content, extra, expected, requests) => {
    at.server.extra = () => extra;
    await writeFile(join(at.folder, 'scan.pdf'), content);
    // What is asked for is not the link of a list that has expired.
    at.server.specials = [() => status(403)];
    expect(await outcome()).toEqual(expected);
    expect(await stored()).toEqual(content);
    expect(at.server.fileRequests).toHaveLength(1 + requests);
    expect(await readdir(at.folder)).toEqual(['scan.pdf']);
  });

  it('is replaced when told to', async () => {
    await writeFile(join(at.folder, 'scan.pdf'), 'mine');
    expect(await download(true)).toMatchObject({ status: 'downloaded' });
    expect(await stored()).toEqual(CONTENT);
  });

  it.each([
    ['', undefined],
    [' onto a disk that gives a file one name only', 'EPERM'],
  ])('is not replaced when it came while the other was downloading%s', async (_, code) => {
    if (code !== undefined) replaceSystem({ link: () => Promise.reject(systemError(code)) });
    at.server.specials = [(it) => ({ ...whole(it.content, at.server.extra(it)), body: meanwhile(it.content) })];
    expect(await outcome()).toEqual([9, 'scan.pdf exists already.']);
    expect(await readFile(join(at.folder, 'scan.pdf'), 'utf8')).toBe('mine');
    expect(await readdir(at.folder)).toEqual(['scan.pdf']);
  });

  it.each([
    [false, 'linked'],
    [true, 'renamed'],
  ])('has its name when its bytes last, and is told when its name does (overwrite: %s)', async (overwrite, named) => {
    const { sync, link: linked, rename, fsync } = system;
    const seen: string[] = [];
    replaceSystem({
      sync: async (file) => {
        await sync(file);
        seen.push(`${(await file.stat()).size} bytes synced`);
      },
      link: (from, to) => linked(from, to).then(() => void seen.push('linked')),
      rename: (from, to) => rename(from, to).then(() => void seen.push('renamed')),
      fsync: (descriptor) => fsync(descriptor).then(() => void seen.push('folder synced')),
    });
    await download(overwrite);
    // On Windows a folder cannot be synced.
    const folderSynced = process.platform === 'win32' ? [] : ['folder synced'];
    expect(seen).toEqual(['1000 bytes synced', named, ...folderSynced]);
  });

  it('loses the second name that a run left which was killed between the two', async () => {
    await download();
    await link(join(at.folder, 'scan.pdf'), join(at.folder, 'scan.pdf.part'));
    expect(await outcome()).toEqual(['skipped', 1000]);
    expect(await readdir(at.folder)).toEqual(['scan.pdf']);
    await writeFile(join(at.folder, 'scan.pdf.part'), 'mine');
    expect(await outcome()).toEqual(['skipped', 1000]);
    expect(await readdir(at.folder)).toEqual(['scan.pdf', 'scan.pdf.part']);
  });

  it('is never written through where it is a link', async (context) => {
    need(context, 'symlinks');
    await symlink(join(at.folder, 'target'), join(at.folder, 'scan.pdf'));
    for (const overwrite of [true, false])
      await expect(download(overwrite)).rejects.toMatchObject({ exitCode: 9, message: 'scan.pdf is a symbolic link.' });
    expect(await readdir(at.folder)).toEqual(['scan.pdf']);
  });

  it('is not replaced where it became a link meanwhile, even when told to', async (context) => {
    need(context, 'symlinks');
    at.server.specials = [(it) => ({ ...whole(it.content, at.server.extra(it)), body: linking(it.content) })];
    await expect(download(true)).rejects.toMatchObject({ exitCode: 9, message: 'scan.pdf is a symbolic link.' });
    expect(await readdir(at.folder)).toContain('scan.pdf');
    expect(await readlink(join(at.folder, 'scan.pdf'))).toBe('elsewhere');
  });

  async function* linking(content: Buffer): AsyncGenerator<Uint8Array> {
    await symlink('elsewhere', join(at.folder, 'scan.pdf'));
    yield content;
  }

  async function* meanwhile(content: Buffer): AsyncGenerator<Uint8Array> {
    await writeFile(join(at.folder, 'scan.pdf'), 'mine');
    yield content;
  }
});
