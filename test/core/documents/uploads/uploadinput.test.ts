import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readLayouts } from '../../../../src/core/documents/layouts/layouts.ts';
import { readUploadInput, type UploadInput } from '../../../../src/core/documents/uploads/uploadinput.ts';
import { runFiles } from '../../../../src/core/documents/uploads/uploadprepare.ts';
import { need } from '../../../support/capabilities.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});
afterEach(() => rm(folder, { recursive: true }));

const read = (input: Partial<UploadInput>) =>
  readUploadInput({
    paths: [],
    defaults: {},
    folder,
    isOwn: runFiles(join(folder, 'scans', 'molar-results.csv')).isOwn,
    ...input,
  });

describe('what is to be uploaded', () => {
  it('is the files named, each a row with what the flags say', async () => {
    const defaults = { patient: '5', tags: ['X-Ray'], mimeType: 'PDF' };
    expect(await read({ paths: ['b.pdf', 'a.pdf', '-'], defaults })).toEqual({
      rows: ['b.pdf', 'a.pdf', '-'].map((file) => ({ file, patient: '5', tags: ['X-Ray'], mimeType: 'PDF' })),
      notes: [],
      single: false,
    });
    expect(await read({ paths: ['missing.pdf'] })).toMatchObject({ single: true });
    expect(await read({ paths: ['-'], defaults: { name: 'a', tags: [] } })).toMatchObject({ single: true });
  });

  it('is every file of a folder but hidden ones, folders and those of the run', async (context) => {
    need(context, 'symlinks');
    await mkdir(join(folder, 'scans', 'inner'), { recursive: true });
    const names = [
      'b.pdf',
      'a.jpg',
      'notes.txt',
      '.hidden.pdf',
      'Thumbs.db',
      'molar-results.csv',
      'molar-results.csv.part',
      'molar-results.1.csv',
      'molar-results.csv.journal',
      'molar-results.csv.journal.part',
      'molar-results.csv.lock',
      'molar-results.csv.lock.0d9-f',
      'molar-results.pdf',
    ];
    for (const name of names) await writeFile(join(folder, 'scans', name), 'x');
    await symlink('a.jpg', join(folder, 'scans', 'link.jpg'));
    await symlink('inner', join(folder, 'scans', 'more'));
    expect(await read({ paths: ['scans'] })).toEqual({
      rows: ['scans/a.jpg', 'scans/b.pdf', 'scans/link.jpg', 'scans/molar-results.pdf', 'scans/notes.txt'].map(
        (file) => ({ file: join(file), tags: [] }),
      ),
      notes: [
        'scans: 1 folder inside not uploaded; --recursive includes them.',
        'scans: 1 linked folder inside not uploaded.',
      ],
      single: false,
    });
  });

  it('is nothing when a folder holds no files, and that is said', async () => {
    await mkdir(join(folder, 'empty'));
    expect(await read({ paths: ['empty'] })).toEqual({ rows: [], notes: ['empty: no files in it.'], single: false });
  });

  it('is what a manifest says, which flags fill but do not change', async () => {
    await writeFile(join(folder, 'scans.csv'), 'file,patient,perioExam,tags\na.pdf,7,,own\nb.pdf,,8,\nc.pdf,,,\n');
    const { rows } = await read({
      manifest: 'scans.csv',
      defaults: { patient: '5', tags: ['flag'], userDefinedDate: '2026-01-02' },
    });
    expect(rows).toEqual([
      { file: 'a.pdf', patient: '7', tags: ['own'], userDefinedDate: '2026-01-02', location: 'scans.csv line 2' },
      { file: 'b.pdf', perioExam: '8', tags: ['flag'], userDefinedDate: '2026-01-02', location: 'scans.csv line 3' },
      { file: 'c.pdf', patient: '5', tags: ['flag'], userDefinedDate: '2026-01-02', location: 'scans.csv line 4' },
    ]);
  });

  it.each<[string, Partial<UploadInput>]>([
    ['a layout', { layouts: ['patient-folders'] }],
    ['a flag for folders', { recursive: true }],
    ['patterns', { include: ['*.pdf'] }],
  ])('is a row that says so where a folder is not there, with %s', async (_, input) => {
    const unread = { exitCode: 9, message: 'Cannot read scns: no such file or folder.' };
    await mkdir(join(folder, 'scans'));
    for (const paths of [['scns'], ['scans', 'scns']]) {
      const { rows } = await read({ ...input, paths });
      expect(rows).toMatchObject([{ file: 'scns', unread }]);
    }
  });

  it('is never a document of the organization because a layout was not followed', async () => {
    await mkdir(join(folder, 'scans'));
    await writeFile(join(folder, 'scan.pdf'), 'x');
    const { rows } = await read({ paths: ['scans', 'scan.pdf', 'scns'], layouts: ['patient-folders'] });
    expect(rows.map(({ file, patient }) => [file, patient])).toEqual([
      ['scan.pdf', '?'],
      ['scns', '?'],
    ]);
  });

  it('is the files of folders with what their paths say', async () => {
    await mkdir(join(folder, 'scans', '7_Smith', 'X-Ray'), { recursive: true });
    await writeFile(join(folder, 'scans', '7_Smith', 'X-Ray', '2026-01-02-Bitewing.pdf'), 'x');
    await writeFile(join(folder, 'scans', '7_Smith', 'notes.pdf'), 'x');
    const [first, second] = [
      join('scans', '7_Smith', 'X-Ray', '2026-01-02-Bitewing.pdf'),
      join('scans', '7_Smith', 'notes.pdf'),
    ];
    const facts = { patient: '7', userDefinedDate: '2026-01-02', name: 'Bitewing', tags: ['X-Ray'] };
    const asked = { paths: ['scans'], layouts: ['patient-folders'] as const };
    expect((await read(asked)).rows).toEqual([
      { file: first, ...facts },
      { file: second, patient: '7', userDefinedDate: '?', tags: [], problem: expect.stringContaining('with a date') },
    ]);
    expect((await read({ ...asked, isReviewed: true })).rows).toEqual([
      {
        ...{ file: first, name: 'Bitewing', tags: ['X-Ray'], userDefinedDate: '2026-01-02' },
        facts: { id: '7', date: '2026-01-02', name: 'Bitewing', tags: ['X-Ray'] },
      },
      {
        ...{ file: second, patient: '?', tags: [] },
        review: { reason: expect.any(String), candidates: [], unfit: '7_Smith/notes.pdf' },
      },
    ]);
    const { rows } = await read({
      paths: ['scans'],
      layouts: readLayouts(['{id}_{*}/{tag}/{*}-{name}']),
      isReviewed: true,
    });
    expect(rows.map(({ facts }) => facts)).toEqual([{ id: '7', name: '01-02-Bitewing', tags: ['X-Ray'] }, undefined]);
  });

  it('is searched in folders inside only where that is asked for', async () => {
    await mkdir(join(folder, 'scans', 'inner'), { recursive: true });
    for (const name of ['scans/a.pdf', 'scans/inner/b.pdf', 'scans/inner/c.txt', 'd.pdf'])
      await writeFile(join(folder, name), 'x');
    const filesOf = async (input: Partial<UploadInput>) =>
      (await read(input)).rows.map(({ file }) => file.replaceAll('\\', '/'));
    expect(await filesOf({ paths: ['scans', 'd.pdf'], recursive: false })).toEqual(['scans/a.pdf', 'd.pdf']);
    expect(await filesOf({ paths: ['scans', 'd.pdf'], recursive: true, include: ['*.pdf'] })).toEqual([
      'scans/a.pdf',
      'scans/inner/b.pdf',
      'd.pdf',
    ]);
    expect(await filesOf({ paths: ['scans'], include: ['*.txt'] })).toEqual([]);
    expect((await read({ paths: ['scans'], include: [] })).single).toBe(false);
  });

  it('has a problem where a layout is given a file, or stdin', async () => {
    await writeFile(join(folder, 'scan.pdf'), 'x');
    await mkdir(join(folder, 'scans'));
    const { rows } = await read({ paths: ['scans', 'scan.pdf', '-'], layouts: ['patient-folders'] });
    const problem = '--layout patient-folders takes folders.';
    expect(rows).toEqual(['scan.pdf', '-'].map((file) => ({ file, patient: '?', tags: [], problem })));
    const several = await read({ paths: ['scan.pdf'], layouts: ['patient-folders', ...readLayouts(['{id}/{name}'])] });
    expect(several.rows).toMatchObject([{ problem: '--layout takes folders.' }]);
    const pattern = await read({ paths: ['scan.pdf'], layouts: readLayouts(['{id}/{name}']) });
    expect(pattern.rows).toMatchObject([{ problem: '--layout takes folders.' }]);
  });

  it('is a file that cannot be found only when it is read, where no folder is asked for', async () => {
    expect((await read({ paths: ['scns', '-'] })).rows).toEqual(['scns', '-'].map((file) => ({ file, tags: [] })));
    expect((await read({ paths: ['scns', '-'], recursive: true })).rows[1]).toEqual({ file: '-', tags: [] });
  });

  it('names the folders that cannot be read', async () => {
    await mkdir(join(folder, 'scans', 'b'), { recursive: true });
    await writeFile(join(folder, 'scans', 'a.pdf'), 'x');
    const isOwn = () => {
      rmSync(join(folder, 'scans', 'b'), { recursive: true, force: true });
      return false;
    };
    const unread = { exitCode: 9, message: `Cannot read ${join('scans', 'b')}: no such file or folder.` };
    const { rows } = await read({ paths: ['scans'], recursive: true, isOwn });
    expect(rows).toMatchObject([{ file: join('scans', 'a.pdf') }, { file: join('scans', 'b'), tags: [], unread }]);
    expect(rows[1]).not.toHaveProperty('patient');
  });

  it('is nothing in a manifest without rows, and that is said', async () => {
    await writeFile(join(folder, 'm.csv'), 'file\n');
    expect(await read({ manifest: 'm.csv' })).toEqual({ rows: [], notes: ['m.csv: no files in it.'], single: false });
    await writeFile(join(folder, 'm.csv'), 'file\na.pdf\n');
    expect(await read({ manifest: 'm.csv' })).toMatchObject({ rows: [{ file: 'a.pdf' }], notes: [], single: false });
  });

  it.each<[string, Partial<UploadInput>, string, string]>([
    ['nothing', {}, 'FILE', 'Nothing to upload: give files, a folder, - or --manifest.'],
    [
      'files and a manifest',
      { paths: ['a.pdf'], manifest: 'm.csv' },
      '--manifest',
      'Give files or --manifest, not both.',
    ],
    [
      'a flag for folders and a file',
      { paths: ['m.pdf'], recursive: true },
      '--recursive',
      '--recursive is for folders; none is given.',
    ],
    [
      'patterns and a file',
      { paths: ['m.pdf'], include: ['*'] },
      '--include',
      '--include is for folders; none is given.',
    ],
    [
      'a flag for folders and a manifest',
      { manifest: 'm.csv', recursive: true, include: ['*'] },
      '--recursive',
      '--recursive is for folders; a manifest names each file.',
    ],
    [
      'patterns and a manifest',
      { manifest: 'm.csv', include: ['*'] },
      '--include',
      '--include is for folders; a manifest names each file.',
    ],
    [
      'a layout and a manifest',
      { manifest: 'm.csv', layouts: ['patient-folders'] },
      '--layout',
      '--layout is for folders; a manifest names each file.',
    ],
    [
      'an empty pattern',
      { paths: ['m.pdf'], include: ['*', ''] },
      '--include',
      '--include needs a pattern, as in --include "*.pdf".',
    ],
    [
      'one name for two files',
      { paths: ['a.pdf', 'b.pdf'], defaults: { name: 'a' } },
      '--name',
      '--name fits one file only; a manifest has a column for names.',
    ],
    [
      'one name for a folder',
      { paths: ['empty'], defaults: { name: 'a' } },
      '--name',
      '--name fits one file only; a manifest has a column for names.',
    ],
    ...(['patient', 'perioExam', 'userDefinedDate', 'name'] as const).map(
      (key): [string, Partial<UploadInput>, string, string] => [
        `a layout and ${key}`,
        { paths: ['empty'], layouts: ['patient-folders'], defaults: { [key]: '5' } },
        '--layout',
        'With --layout patient-folders the folders say patient, tag, date and name; leave the flags out.',
      ],
    ),
    [
      'patterns of a layout and a patient',
      { paths: ['empty'], layouts: readLayouts(['{id}/{name}']), defaults: { patient: '5' } },
      '--layout',
      'With --layout the folders say patient, tag, date and name; leave the flags out.',
    ],
  ])('is refused for %s', async (_, input, source, message) => {
    await writeFile(join(folder, 'm.pdf'), 'x');
    await mkdir(join(folder, 'empty'));
    await expect(read(input)).rejects.toMatchObject({ exitCode: 2, message, items: [{ source }] });
  });

  it('is not known where the manifest is not there', async () => {
    const message = 'Cannot read m.csv: no such file or folder.';
    await expect(read({ manifest: 'm.csv' })).rejects.toMatchObject({ exitCode: 9, message });
  });

  it('has the tags of the flags in a layout', async () => {
    await mkdir(join(folder, '7_Smith'));
    await writeFile(join(folder, '7_Smith', '2026-01-02-a.pdf'), 'x');
    const { rows } = await read({ paths: ['7_Smith'], layouts: ['patient-folders'], defaults: { tags: ['x'] } });
    expect(rows).toMatchObject([{ patient: '7', tags: ['x'] }]);
  });
});
