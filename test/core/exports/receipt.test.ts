import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { broken, success } from '../transport/script.ts';
import { bytesOf, emptyFolder, exportOf, PLAIN } from './running.ts';

const cut = () => {
  throw broken(true);
};

describe('the receipt', () => {
  const warning = { title: 'Default date filter', description: 'Only since last year.', source: 'transactionDate' };

  it('says what was exported, and keeps each warning once, that of the empty last page too', async () => {
    const path = join(await emptyFolder(), 'out.csv');
    const again = { ...warning, title: 'Deprecated parameter' };
    const { receipt, readFrom } = await exportOf(path, PLAIN, {
      pageSize: 3,
      receipt: true,
      tick: 1000,
      instead: (number) => {
        const headers = { date: 'Mon, 02 Mar 2026 11:30:00 GMT' };
        if (number === 1) return success(PLAIN.rows.slice(0, 3), { warnings: [warning] }, headers);
        if (number === 2) return success(PLAIN.rows.slice(3), { warnings: [warning] });
        return success([], { warnings: [again] });
      },
    });
    const bytes = bytesOf(PLAIN);
    expect(JSON.parse(await readFile(`${path}.receipt.json`, 'utf8'))).toEqual(receipt);
    expect(receipt).toEqual({
      file: 'out.csv',
      complete: true,
      kind: 'whole',
      url: 'https://api.example.com',
      organization: 'org-1',
      resource: 'patients',
      filter: 'lastName~=N',
      fields: ['id', 'lastName'],
      format: 'csv',
      header: true,
      sinceLast: null,
      rows: 5,
      pages: 2,
      firstId: 1,
      lastId: 8,
      bytes: bytes.length,
      proof: { by: 'none', counted: null, unproved: null },
      sha256: createHash('sha256').update(bytes).digest('hex'),
      startedAt: expect.stringMatching(/^2026-03-02T12:00:0\d\.000Z$/),
      endedAt: expect.stringMatching(/^2026-03-02T12:00:\d\d\.000Z$/),
      resumed: 0,
      retries: 0,
      throttledSeconds: 0,
      warnings: [warning, again],
    });
    expect(new Date(readFrom).toISOString()).toBe('2026-03-02T11:30:00.000Z');
  });

  it('keeps the warnings and the start of the run that was cut off', async () => {
    const path = join(await emptyFolder(), 'out.csv');
    const first = success(PLAIN.rows.slice(0, 2), { warnings: [warning] }, { date: 'Mon, 02 Mar 2026 11:00:00 GMT' });
    const instead = (number: number) => (number === 1 ? first : cut());
    await expect(exportOf(path, PLAIN, { pageSize: 2, instead })).rejects.toThrow();
    const clock = { now: () => Date.UTC(2026, 2, 3), sleep: () => Promise.resolve() };
    const { receipt, readFrom } = await exportOf(path, PLAIN, { pageSize: 2, resume: true, clock });
    expect(receipt).toMatchObject({ warnings: [warning], resumed: 1, startedAt: '2026-03-02T12:00:00.000Z' });
    expect(new Date(readFrom).toISOString()).toBe('2026-03-02T11:00:00.000Z');
  });

  it('tells of the records written, not of those left out', async () => {
    const path = join(await emptyFolder(), 'out.csv');
    const more = { isNew: ({ id }: { readonly id?: unknown }) => id === 3 || id === 5 };
    const { receipt } = await exportOf(path, PLAIN, { pageSize: 2, more });
    expect(receipt).toMatchObject({ rows: 2, firstId: 3, lastId: 5 });
  });

  it('of changes says so; of none there is neither file nor receipt', async () => {
    const folder = await emptyFolder();
    const changes = { pageSize: 2, receipt: true, more: { kind: 'changes', isNew: () => true } } as const;
    expect((await exportOf(join(folder, 'a.csv'), PLAIN, changes)).receipt).toMatchObject({ kind: 'changes', rows: 5 });
    const none = { ...changes, more: { ...changes.more, isNew: () => false } };
    expect((await exportOf(join(folder, 'b.csv'), PLAIN, none)).receipt).toMatchObject({ kind: 'changes', rows: 0 });
    expect((await readdir(folder)).toSorted()).toEqual(['a.csv', 'a.csv.receipt.json']);
  });

  it('of an older file is gone after an export without one; another file of that name is not', async () => {
    const folder = await emptyFolder();
    const path = join(folder, 'out.csv');
    await exportOf(path, PLAIN, { pageSize: 2, receipt: true });
    await exportOf(path, PLAIN, { pageSize: 2 });
    expect(await readdir(folder)).toEqual(['out.csv']);
    await writeFile(`${path}.receipt.json`, '{"mine":true}');
    await exportOf(path, PLAIN, { pageSize: 2 });
    expect(await readFile(`${path}.receipt.json`, 'utf8')).toBe('{"mine":true}');
  });

  it('that cannot be written fails the run, whose file is there and needs no --resume', async () => {
    const folder = await emptyFolder();
    const path = join(folder, 'out.csv');
    await mkdir(`${path}.receipt.json`);
    const failure = await exportOf(path, PLAIN, { pageSize: 2, receipt: true }).catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ exitCode: 9, hint: expect.not.stringContaining('--resume') });
    expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
    expect((await readdir(folder)).toSorted()).toEqual(['out.csv', 'out.csv.receipt.json']);
  });
});
