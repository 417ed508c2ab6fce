import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DownloadTarget, downloadAll, failureOfDownloads } from '../../../src/core/documents/downloadall.ts';
import { type Downloading, downloadInto, getDocument } from '../../../src/core/documents/downloadfile.ts';
import { ConnectionFailure } from '../../../src/core/transport/send.ts';
import { bytes, FakeServer, sha256 } from './fakeserver.ts';

let folder: string;
let server: FakeServer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  server = new FakeServer();
});
afterEach(() => rm(folder, { recursive: true }));

const downloading = (more: Partial<Downloading> = {}): Downloading => ({
  client: server.client(),
  fetching: server.fetching(),
  variant: 'original',
  ...more,
});

async function download(ids: readonly number[], target: Partial<DownloadTarget> = {}, more: Partial<Downloading> = {}) {
  const results = await downloadAll(ids.map(String), { folder, force: false, ...target }, downloading(more), 2);
  return results.map((result) => ('file' in result ? result.file : [result.failure.exitCode, result.failure.message]));
}

const content = Buffer.from('the content');
const cut = async function* () {
  yield content.subarray(0, 4);
  throw new ConnectionFailure('The connection was cut.', { sent: true });
};
const length = String(content.length);

describe('downloading documents', () => {
  it('writes each to its name, for its owner only, and says what came', async () => {
    const one = server.add('scan.pdf', 'ownerPatient:5', content);
    const two = server.add('Photo (1).jpeg', 'ownerPatient:5', '');
    expect(await download([two.id, one.id], { dir: 'new/folder' })).toEqual([
      { id: String(two.id), name: 'Photo (1).jpeg', file: 'new/folder/Photo (1).jpeg', bytes: 0, sha256: sha256('') },
      { id: String(one.id), name: 'scan.pdf', file: 'new/folder/scan.pdf', bytes: 11, sha256: sha256(content) },
    ]);
    expect(await readFile(join(folder, 'new/folder/scan.pdf'))).toEqual(content);
    expect((await stat(join(folder, 'new/folder/scan.pdf'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'new'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(folder, 'new/folder'))).toHaveLength(2);
  });

  it('never sends the token to a download link', async () => {
    const { id } = server.add('scan.pdf', 'ownerPatient:5', content);
    await download([id]);
    const links = server.requests.filter(({ url }) => url.includes('/files/'));
    expect(links.map(({ headers }) => headers)).toEqual([{ accept: '*/*', 'accept-encoding': 'identity' }]);
  });

  it('gives documents of the same name their ids, whatever the letter case', async () => {
    const ids = ['5', '6', '7'].map(
      (owner) => server.add(owner === '6' ? 'SCAN.pdf' : 'scan.pdf', `ownerPatient:${owner}`, owner).id,
    );
    const files = await download(ids);
    expect(files.map((file) => 'file' in file && file.file)).toEqual([
      'scan.pdf',
      `SCAN [${ids[1]}].pdf`,
      `scan [${ids[2]}].pdf`,
    ]);
  });

  it('stays in the folder whatever the server says', async () => {
    const { id } = server.add('../../escape.pdf', 'ownerPatient:5', content);
    expect(await download([id])).toMatchObject([{ file: '___.._escape.pdf' }]);
    expect(await readdir(folder)).toEqual(['___.._escape.pdf']);
  });

  it('marks what is not the original, and says what a document has', async () => {
    const { id } = server.add('scan.pdf', 'ownerPatient:5', content);
    expect(await download([id], {}, { variant: 'thumbnail' })).toEqual([
      [4, `Document ${id} has no thumbnail, only: original.`],
    ]);
  });

  it.each([
    ['a cut connection', [() => ({ status: 200, headers: { 'content-length': length }, body: cut() })]],
    ['a short body', [() => ({ status: 200, headers: { 'content-length': length }, body: bytes('the') })]],
    ['a long body', [() => ({ status: 200, headers: { 'content-length': '3' }, body: bytes('the content') })]],
    [
      'a failing server',
      [500, 503, 429].map((status) => () => ({ status, headers: { 'retry-after': '0' }, body: bytes('') })),
    ],
    ['an expired link', [() => ({ status: 403, headers: {}, body: bytes('expired') })]],
  ])('comes through %s', async (_, answers) => {
    const { id } = server.add('scan.pdf', 'ownerPatient:5', content);
    server.downloads = [...answers];
    expect(await download([id])).toMatchObject([{ bytes: 11, sha256: sha256(content) }]);
    expect(await readdir(folder)).toEqual(['scan.pdf']);
  });

  it.each([
    [
      'a link that stays expired',
      2,
      () => ({ status: 403, headers: {}, body: bytes('') }),
      3,
      'The server refused its own download link (HTTP 403).',
    ],
    [
      'a redirect',
      1,
      () => ({ status: 302, headers: { location: 'https://elsewhere.example.com/' }, body: bytes('') }),
      8,
      'The download link redirects (HTTP 302).',
    ],
    [
      'a file that is gone',
      1,
      () => ({ status: 404, headers: {}, body: bytes('') }),
      4,
      'The server did not give the file (HTTP 404).',
    ],
    [
      'a body that is always short',
      6,
      () => ({ status: 200, headers: { 'content-length': length }, body: bytes('the') }),
      8,
      'The download ended after 3 of 11 bytes.',
    ],
  ] as const)('fails for %s and leaves nothing', async (_, times, answer, exitCode, message) => {
    const { id } = server.add('scan.pdf', 'ownerPatient:5', content);
    server.downloads = Array.from({ length: times }, () => answer);
    expect(await download([id])).toEqual([[exitCode, message]]);
    expect(server.downloads).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    [
      'http://elsewhere.example.com/files/1',
      'The download link points to http://elsewhere.example.com, which is neither the server itself nor https.',
    ],
    [
      'http://api.example.com/files/1',
      'The download link points to http://api.example.com, which is neither the server itself nor https.',
    ],
    ['file:///etc/passwd', 'The download link points to file://, which is neither the server itself nor https.'],
    [
      'https://user:secret@api.example.com/files/1',
      'The download link points to https://api.example.com, which is neither the server itself nor https.',
    ],
    ['/files/1', 'The server gave no download link for this file.'],
  ])('does not follow %s', async (original, message) => {
    const { id } = server.add('scan.pdf', 'ownerPatient:5', content);
    const send = server.send;
    const body = JSON.stringify({ data: { id, name: 'scan.pdf', storage: { original } }, warnings: [], errors: [] });
    Object.assign(server, { send: () => Promise.resolve({ status: 200, headers: {}, body: bytes(body) }) });
    expect(await download([id])).toEqual([[8, message]]);
    Object.assign(server, { send });
  });

  it('replaces a file only when told to, and never writes through a link of its name', async () => {
    const { id } = server.add('scan.pdf', 'ownerPatient:5', content);
    await writeFile(join(folder, 'scan.pdf'), 'mine');
    expect(await download([id])).toEqual([[9, 'scan.pdf exists already.']]);
    expect(await readFile(join(folder, 'scan.pdf'), 'utf8')).toBe('mine');
    expect(await download([id], { force: true })).toMatchObject([{ bytes: 11 }]);
    expect(await readFile(join(folder, 'scan.pdf'))).toEqual(content);
    await rm(join(folder, 'scan.pdf'));
    await symlink(join(folder, 'target'), join(folder, 'scan.pdf'));
    for (const force of [true, false]) {
      expect(await download([id], { force })).toEqual([[9, 'scan.pdf is a symbolic link.']]);
    }
    expect((await lstat(join(folder, 'scan.pdf'))).isSymbolicLink()).toBe(true);
    expect(await readdir(folder)).toEqual(['scan.pdf']);
  });

  it('does not replace a file that came while it was downloading', async () => {
    const { id } = server.add('scan.pdf', 'ownerPatient:5', content);
    const late = async function* () {
      await writeFile(join(folder, 'scan.pdf'), 'mine');
      yield content;
    };
    server.downloads = [() => ({ status: 200, headers: {}, body: late() })];
    expect(await download([id])).toEqual([[9, 'scan.pdf exists already.']]);
    expect(await readFile(join(folder, 'scan.pdf'), 'utf8')).toBe('mine');
    expect(await readdir(folder)).toEqual(['scan.pdf']);
  });

  it('keeps going when one is missing, and says so at the end', async () => {
    const { id } = server.add('scan.pdf', 'ownerPatient:5', content);
    const target = { folder, force: false };
    const results = await downloadAll(['404', String(id)], target, downloading(), 1);
    expect(failureOfDownloads(results)).toMatchObject({
      exitCode: 6,
      code: 'run.partial',
      message: '1 of 2 documents not downloaded.',
      items: [{ source: '404', description: 'Not found (HTTP 404): What is wrong.' }],
    });
    const missing = await downloadAll(['404', '405'], target, downloading(), 1);
    expect(failureOfDownloads(missing)).toMatchObject({ exitCode: 4, code: 'some.code' });
    expect(failureOfDownloads(missing.slice(0, 1))).toMatchObject({
      exitCode: 4,
      message: 'Not found (HTTP 404): What is wrong.',
    });
    expect(failureOfDownloads([])).toBeUndefined();
  });

  it('ends at once when it is interrupted', async () => {
    const { id } = server.add('scan.pdf', 'ownerPatient:5', content);
    const controller = new AbortController();
    const reason = new Error('interrupted');
    server.downloads = [
      () => {
        controller.abort(reason);
        return { status: 200, headers: {}, body: cut() };
      },
    ];
    const fetching = { ...server.fetching(), signal: controller.signal };
    await expect(download([id], {}, { fetching })).rejects.toBe(reason);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('downloading to a stream', () => {
  it('goes on where a cut attempt stopped', async () => {
    const { id } = server.add('scan.pdf', 'ownerPatient:5', content);
    server.downloads = [
      () => ({ status: 200, headers: { 'content-length': length }, body: cut() }),
      () => ({ status: 200, headers: { 'content-length': length }, body: bytes('the con') }),
      (whole) => ({ status: 200, headers: {}, body: bytes(...[...whole].map((byte) => Buffer.from([byte]))) }),
    ];
    const written: Uint8Array[] = [];
    const document = await getDocument(String(id), downloading());
    const received = await downloadInto(async (part) => void written.push(part), document, downloading());
    expect(Buffer.concat(written)).toEqual(content);
    expect(received).toEqual({ bytes: 11, sha256: sha256(content) });
  });
});
