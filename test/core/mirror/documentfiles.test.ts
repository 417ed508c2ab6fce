import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FilesOutcome, keepFiles } from '../../../src/core/mirror/files/documentfiles.ts';
import { hasAllFiles, type KeptFile } from '../../../src/core/mirror/files/filesindex.ts';
import type { MirroredDocument } from '../../../src/core/mirror/store.ts';
import { system } from '../../../src/filesystem/system.ts';
import { replaceSystem, systemError } from '../../support/othersystem.ts';
import { DownloadServer, status } from '../documents/downloads/downloadserver.ts';

const FACTS = { organization: 'org-1', url: 'https://api.example.com', history: false, columns: {}, timezone: null };
const clock = { now: () => 0, sleep: async () => {} };
const owner = { pid: process.pid, host: 'here', clock, lifeOf: () => ({ alive: true }) };

let above: string;
let folder: string;
let server: DownloadServer;

beforeEach(async () => {
  above = await mkdtemp(join(tmpdir(), 'molar-files-'));
  folder = join(above, 'contents');
  server = new DownloadServer();
});

afterEach(() => rm(above, { recursive: true, force: true }));

/** What the mirror says of documents that the server has. */
const mirrored = (): MirroredDocument[] =>
  server.held
    .map(({ id, name, guid }) => ({ id: String(id), name, guid }))
    .toSorted((a, b) => Number(a.id) - Number(b.id));

/** Keeps the files of documents, which come in pages as from a mirror, each after something that is done before. */
function keep(
  documents: readonly MirroredDocument[] = mirrored(),
  signal?: AbortSignal,
  before = async () => {},
): Promise<FilesOutcome> {
  const page = async (after: string, limit: number) => {
    await before();
    return documents.filter(({ id }) => Number(id) > Number(after)).slice(0, limit);
  };
  const downloading = server.downloading({ fetching: server.fetching(signal && { signal }) });
  return keepFiles({ folder, owner, downloading, store: { facts: FACTS, documents: page } });
}

/** How it ended, with the messages of what failed. */
async function kept(documents?: readonly MirroredDocument[]) {
  const { failures, ...counts } = await keep(documents);
  return { ...counts, failures: failures.map(({ id, failure }) => `${id}: ${failure.message}`) };
}

const index = () => join(folder, '.molar-files.ndjson');
const contents = async () => {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((each) => each.isFile() && each.name !== '.molar-files.ndjson');
  const paths = files.map((each) => join(each.parentPath, each.name)).sort();
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path.slice(folder.length + 1), await readFile(path, 'utf8')])),
  );
};

/** An index as another run has left it. */
async function leaveIndex(...entries: readonly object[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const lines = [{ organization: 'org-1' }, ...entries].map((line) => `${JSON.stringify(line)}\n`);
  await writeFile(index(), lines.join(''));
}

const withoutContent = (id: number | string): KeptFile => {
  return { id: String(id), file: `document-${id}`, guid: null, bytes: -1, sha256: '', isAbsent: true };
};

it('documents are looked at however many there are', async () => {
  const ids = Array.from({ length: 1_001 }, (_, at) => at + 1);
  await leaveIndex(...ids.map(withoutContent));
  const documents = ids.map((id) => ({ id: String(id), name: null, guid: null }));
  expect(await kept(documents)).toEqual({ downloaded: 0, removed: 0, failures: [] });
  expect(server.requests).toEqual([]);
  expect(await hasAllFiles(folder, 1_001)).toBe(true);
});

it('a folder has all files where its index has as many as there are documents, each whole or known to have none', async () => {
  const whole = { ...withoutContent(5), isAbsent: undefined, bytes: 0 };
  await leaveIndex(whole, withoutContent(6), { ...whole, id: '7' }, { ...whole, id: '7', file: '' });
  expect(await Promise.all([1, 2, 3].map((count) => hasAllFiles(folder, count)))).toEqual([false, true, false]);
  await leaveIndex(whole, { ...whole, id: '6', bytes: -1 });
  expect([await hasAllFiles(folder, 2), await hasAllFiles(above, 0), await hasAllFiles(above, 1)]).toEqual([
    ...[false, true, false],
  ]);
});

it('a document with another content has that one, and one without any is not asked for again', async () => {
  const scan = server.add(7, 'scan.pdf', 'old');
  const form = server.add(8, 'form.pdf', 'form');
  expect(await kept()).toEqual({ downloaded: 2, removed: 0, failures: [] });
  Object.assign(scan, { content: Buffer.from('new'), guid: 'another' });
  // The same number of bytes: only the identifier tells.
  expect(await kept()).toEqual({ downloaded: 1, removed: 0, failures: [] });
  expect(await contents()).toEqual({ '7/scan.pdf': 'new', '8/form.pdf': 'form' });

  form.guid = 'third';
  server.variants = [];
  expect(await kept()).toEqual({ downloaded: 0, removed: 0, failures: [] });
  expect(await contents()).toEqual({ '7/scan.pdf': 'new' });
  expect(await hasAllFiles(folder, 2)).toBe(true);
  server.requests.length = 0;
  expect(await kept()).toEqual({ downloaded: 0, removed: 0, failures: [] });
  expect(server.requests).toEqual([]);
  // It may have one again.
  form.guid = 'fourth';
  server.variants = ['original'];
  expect(await kept()).toEqual({ downloaded: 1, removed: 0, failures: [] });
  expect(await contents()).toEqual({ '7/scan.pdf': 'new', '8/form.pdf': 'form' });
});

it('a document has no file of the name that it had before, with another content or the same', async () => {
  const form = server.add(8, 'form.pdf', 'form');
  const named = (name: string) => mirrored().map((document) => ({ ...document, name }));
  await keep();
  Object.assign(form, { content: Buffer.from('signed'), guid: 'another' });
  expect(await kept(named('signed.pdf'))).toEqual({ downloaded: 1, removed: 0, failures: [] });
  expect(await contents()).toEqual({ '8/signed.pdf': 'signed' });
  server.requests.length = 0;
  // It is known by its new name in the next run, too.
  for (let run = 0; run < 2; run++) {
    expect(await kept(named('filed.pdf'))).toEqual({ downloaded: 0, removed: 0, failures: [] });
    expect([await contents(), server.requests]).toEqual([{ '8/filed.pdf': 'signed' }, []]);
  }
});

it('a file of the name that a document had before, and that cannot be removed, is removed by a later run', async () => {
  const form = server.add(8, 'form.pdf', 'form');
  await keep();
  Object.assign(form, { content: Buffer.from('signed'), guid: 'another' });
  const named = mirrored().map((document) => ({ ...document, name: 'signed.pdf' }));
  const { rm: remove } = system;
  replaceSystem({ rm: () => Promise.reject(systemError('EACCES')) });
  expect((await kept(named)).failures).toEqual([expect.stringMatching(/^8: Cannot read .*contents.8:/)]);
  expect(await hasAllFiles(folder, 1)).toBe(false);
  replaceSystem({ rm: remove });
  expect(await kept(named)).toMatchObject({ removed: 0, failures: [] });
  expect([await contents(), await hasAllFiles(folder, 1)]).toEqual([{ '8/signed.pdf': 'signed' }, true]);
});

it('a file that cannot be removed is a failure of its document alone, until it can', async () => {
  server.add(7, 'scan.pdf', 'scan');
  const form = server.add(8, 'form.pdf', 'form');
  await keep();
  form.guid = 'another';
  server.variants = [];
  const { rm: remove } = system;
  replaceSystem({
    rm: async () => {
      throw systemError('EACCES');
    },
  });
  const { failures, ...counts } = await kept();
  expect([counts, failures]).toEqual([
    { downloaded: 0, removed: 0 },
    [expect.stringMatching(/^8: Cannot remove .*contents.8:/)],
  ]);
  expect(await hasAllFiles(folder, 2)).toBe(false);
  replaceSystem({ rm: remove });
  expect(await kept()).toEqual({ downloaded: 0, removed: 0, failures: [] });
  expect([await contents(), await hasAllFiles(folder, 2)]).toEqual([{ '7/scan.pdf': 'scan' }, true]);
});

it('a deleted document whose file cannot be removed keeps no other one', async () => {
  for (const id of [7, 8, 9]) server.add(id, 'scan.pdf', `scan ${id}`);
  await keep();
  const left = mirrored().slice(2);
  const { rm: remove } = system;
  replaceSystem({
    rm: async (path, options) => {
      if (/7$/.test(String(path))) throw systemError('EACCES');
      return remove(path, options);
    },
  });
  const { failures, ...counts } = await kept(left);
  expect([counts, failures]).toEqual([
    { downloaded: 0, removed: 1 },
    [expect.stringMatching(/^7: Cannot remove .*contents.7:/)],
  ]);
  expect(Object.keys(await contents())).toEqual(['7/scan.pdf', '9/scan.pdf']);
  expect(await hasAllFiles(folder, 1)).toBe(false);
  replaceSystem({ rm: remove });
  expect(await kept(left)).toEqual({ downloaded: 0, removed: 1, failures: [] });
  expect([Object.keys(await contents()), await hasAllFiles(folder, 1)]).toEqual([['9/scan.pdf'], true]);
});

it('a document that the service deleted meanwhile is no failure, and not there yet', async () => {
  server.add(7, 'scan.pdf', 'scan');
  const gone = { id: '9', name: 'gone.pdf', guid: 'g' };
  expect(await kept([...mirrored(), gone])).toEqual({ downloaded: 1, removed: 0, failures: [] });
  expect(await hasAllFiles(folder, 2)).toBe(false);
  expect(await kept()).toEqual({ downloaded: 0, removed: 1, failures: [] });
  expect(await hasAllFiles(folder, 1)).toBe(true);
});

it('what an interrupted run has made of a document goes with the document', async () => {
  const controller = new AbortController();
  server.add(7, 'scan.pdf', 'scan');
  server.specials = [
    () => {
      controller.abort(new Error('Interrupted.'));
      return status(503);
    },
  ];
  await expect(keep(undefined, controller.signal)).rejects.toThrow('Interrupted.');
  expect(await readdir(folder)).toContain('7');
  server.held.length = 0;
  expect(await kept()).toEqual({ downloaded: 0, removed: 1, failures: [] });
  expect(await readdir(folder)).toEqual(['.molar-files.ndjson']);
});

it('a folder is of one run at a time', async () => {
  server.add(7, 'scan.pdf', 'scan');
  const refused = { exitCode: 9, message: expect.stringContaining('The folder') };
  const first = keep(undefined, undefined, () => expect(keep()).rejects.toMatchObject(refused));
  expect(await first).toEqual({ downloaded: 1, removed: 0, failures: [] });
  expect(await kept()).toEqual({ downloaded: 0, removed: 0, failures: [] });
  expect(await readdir(folder)).toEqual(['.molar-files.ndjson', '7']);
});

it('where nothing comes through, the rest is not tried', async () => {
  for (let id = 1; id <= 40; id++) server.add(id, `${id}.pdf`, 'content');
  server.specials = Array.from({ length: 1_000 }, () => () => status(503));
  const { downloaded, failures } = await keep();
  expect([downloaded, failures.length]).toEqual([0, 40]);
  expect(failures.at(-1)?.failure).toMatchObject({ exitCode: 8, message: expect.stringMatching(/^Not tried: /) });
  expect(new Set(server.fileRequests.map(({ url }) => url.replace(/.*\//, ''))).size).toBeLessThan(20);
  server.specials = [];
  expect(await kept()).toEqual({ downloaded: 40, removed: 0, failures: [] });
});

describe('an index', () => {
  it.each(['../precious', '..', '.', '', 'x', '-1', '7/..', '12345678901234567890'])(
    'does not lead a run out of its folder by the id %j',
    async (id) => {
      const precious = join(above, 'precious');
      await mkdir(precious);
      await writeFile(join(precious, 'file'), 'mine');
      await leaveIndex({ ...withoutContent(5), id }, withoutContent(5));
      expect(await kept([])).toEqual({ downloaded: 0, removed: 1, failures: [] });
      expect([await readdir(above), await readFile(join(precious, 'file'), 'utf8')]).toEqual([
        ['contents', 'precious'],
        'mine',
      ]);
    },
  );

  it.each<[string, object]>([
    ['a name that leads elsewhere', { file: '../scan.pdf' }],
    ['a size that is text', { bytes: '4' }],
    ['no hash', { sha256: null }],
    ['an identifier that is a number', { guid: 7 }],
    ['another size', { bytes: 3 }],
  ])('is not believed where it has %s: the file is fetched', async (_, wrong) => {
    server.add(7, 'scan.pdf', 'scan');
    await keep();
    const [, line = ''] = (await readFile(index(), 'utf8')).split('\n');
    await leaveIndex({ ...JSON.parse(line), ...wrong });
    expect(await kept()).toEqual({ downloaded: 1, removed: 0, failures: [] });
    expect([await contents(), await hasAllFiles(folder, 1)]).toEqual([{ '7/scan.pdf': 'scan' }, true]);
  });
});
