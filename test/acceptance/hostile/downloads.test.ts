import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { molarHere, molarIn } from '../inprocess.ts';
import { connection } from '../molar.ts';
import { hostileServer, TestPlace } from './hostileplace.ts';
import { type Answering, type Asked, body, data, rawThenReset } from './hostileserver.ts';

const place = new TestPlace();
const server = hostileServer();
/** Another host: what it is asked for it was never to be asked with a token. */
const elsewhere = hostileServer();

const CONTENT = '%PDF-1.7 the content\n';

interface Document {
  readonly name: unknown;
  /** Its link; by default one to `file` at the server itself. */
  readonly link?: unknown;
}

/** A server of documents 1, 2, … whose files are answered by `file`. */
function documentsServer(documents: readonly Document[], file: Answering = body(CONTENT)): string {
  let url = '';
  const record = ({ name, link }: Document, at: number) => {
    const original = link === undefined ? `${url}/files/${at + 1}` : link;
    return { id: at + 1, name, guidName: `guid-${at + 1}`, storage: { original } };
  };
  const answering = (asked: Asked, response: Parameters<Answering>[1]) => {
    const { pathname, searchParams } = asked.url;
    if (pathname.startsWith('/files/')) return file(asked, response);
    const id = Number(/\/(\d+)$/.exec(pathname)?.[1] ?? 0);
    const records = documents.map(record);
    if (id > 0) return data(records[id - 1])(asked, response);
    const after = Number(searchParams.get('lastId'));
    return data(records.filter((each) => each.id > after))(asked, response);
  };
  url = server.open(answering);
  return url;
}

const folderOf = async (name: string) => {
  const folder = await place.folderOf(name);
  await mkdir(join(folder, 'in'));
  return folder;
};

const NAMES: readonly (readonly [name: unknown, file: string])[] = [
  ['../../escape.pdf', '___.._escape.pdf'],
  ['..\\..\\escape.pdf', '___.._escape.pdf'],
  ['/etc/cron.d/job', '_etc_cron.d_job'],
  ['C:\\Windows\\system.ini', 'C__Windows_system.ini'],
  ['..', 'document-1'],
  ['.', 'document-1'],
  ['', 'document-1'],
  [null, 'document-1'],
  [{ toString: 'x' }, 'document-1'],
  ['a\u0000.pdf', 'a_.pdf'],
  ['CON', '_CON'],
  ['con .pdf', '_con .pdf'],
  ['LPT9.tar.gz', '_LPT9.tar.gz'],
  ['scan.pdf. . .', 'scan.pdf'],
  ['-rf', '_rf'],
  ['--output=x', '__output=x'],
  ['.bashrc', '_bashrc'],
  ['~root', '_root'],
  ['\u202efdp.exe', '_fdp.exe'],
  ['a\u001b[31m\r\n\u0007.pdf', 'a_[31m___.pdf'],
  ['.molar-downloads.ndjson', '_molar-downloads.ndjson'],
  ['scan.pdf.part.json', 'scan.pdf.part.json_'],
  ['|mail <x> "y" *?', '_mail _x_ _y_ __'],
  ['\ud800lone', '_lone'],
];

describe('a document named', () => {
  test.each(NAMES)('%j stays in the folder', async (name, file) => {
    const folder = await folderOf(
      `named ${JSON.stringify(name)}`.slice(0, 60) + NAMES.findIndex((each) => each[0] === name),
    );
    const url = documentsServer([{ name }]);
    const argv = ['documents', 'download', '1', '--dir', join(folder, 'in'), '--json'];
    const { code, stdout, stderr } = await molarHere(argv, connection(url));
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, file: join(folder, 'in', file), status: 'downloaded' });
    expect(await readdir(folder)).toEqual(['in']);
    expect((await readdir(join(folder, 'in'))).toSorted()).toEqual(['.molar-downloads.ndjson', file].toSorted());
    expect(await readFile(join(folder, 'in', file), 'utf8')).toBe(CONTENT);
  });

  test('with 5000 characters keeps its extension', async () => {
    const folder = await folderOf('long');
    const url = documentsServer([{ name: `${'\u00e9'.repeat(5000)}.pdf` }, { name: `${'\u00e9'.repeat(5000)}.pdf` }]);
    const ended = await molarIn(folder, ['documents', 'download', '--all', '--dir', 'in'], connection(url));
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    const files = (await readdir(join(folder, 'in'))).filter((name) => name.endsWith('.pdf'));
    expect(files.map((name) => Buffer.byteLength(name) <= 240)).toEqual([true, true]);
  });

  test('like all the others gets a name of its own', async () => {
    const folder = await folderOf('alike');
    const alike = ['a.pdf', 'A.PDF', 'a.pdf ', 'a.pdf.', '\uff41.pdf', 'a [3].pdf', 'a.pdf'];
    const url = documentsServer(alike.map((name) => ({ name })));
    const ended = await molarIn(folder, ['documents', 'download', '--all', '--dir', 'in', '--json'], connection(url));
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    const files = (JSON.parse(ended.stdout) as { file: string }[]).map(({ file }) =>
      file.normalize('NFKC').toLowerCase(),
    );
    expect(new Set(files).size).toBe(alike.length);
  });
});

describe('what stands where a download would go', () => {
  const put: readonly (readonly [string, (path: string) => Promise<unknown>])[] = [
    ['a file', (path) => writeFile(path, 'mine')],
    ['an empty file', (path) => writeFile(path, '')],
    ['a folder', (path) => mkdir(path)],
    ['a link to a file', (path) => symlink(join(path, '../../victim'), path)],
    ['a dangling link', (path) => symlink('nowhere', path)],
    ['a link to itself', (path) => symlink('scan.pdf', path)],
    ['a link to a folder', (path) => symlink('..', path)],
    ['a link named as its part', (path) => symlink(join(path, '../../victim'), `${path}.part`)],
    ['a link named as the note of its part', (path) => symlink(join(path, '../../victim'), `${path}.part.json`)],
  ];

  test.each(put)('%s is neither written over nor written through', async (name, plant) => {
    const folder = await folderOf(`stands ${name}`);
    await writeFile(join(folder, 'victim'), 'precious');
    await plant(join(folder, 'in', 'scan.pdf'));
    const url = documentsServer([{ name: 'scan.pdf' }]);
    const before = await readFile(join(folder, 'in', 'scan.pdf'), 'utf8').catch(() => undefined);
    const argv = ['documents', 'download', '1', '--dir', join(folder, 'in')];
    const ended = await molarHere(argv, connection(url));
    expect(await readFile(join(folder, 'victim'), 'utf8')).toBe('precious');
    if (name.includes('part')) {
      expect([ended.code, await readFile(join(folder, 'in', 'scan.pdf'), 'utf8')]).toEqual([0, CONTENT]);
      return;
    }
    expect([ended.code, ended.stderr]).toEqual([9, expect.stringMatching(/scan\.pdf (exists already|is a )/)]);
    expect(await readFile(join(folder, 'in', 'scan.pdf'), 'utf8').catch(() => undefined)).toBe(before);
  });
});

describe('a link to', () => {
  const LINKS: readonly (readonly [string, unknown, RegExp])[] = [
    ['a file of this machine', 'file:///etc/passwd', /points to file:/],
    ['the metadata of a cloud', 'http://169.254.169.254/latest/meta-data/', /points to http:\/\/169\.254\.169\.254/],
    ['another machine without TLS', 'http://192.0.2.1:1/x', /points to http:\/\/192\.0\.2\.1:1,/],
    ['data', 'data:text/plain,x', /points to data:/],
    ['a script', 'javascript:alert(1)', /points to javascript:/],
    ['a host with a password', 'https://a:b@example.com/x', /points to https:/],
    ['nowhere', '', /no download link/],
    ['a path', '/files/1', /no download link/],
    ['a number', 5, /has no original/],
    ['an object', { href: 'https://x' }, /has no original/],
  ];
  test.each(LINKS)('%s is not followed', async (name, link, says) => {
    const folder = await folderOf(`link ${name}`);
    const url = documentsServer([{ name: 'scan.pdf', link }]);
    const ended = await molarIn(folder, ['documents', 'download', '1', '--max-retries', '0'], connection(url));
    expect([ended.code, ended.stdout]).toEqual([expect.toBeOneOf([4, 8]), '']);
    expect(ended.stderr).toMatch(says);
    expect(await readdir(folder)).toEqual(['in']);
  });

  test('another server of this machine is followed, without the token', async () => {
    const folder = await folderOf('another server');
    const files = elsewhere.open(body(CONTENT));
    const url = documentsServer([{ name: 'scan.pdf', link: `${files}/1` }]);
    const ended = await molarIn(folder, ['documents', 'download', '1'], connection(url));
    expect([ended.code, await readFile(join(folder, 'scan.pdf'), 'utf8')]).toEqual([0, CONTENT]);
    expect(elsewhere.requestsTo(files).map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test('another host carries no token, and neither does a redirect from there', async () => {
    const folder = await folderOf('another host');
    const trap = elsewhere.open(body(CONTENT));
    const turning = server.open(body('', { location: `${trap}/next`, 'set-cookie': 'a=b' }, 302));
    const url = documentsServer([{ name: 'scan.pdf', link: `${turning}/files/1` }]);
    const ended = await molarIn(folder, ['documents', 'download', '1'], connection(url));
    expect([ended.code, ended.stdout]).toEqual([8, '']);
    expect(ended.stderr).toMatch(/redirects \(HTTP 302\)/);
    expect(server.requestsTo(turning).map(({ headers }) => headers.authorization)).toEqual([undefined]);
    expect(elsewhere.requestsTo(trap)).toEqual([]);
    expect(await readdir(folder)).toEqual(['in']);
  });
});

describe('a file that', () => {
  const BYTES: readonly (readonly [string, Answering, RegExp])[] = [
    ['breaks off', rawThenReset('HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n', 'half'), /cut off/],
    ['is shorter than announced', rawThenReset('HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\nhalf'), /cut off/],
    ['comes in an encoding', body('x', { 'content-encoding': 'gzip' }), /not requested \(gzip\)/],
    [
      'has not its hash',
      body(CONTENT, { 'repr-digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:` }),
      /does not have the SHA-256/,
    ],
    ['is refused', body('', {}, 403), /refused its own download link/],
    ['redirects in circles', body('', { location: '/files/1' }, 307), /redirects/],
    ['is a part of another', body('x', { 'content-range': 'bytes 5-5/9' }, 206), /HTTP 206/],
    ['is nothing', body('', {}, 204), /HTTP 204/],
  ];
  test.each(BYTES)('%s leaves what is there as it is', async (name, file, says) => {
    const folder = await folderOf(`bytes ${name}`);
    await writeFile(join(folder, 'scan.pdf'), 'before');
    const url = documentsServer([{ name: 'scan.pdf' }], file);
    const argv = ['documents', 'download', '1', '--overwrite', '--max-retries', '0'];
    const ended = await molarIn(folder, argv, connection(url));
    expect([ended.code, ended.stdout]).toEqual([expect.toBeOneOf([3, 8]), '']);
    expect(ended.stderr).toMatch(says);
    expect(await readFile(join(folder, 'scan.pdf'), 'utf8')).toBe('before');
    expect((await readdir(folder)).filter((each) => !/^(in|scan\.pdf(\.part(\.json)?)?)$/.test(each))).toEqual([]);
  });

  test('goes into what is no folder is not asked for', async () => {
    const folder = await folderOf('no folder');
    await writeFile(join(folder, 'taken'), 'mine');
    const url = documentsServer([{ name: 'scan.pdf' }]);
    const ended = await molarIn(folder, ['documents', 'download', '1', '--dir', 'taken'], connection(url));
    expect([ended.code, ended.stderr]).toEqual([9, expect.stringMatching(/taken/)]);
    expect(server.requestsTo(url)).toEqual([]);
    expect(await readFile(join(folder, 'taken'), 'utf8')).toBe('mine');
  });
});
