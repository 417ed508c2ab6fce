import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  moveAside,
  moveUnfinished,
  readEarlierResults,
  resultsFile,
  withEarlier,
} from '../../../../src/core/documents/uploads/resultsfile.ts';
import type { UploadOutcome } from '../../../../src/core/documents/uploads/uploadrow.ts';
import { system } from '../../../../src/filesystem/system.ts';
import { need, OWNER_ONLY } from '../../../support/capabilities.ts';
import { replaceSystem } from '../../../support/othersystem.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  path = join(folder, 'results.csv');
});
afterEach(() => rm(folder, { recursive: true }));

const pending: UploadOutcome = {
  status: 'pending',
  id: null,
  storedName: null,
  attempts: 0,
  error: null,
  exitCode: 130,
};
const done: UploadOutcome = { ...pending, status: 'done', id: '7', storedName: 'a.pdf', attempts: 1, exitCode: 0 };
const HEADER = 'file,name,patient,perioExam,tags,mimeType,status,id,storedName,attempts,error\n';

describe('the results file of a run', () => {
  it('is whole at any moment, for its owner only, and written again at most once a second', async () => {
    let now = 0;
    const rows = ['a.pdf', 'b.pdf'].map((file) => ({ row: { file, tags: [] }, outcome: pending }));
    const file = resultsFile(path, rows, () => now);
    await file.write();
    expect(await readFile(path, 'utf8')).toBe(`${HEADER}a.pdf,,,,,,pending,,,0,\nb.pdf,,,,,,pending,,,0,\n`);
    expect((await stat(path)).mode & 0o777).toBe(OWNER_ONLY.file);
    now = 999;
    await file.settled(0, done);
    expect(await readFile(path, 'utf8')).toContain('a.pdf,,,,,,pending');
    now = 1000;
    await file.settled(1, { ...done, id: '8' });
    expect(await readFile(path, 'utf8')).toBe(`${HEADER}a.pdf,,,,,,done,7,a.pdf,1,\nb.pdf,,,,,,done,8,a.pdf,1,\n`);
    expect(await readdir(folder)).toEqual(['results.csv']);
  });

  it('is written in order when many files end at once', async () => {
    let now = 0;
    const rows = Array.from({ length: 20 }, (_, index) => ({ row: { file: `${index}`, tags: [] }, outcome: pending }));
    const file = resultsFile(path, rows, () => (now += 2000));
    await Promise.all(rows.map((_, index) => file.settled(index, done)));
    expect((await readFile(path, 'utf8')).match(/,done,/g)).toHaveLength(20);
  });

  it('is written again a second after its last write, not after the one before', async () => {
    let now = 0;
    const rows = ['a', 'b', 'c', 'd'].map((file) => ({ row: { file, tags: [] }, outcome: pending }));
    const file = resultsFile(path, rows, () => now);
    const counts: number[] = [];
    for (const [index, at] of [0, 1500, 2499, 2500].entries()) {
      now = at;
      await file.settled(index, done);
      counts.push((await readFile(path, 'utf8')).match(/,done,/g)?.length ?? 0);
    }
    expect(counts).toEqual([1, 2, 2, 4]);
  });

  it('takes no notice of a row that there is not, nor changes the rows that it was given', async () => {
    const rows = [{ row: { file: 'a.pdf', tags: [] }, outcome: pending }];
    const file = resultsFile(path, rows, () => 0);
    await file.settled(1, done);
    await file.settled(0, done);
    await file.write();
    expect(await readFile(path, 'utf8')).toBe(`${HEADER}a.pdf,,,,,,done,7,a.pdf,1,\n`);
    expect(rows[0]?.outcome).toBe(pending);
  });

  it('is written whole after a write that failed', async () => {
    const file = resultsFile(path, [{ row: { file: 'a.pdf', tags: [] }, outcome: pending }], () => 0);
    await mkdir(path);
    await expect(file.write()).rejects.toMatchObject({ exitCode: 9 });
    await rm(path, { recursive: true });
    await file.settled(0, done);
    await file.write();
    expect(await readFile(path, 'utf8')).toContain('a.pdf,,,,,,done');
  });

  it('has one write after another, the last with all', async () => {
    const { rename } = system;
    const rows = [{ row: { file: 'a.pdf', tags: [] }, outcome: pending }];
    const file = resultsFile(path, rows, () => 0);
    let running = 0;
    replaceSystem({
      rename: async (from, to) => {
        expect(++running).toBe(1);
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
        await rename(from, to);
        running--;
      },
    });
    const writes = [file.write(), file.write()];
    await file.settled(0, done);
    await Promise.all([...writes, file.write()]);
    expect(await readFile(path, 'utf8')).toContain('a.pdf,,,,,,done');
  });

  it('fails with exit code 9 where it cannot be written', async () => {
    const file = resultsFile(join(folder, 'missing', 'r.csv'), [], () => 0);
    await expect(file.write()).rejects.toMatchObject({ exitCode: 9 });
  });
});

describe('results of an earlier run', () => {
  it('are none where there is no file, or an empty one', async () => {
    expect(await readEarlierResults(path, 'results.csv')).toEqual([]);
    await writeFile(path, '');
    expect(await readEarlierResults(path, 'results.csv')).toEqual([]);
  });

  it.each([
    ['a manifest', 'file,patient\na.pdf,5\n'],
    ['something else', 'name;price\nx;5\n'],
    ['no text', Buffer.from([0xff, 0xfe, 0])],
  ])('are not taken from %s, which would be overwritten', async (_, content) => {
    await writeFile(path, content);
    await expect(readEarlierResults(path, 'results.csv')).rejects.toMatchObject({
      message: 'results.csv exists and is not a results file; it would be overwritten.',
      exitCode: 2,
    });
  });

  it('are none where no file is in them', async () => {
    await writeFile(path, HEADER);
    expect(await readEarlierResults(path, 'results.csv')).toEqual([]);
  });

  it('are not taken from a file of which one row has no outcome', async () => {
    await writeFile(path, 'file,status\na.pdf,failed\nb.pdf,\n');
    await expect(readEarlierResults(path, 'results.csv')).rejects.toMatchObject({
      exitCode: 2,
      items: [expect.objectContaining({ source: '--results' })],
    });
  });

  it('cannot be read from a folder', async () => {
    await mkdir(path);
    await expect(readEarlierResults(path, 'results.csv')).rejects.toMatchObject({
      exitCode: 9,
      message: expect.stringMatching(/^Cannot read results\.csv: /),
    });
  });

  it('tell a row where to look, but not that it is done', () => {
    const earlier = { status: 'done', id: '7', attempts: 1 } as const;
    const results = [
      { file: 'a.pdf', patient: '5', tags: [], earlier },
      { file: 'b.pdf', patient: '5', tags: [], earlier: { status: 'failed', attempts: 2 } as const },
    ];
    const rows = [
      { file: 'a.pdf', patient: '5', tags: ['new'] },
      { file: 'a.pdf', patient: '6', tags: [] },
      { file: 'b.pdf', patient: '5', tags: [], earlier },
      { file: 'b.pdf', patient: '5', tags: [] },
    ];
    expect(withEarlier(rows, results).map((row) => row.earlier)).toEqual([
      { status: 'unknown', id: '7', attempts: 1 },
      undefined,
      earlier,
      { status: 'failed', attempts: 2 },
    ]);
  });

  it('are kept aside while they hold files that are not done and not in this run', async () => {
    const failed = { file: 'a.pdf', tags: [], earlier: { status: 'failed', attempts: 0 } as const };
    await writeFile(path, 'first');
    await writeFile(join(folder, 'results.1.csv'), 'there');
    expect(await moveUnfinished(path, [failed, failed], [{ file: 'a.pdf', tags: [] }])).toBeUndefined();
    expect(await moveUnfinished(path, [failed], [])).toBeUndefined();
    const done = { ...failed, earlier: { status: 'done', attempts: 1 } as const };
    expect(await moveUnfinished(path, [done, done], [])).toBeUndefined();
    expect(await moveUnfinished(path, [failed, failed], [{ file: 'b.pdf', tags: [] }])).toEqual({
      path: join(folder, 'results.2.csv'),
      files: 2,
    });
    expect((await readdir(folder)).sort()).toEqual(['results.1.csv', 'results.2.csv']);
  });

  it('are of the same file where it was for review, and its patient is known now', async () => {
    const earlier = { status: 'failed', attempts: 0 } as const;
    const reviewed = { file: 'a.pdf', patient: '?', tags: [], earlier };
    await writeFile(path, 'first');
    expect(
      await moveUnfinished(path, [reviewed, reviewed], [{ file: 'a.pdf', patient: '5', tags: [] }]),
    ).toBeUndefined();
    expect(
      await moveUnfinished(
        path,
        [reviewed, { ...reviewed, file: 'b.pdf' }, { ...reviewed, patient: '6' }],
        [{ file: 'a.pdf', patient: '5', tags: [] }],
      ),
    ).toEqual({ path: join(folder, 'results.1.csv'), files: 2 });
  });
});

describe('a file that is moved aside', () => {
  it('has the first name that is free', async () => {
    const names = async () => (await readdir(folder)).sort();
    for (const name of ['results.csv', 'results.2.csv', 'plain', 'a.b.csv']) await writeFile(join(folder, name), name);
    expect(await moveAside(path)).toBe(join(folder, 'results.1.csv'));
    await writeFile(path, 'again');
    expect(await moveAside(path)).toBe(join(folder, 'results.3.csv'));
    expect(await moveAside(join(folder, 'plain'))).toBe(join(folder, 'plain.1'));
    expect(await moveAside(join(folder, 'a.b.csv'))).toBe(join(folder, 'a.b.1.csv'));
    expect(await names()).toEqual(['a.b.1.csv', 'plain.1', 'results.1.csv', 'results.2.csv', 'results.3.csv']);
    expect(await readFile(join(folder, 'results.2.csv'), 'utf8')).toBe('results.2.csv');
  });

  it('takes no name that a link has, wherever it leads', async (context) => {
    need(context, 'symlinks');
    await writeFile(path, 'first');
    await symlink('gone', join(folder, 'results.1.csv'));
    expect(await moveAside(path)).toBe(join(folder, 'results.2.csv'));
  });

  it('stays where no name beside it can be one, such as one that is too long', async () => {
    const long = join(folder, `${'a'.repeat(250)}.csv`);
    await writeFile(long, 'mine');
    await expect(moveAside(long)).rejects.toMatchObject({
      exitCode: 9,
      message: expect.stringMatching(/^Cannot rename /),
    });
    expect(await readFile(long, 'utf8')).toBe('mine');
  });

  it('stays where it cannot be moved: exit code 9', async () => {
    await expect(moveAside(path)).rejects.toMatchObject({
      exitCode: 9,
      message: `Cannot rename ${path}: no such file or folder.`,
    });
  });
});
