import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_CONTENT } from '../../../../src/core/documents/content/source.ts';
import { readLayouts } from '../../../../src/core/documents/layouts/layouts.ts';
import { prepareUploads, runFiles, type UploadOrder } from '../../../../src/core/documents/uploads/uploadprepare.ts';
import type { LockOwner } from '../../../../src/core/lockfile.ts';
import { bytes } from '../fakeserver.ts';
import { SAMPLES } from '../samples.ts';

describe('the files of a run', () => {
  it('stand beside its results', () => {
    expect(runFiles('/data/out.csv')).toMatchObject({
      results: '/data/out.csv',
      journal: '/data/out.csv.journal',
      lock: '/data/out.csv.lock',
    });
  });

  it.each<[string, boolean]>([
    ['/data/out.csv', true],
    ['/data/out.csv.part', true],
    ['/data/out.12.csv', true],
    ['/data/out.csv.journal', true],
    ['/data/out.csv.journal.part', true],
    ['/data/out.csv.lock', true],
    ['/data/out.csv.lock.4f1c-9', true],
    ['/data/out.1.csv.part', true],
    ['/data/out.csv.lock.', false],
    ['/data/out.csv.part.pdf', false],
    ['/data/out.csv.parts', false],
    ['/data/out.1.2.csv', false],
    ['/data/out.1a.csv', false],
    ['/data/out.csv.journalx', false],
    ['/data/out', false],
    ['/data/more/out.csv', false],
    ['/data/out.pdf', false],
    ['/data/out.csv.pdf', false],
    ['/data/out.a.csv', false],
    ['/data/outer.csv', false],
    ['/data/my out.csv', false],
    ['/data/abc.csv', false],
  ])('%s: %s', (path, own) => {
    expect(runFiles('/data/out.csv').isOwn(path)).toBe(own);
  });

  it.each<[string, boolean]>([
    ['/data/results', true],
    ['/data/results.1', true],
    ['/data/results.lock', true],
    ['/data/results.pdf', false],
    ['/data/results1', false],
    ['/data/results.', false],
  ])('without an extension: %s: %s', (path, own) => {
    expect(runFiles('/data/results').isOwn(path)).toBe(own);
  });
});

describe('preparing uploads', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const owner: LockOwner = {
    pid: 7,
    host: 'desk',
    clock: { now: () => 0, sleep: async () => undefined },
    lifeOf: () => ({ alive: true }),
  };
  const prepare = (order: Partial<UploadOrder>) =>
    prepareUploads({
      paths: [],
      defaults: {},
      folder,
      results: 'results.csv',
      organization: 'org-1',
      patients: () => Promise.reject(new Error('patients were looked up')),
      stdin: bytes('no stdin'),
      temporaryFolder: folder,
      ...order,
    });
  const pdf = async (...names: readonly string[]) => {
    for (const name of names) await writeFile(join(folder, name), SAMPLES.PDF);
  };
  const names = async () => (await readdir(folder)).sort();

  it('checks what is asked for, with the files of the run beside its results', async () => {
    await pdf('a.pdf');
    const prepared = await prepare({ paths: ['a.pdf'], defaults: { patient: '5' } });
    expect(prepared).toMatchObject({
      plan: [{ kind: 'ready', row: { file: 'a.pdf', patient: '5' }, upload: { storedName: 'a.pdf' } }],
      notes: [],
      single: true,
      results: 'results.csv',
      files: { results: join(folder, 'results.csv'), journal: join(folder, 'results.csv.journal') },
      earlier: [],
    });
    expect(prepared).not.toHaveProperty('review');
    expect(await names()).toEqual(['a.pdf']);
    await prepared.dispose();
  });

  it('says what was left out and what an earlier run did', async () => {
    await pdf('a.pdf');
    await mkdir(join(folder, 'empty'));
    await writeFile(join(folder, 'm.csv'), 'file,status,id\na.pdf,done,7\n');
    expect((await prepare({ manifest: 'm.csv' })).notes).toEqual([
      '1 file done in an earlier run, not uploaded again.',
    ]);
    expect((await prepare({ paths: ['empty'] })).notes).toEqual(['empty: no files in it.']);
  });

  it('holds the lock on the results until it is disposed of, which can be done again', async () => {
    await pdf('a.pdf');
    const prepared = await prepare({ paths: ['a.pdf'], owner });
    expect(await names()).toEqual(['a.pdf', 'results.csv.lock']);
    await expect(prepare({ paths: ['a.pdf'], owner })).rejects.toMatchObject({
      exitCode: 9,
      message: expect.stringMatching(/^results\.csv is in use by process 7 /),
    });
    expect(await names()).toEqual(['a.pdf', 'results.csv.lock']);
    await prepared.dispose();
    await prepared.dispose();
    expect(await names()).toEqual(['a.pdf']);
  });

  it.each<[string, Partial<UploadOrder>, number]>([
    ['nothing is asked for', {}, 2],
    ['the manifest is missing', { manifest: 'm.csv' }, 9],
    ['the results are another file', { paths: ['a.pdf'], results: 'a.pdf' }, 2],
    [
      'the review file is another file',
      { paths: ['scans'], layouts: readLayouts(['{id}/{name}']), review: 'a.pdf' },
      2,
    ],
  ])('holds no lock where %s', async (_name, order, exitCode) => {
    await pdf('a.pdf');
    await mkdir(join(folder, 'scans'));
    await pdf('scans/b.pdf');
    await expect(prepare({ ...order, isReviewed: true, owner })).rejects.toMatchObject({ exitCode });
    expect(await names()).toEqual(['a.pdf', 'scans']);
  });

  it('refuses results that are a folder before it locks them', async () => {
    await mkdir(join(folder, 'results.csv'));
    await pdf('a.pdf');
    await expect(prepare({ paths: ['a.pdf'], owner })).rejects.toMatchObject({
      exitCode: 9,
      message: 'Cannot write results.csv: it is a folder.',
    });
    expect(await names()).toEqual(['a.pdf', 'results.csv']);
  });

  it('takes stdin as a document, and frees it in the end', async () => {
    const spooled: number[] = [];
    const order = { paths: ['-'], defaults: { name: 'a' }, onSpooled: (size: number) => void spooled.push(size) };
    const prepared = await prepare({ ...order, stdin: bytes(SAMPLES.PDF, 'more') });
    expect(prepared.plan).toMatchObject([{ kind: 'ready', upload: { source: { label: '-', size: 24 } } }]);
    expect(spooled).toEqual([20, 4]);
    expect(await names()).toEqual([]);
    const [planned] = prepared.plan;
    if (planned?.kind !== 'ready') throw new Error('not ready');
    const reader = await planned.upload.source.open();
    expect(await reader.read(Buffer.alloc(30), 0)).toBe(24);
    await prepared.dispose();
    await expect(reader.read(Buffer.alloc(30), 0)).rejects.toThrow();
  });

  it('takes as much of stdin as a document may have', async () => {
    const most = async function* (more: number) {
      for (let sent = 0; sent < MAX_CONTENT; sent += 1024 * 1024)
        yield sent === 0
          ? Buffer.concat([SAMPLES.PDF, Buffer.alloc(1024 * 1024 - 20 + more)])
          : Buffer.alloc(1024 * 1024);
    };
    const asked = { paths: ['-'], defaults: { name: 'a' } };
    const prepared = await prepare({ ...asked, stdin: most(0) });
    expect(prepared.plan).toMatchObject([{ kind: 'ready' }]);
    await prepared.dispose();
    expect((await prepare({ ...asked, stdin: most(1) })).plan).toMatchObject([
      { kind: 'refused', failure: { exitCode: 2, message: expect.stringContaining('at most 50 MiB') } },
    ]);
  });

  it('knows what the results of an earlier run say, and which of them are from elsewhere', async () => {
    await pdf('a.pdf', 'b.pdf', 'c.pdf');
    const table = 'file,status,id,attempts\na.pdf,failed,,2\nb.pdf,done,7,1\n';
    await writeFile(join(folder, 'results.csv'), table);
    await writeFile(join(folder, 'other.csv'), 'file,status,attempts\na.pdf,unknown,4\nb.pdf,,\nc.pdf,,\n');
    const earlierOf = async (order: Partial<UploadOrder>) =>
      (await prepare(order)).plan.map(({ row: { earlier } }) => earlier);
    const failed = { status: 'failed', attempts: 2 };
    const mayBe = { status: 'unknown', id: '7', attempts: 1 };
    expect(await earlierOf({ paths: ['a.pdf', 'b.pdf', 'c.pdf'] })).toEqual([failed, mayBe, undefined]);
    expect(await earlierOf({ manifest: 'results.csv' })).toEqual([failed, { ...mayBe, status: 'done' }]);
    expect(await earlierOf({ manifest: resolve(folder, 'results.csv') })).toEqual([
      failed,
      { ...mayBe, status: 'done' },
    ]);
    expect(await earlierOf({ manifest: 'other.csv' })).toEqual([
      { status: 'unknown', attempts: 4, elsewhere: true },
      mayBe,
      undefined,
    ]);
    const { earlier } = await prepare({ paths: ['c.pdf'] });
    expect(earlier.map(({ file }) => file)).toEqual(['a.pdf', 'b.pdf']);
  });

  describe('with files for review', () => {
    const layouts = readLayouts(['{id}/{name}']);
    const order = { paths: ['scans'], layouts, isReviewed: true, results: 'scans/results.csv', review: 'scans/r.csv' };
    beforeEach(async () => {
      await mkdir(join(folder, 'scans'));
      await pdf('scans/b.pdf');
    });

    it('writes them into the review file, which is none of the files itself', async () => {
      for (let round = 0; round < 2; round++) {
        const prepared = await prepare(order);
        expect(prepared).toMatchObject({ plan: [{ kind: 'refused' }], review: 'scans/r.csv', notes: [] });
        expect(prepared.plan).toHaveLength(1);
      }
      expect((await readFile(join(folder, 'scans', 'r.csv'), 'utf8')).split('\n')[1]).toMatch(/^scans.b\.pdf,/);
      await writeFile(join(folder, 'scans', 'results.csv'), 'file,status\n');
      expect((await prepare(order)).plan).toHaveLength(1);
    });

    it('has no review file where no file is for review', async () => {
      await prepare(order);
      const { layouts: _, ...plain } = order;
      const prepared = await prepare({ ...plain, paths: ['scans/b.pdf'] });
      expect(prepared).not.toHaveProperty('review');
      expect((await readdir(join(folder, 'scans'))).sort()).toEqual(['b.pdf']);
    });

    it('says where a review file with patients filled in is now', async () => {
      const filledIn = 'file,patient,candidates\nscans/b.pdf,5,\n';
      await writeFile(join(folder, 'scans', 'r.csv'), filledIn);
      expect((await prepare(order)).notes).toEqual(['scans/r.csv had patients filled in; it is r.1.csv now.']);
      expect(await readFile(join(folder, 'scans', 'r.1.csv'), 'utf8')).toBe(filledIn);
    });

    it('has none of its own where none is asked for', async () => {
      await writeFile(join(folder, 'm.csv'), 'file,candidates\nscans/b.pdf,5\n');
      const prepared = await prepare({ manifest: 'm.csv' });
      expect(prepared.plan).toMatchObject([{ kind: 'refused', row: { review: { candidates: ['5'] } } }]);
      expect(prepared).not.toHaveProperty('review');
      expect((await prepare({ paths: ['scans'] })).plan).toMatchObject([{ kind: 'ready' }]);
    });

    it('has one where some files are for review', async () => {
      await pdf('scans/c.pdf');
      await writeFile(join(folder, 'm.csv'), 'file,patient,candidates\nscans/b.pdf,,5\nscans/c.pdf,5,\n');
      const prepared = await prepare({ manifest: 'm.csv', review: 'r.csv' });
      expect(prepared).toMatchObject({ plan: [{ kind: 'refused' }, { kind: 'ready' }], review: 'r.csv' });
    });

    it('looks its patients up where their path tells who they are', async () => {
      await mkdir(join(folder, 'scans', '5'));
      await pdf('scans/5/c.pdf');
      await expect(prepare(order)).rejects.toThrow('patients were looked up');
    });
  });

  it('ends at once when it is interrupted', async () => {
    await pdf('a.pdf');
    const signal = AbortSignal.abort(new Error('interrupted'));
    await expect(prepare({ paths: ['a.pdf'], signal, owner })).rejects.toThrow('interrupted');
    expect(await names()).toEqual(['a.pdf']);
  });
});
