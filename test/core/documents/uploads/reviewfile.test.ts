import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readManifest } from '../../../../src/core/documents/uploads/manifest.ts';
import { formatReview, writeReview } from '../../../../src/core/documents/uploads/reviewfile.ts';
import type { UploadRow } from '../../../../src/core/documents/uploads/uploadrow.ts';
import { system } from '../../../../src/filesystem/system.ts';
import { OWNER_ONLY } from '../../../support/capabilities.ts';
import { replaceSystem, systemError } from '../../../support/othersystem.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  path = join(folder, 'review.csv');
});
afterEach(() => rm(folder, { recursive: true }));

const reviewed = (file: string, more: Partial<UploadRow> = {}): UploadRow => ({
  file,
  patient: '?',
  tags: [],
  review: { reason: 'Two patients.', candidates: ['5', '6'] },
  ...more,
});
const known: UploadRow = { file: 'k.pdf', patient: '9', tags: [], crop: '0,0,1,1', ratio: '1' };

const HEADER = 'file,name,patient,perioExam,tags,mimeType,reason,candidates\n';
const A = `${HEADER}a.pdf,,,,,,Two patients.,5;6\n`;
const FILLED_IN = `${HEADER}a.pdf,,5,,,,Two patients.,5;6\n`;

describe('the review file', () => {
  it('has the rows for review alone, without their patient, with the reason and the candidates', () => {
    const rows = [
      reviewed('a.pdf', { name: '=1', tags: ['x;y', 'z'], mimeType: 'PDF', userDefinedDate: '?' }),
      known,
      reviewed('b, c.pdf', { userDefinedDate: '2026-01-02', review: { reason: 'None.', candidates: [] } }),
    ];
    expect(formatReview(rows)).toBe(
      'file,name,patient,perioExam,tags,mimeType,userDefinedDate,reason,candidates\n' +
        "a.pdf,'=1,,,x\\;y;z,PDF,,Two patients.,5;6\n" +
        '"b, c.pdf",,,,,,2026-01-02,None.,\n',
    );
  });

  it('names date and crop only where a row for review has them', () => {
    expect(formatReview([reviewed('a.pdf'), known])).toBe(A);
    expect(formatReview([reviewed('a.pdf'), reviewed('b.pdf', { crop: '1' })]).split('\n')[0]).toContain(
      ',crop,reason',
    );
  });

  it('is a manifest whose rows are still for review', () => {
    expect(readManifest(Buffer.from(A), 'review.csv')).toMatchObject([
      { file: 'a.pdf', patient: '?', review: { candidates: ['5', '6'] } },
    ]);
    const [row] = readManifest(Buffer.from(FILLED_IN), 'review.csv');
    expect(row).toEqual({ file: 'a.pdf', patient: '5', tags: [], location: 'review.csv line 2' });
  });
});

describe('writing the review file', () => {
  const write = (...rows: readonly UploadRow[]) => writeReview(path, 'review.csv', rows);
  const files = async () => {
    const names = (await readdir(folder)).sort();
    return Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')])),
    );
  };

  it.each<[string, string | undefined, readonly UploadRow[], Record<string, string>, string?]>([
    ['makes one', undefined, [known, reviewed('a.pdf')], { 'review.csv': A }],
    ['makes none where there is nothing for review', undefined, [known], {}],
    ['replaces one that is as it was written', A, [reviewed('b.pdf')], { 'review.csv': A.replace('a.pdf', 'b.pdf') }],
    ['replaces one without rows', HEADER, [reviewed('a.pdf')], { 'review.csv': A }],
    ['removes one that is as it was written', A, [known], {}],
    [
      'keeps one with a patient filled in, beside the new one',
      FILLED_IN,
      [reviewed('a.pdf')],
      { 'review.1.csv': FILLED_IN, 'review.csv': A },
      'review.1.csv',
    ],
    [
      'keeps one of which a part is filled in',
      `${A}b.pdf,,7,,,,None.,\r\n`,
      [known],
      { 'review.1.csv': `${A}b.pdf,,7,,,,None.,\r\n` },
      'review.1.csv',
    ],
    ['leaves a manifest alone', 'file,patient\na.pdf,5\n', [known], { 'review.csv': 'file,patient\na.pdf,5\n' }],
    ['leaves another file alone', 'my notes', [known], { 'review.csv': 'my notes' }],
    ['leaves an empty file alone', '', [known], { 'review.csv': '' }],
  ])('%s', async (_name, before, rows, after, kept) => {
    if (before !== undefined) await writeFile(path, before);
    expect(await write(...rows)).toBe(kept === undefined ? undefined : join(folder, kept));
    expect(await files()).toEqual(after);
  });

  it('is written only when the one before has its other name', async () => {
    const { rename } = system;
    const seen: string[][] = [];
    replaceSystem({
      rename: async (from, to) => {
        if (from === path) {
          for (let turn = 0; turn < 3000; turn++) await new Promise((resolve) => setImmediate(resolve));
          seen.push(await readdir(folder));
        }
        return rename(from, to);
      },
    });
    await writeFile(path, FILLED_IN);
    await write(reviewed('a.pdf'));
    expect(seen).toEqual([['review.csv']]);
    expect(await files()).toEqual({ 'review.1.csv': FILLED_IN, 'review.csv': A });
  });

  it('is for its owner only', async () => {
    await write(reviewed('a.pdf'));
    expect((await stat(path)).mode & 0o777).toBe(OWNER_ONLY.file);
  });

  it.each<[string, (text: string) => string]>([
    ['with CRLF', (text) => text.replaceAll('\n', '\r\n')],
    ['with CR alone', (text) => text.replaceAll('\n', '\r')],
    ['with semicolons', (text) => `sep=;\n${text.replace('5;6', '"5;6"').replaceAll(/,/g, ';')}`],
    ['with a byte order mark', (text) => `\ufeff${text}`],
    ['with a byte order mark and quotes', (text) => `\ufeff${text.replace('file,', '"file",')}`],
    [
      'with a byte order mark and semicolons',
      (text) => `\ufeffsep=;\n${text.replace('5;6', '"5;6"').replaceAll(/,/g, ';')}`,
    ],
    ['by Export-Csv', (text) => `\ufeff#TYPE System.Object\r\n${text}`],
    ['with quotes and spaces', (text) => text.replace('reason,candidates', '"reason"," candidates "')],
  ])('knows one that a spreadsheet saved %s', async (_name, saved) => {
    await writeFile(path, saved(A));
    await write(known);
    expect(await files()).toEqual({});
    await writeFile(path, saved(FILLED_IN));
    await write(known);
    expect(await files()).toEqual({ 'review.1.csv': saved(FILLED_IN) });
  });

  it.each([
    ['a manifest', 'file,patient\na.pdf,5\n'],
    ['results', 'file,status,id\na.pdf,done,5\n'],
    ['notes', 'my notes'],
    ['nothing', ''],
  ])('never overwrites %s', async (_name, before) => {
    await writeFile(path, before);
    await expect(write(reviewed('a.pdf'))).rejects.toMatchObject({
      exitCode: 2,
      message: 'review.csv exists and is not a review file; it would be overwritten.',
      items: [expect.objectContaining({ source: '--review' })],
    });
    expect(await files()).toEqual({ 'review.csv': before });
  });

  it('fails with exit code 9 where the path is a folder, or the file cannot be removed', async () => {
    await mkdir(path);
    await expect(write(reviewed('a.pdf'))).rejects.toMatchObject({ exitCode: 9 });
    await rm(path, { recursive: true });
    await writeFile(path, A);
    replaceSystem({ unlink: () => Promise.reject(systemError('EIO')) });
    await expect(write(known)).rejects.toMatchObject({
      exitCode: 9,
      message: 'Cannot remove review.csv: disk input/output error.',
    });
  });
});
