import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

  it.each([
    ['nothing', {}, 2, 'Nothing to upload: give files, a folder, - or --manifest.'],
    ['files and a manifest', { paths: ['a.pdf'], manifest: 'm.csv' }, 2, 'Give files or --manifest, not both.'],
    ['a manifest that is not there', { manifest: 'm.csv' }, 9, 'Cannot read m.csv: no such file or folder.'],
    [
      'a flag for folders and a file',
      { paths: ['m.pdf'], recursive: true },
      2,
      '--recursive is for folders; none is given.',
    ],
    [
      'one name for two files',
      { paths: ['a.pdf', 'b.pdf'], defaults: { name: 'a' } },
      2,
      '--name fits one file only; a manifest has a column for names.',
    ],
  ])('is refused for %s', async (_, input, exitCode, message) => {
    await writeFile(join(folder, 'm.pdf'), 'x');
    await expect(read(input)).rejects.toMatchObject({ exitCode, message });
  });
});
