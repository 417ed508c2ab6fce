import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FolderListing, folderFiles, isFolder } from '../../../../src/core/documents/uploads/folderfiles.ts';
import { need } from '../../../support/capabilities.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function files(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await writeFile(join(folder, path), 'x');
  }
}

const list = (more: Partial<FolderListing> = {}) =>
  folderFiles('scans', { folder, recursive: true, include: [], isOwn: () => false, ...more });

describe('the files of a folder', () => {
  it('are those in it, or all below it, in the order of their paths', async (context) => {
    need(context, 'caseSensitive');
    await files('scans/b.pdf', 'scans/B/c.pdf', 'scans/B/A/d.pdf', 'scans/B.pdf', 'scans/.git/x', 'scans/.x.pdf');
    expect(await list()).toEqual({
      files: ['scans/B/A/d.pdf', 'scans/B/c.pdf', 'scans/B.pdf', 'scans/b.pdf'].map((path) => join(path)),
      unread: [],
      notes: [],
    });
    expect(await list({ recursive: false })).toEqual({
      files: [join('scans/B.pdf'), join('scans/b.pdf')],
      unread: [],
      notes: ['scans: 1 folder inside not uploaded; --recursive includes them.'],
    });
  });

  it('go round no circle of links', async (context) => {
    need(context, 'symlinks');
    await files('scans/a.pdf', 'elsewhere/b.pdf');
    await symlink('..', join(folder, 'scans', 'up'));
    await symlink(join(folder, 'elsewhere'), join(folder, 'scans', 'elsewhere'));
    await symlink(join(folder, 'elsewhere', 'b.pdf'), join(folder, 'scans', 'b.pdf'));
    expect(await list()).toEqual({
      files: [join('scans/a.pdf'), join('scans/b.pdf')],
      unread: [],
      notes: ['scans: 2 linked folders inside not uploaded.'],
    });
  });

  it.each<[readonly string[], readonly string[]]>([
    [['*.pdf'], ['a.PDF', 'b.pdf', 'x/c.pdf', 'x/y/[1].pdf']],
    [['*.{pdf,jpg}'], ['a.PDF', 'b.pdf', 'd.jpg', 'x/c.pdf', 'x/y/[1].pdf']],
    [
      ['b.*', 'C.PDF'],
      ['b.pdf', 'x/c.pdf'],
    ],
    [['x/*.pdf'], ['x/c.pdf']],
    [['x/**'], ['x/c.pdf', 'x/notes.txt', 'x/y/[1].pdf']],
    [['**/y/*'], ['x/y/[1].pdf']],
    [['?.pdf'], ['a.PDF', 'b.pdf', 'x/c.pdf']],
    [['\\[1\\].pdf'], ['x/y/[1].pdf']],
    [['!b.pdf'], []],
    [['#*'], []],
    [['*.tif'], []],
  ])('match one of the patterns %j', async (include, expected) => {
    const all = ['a.PDF', 'b.pdf', 'd.jpg', 'x/c.pdf', 'x/notes.txt', 'x/y/[1].pdf'];
    await files(...all.map((path) => `scans/${path}`));
    const found = await list({ include });
    expect(found.files).toEqual(expected.map((path) => join('scans', path)));
    const left = all.length - expected.length;
    expect(found.notes).toEqual([`scans: ${left} file${left === 1 ? '' : 's'} left out by --include.`]);
  });

  it('are not those of the run itself', async () => {
    await files('scans/a.pdf', 'scans/results.csv');
    const isOwn = (path: string) => path === join(folder, 'scans', 'results.csv');
    expect((await list({ isOwn })).files).toEqual([join('scans/a.pdf')]);
  });

  it('are there without those of a folder that cannot be read, which is named', async () => {
    await files('scans/a.pdf', 'scans/b/c.pdf', 'scans/d/e.pdf');
    const isOwn = () => {
      rmSync(join(folder, 'scans', 'b'), { recursive: true, force: true });
      return false;
    };
    const failure = { exitCode: 9, message: `Cannot read ${join('scans', 'b')}: no such file or folder.` };
    expect(await list({ isOwn })).toMatchObject({
      files: [join('scans/a.pdf'), join('scans/d/e.pdf')],
      unread: [{ path: join('scans/b'), failure }],
      notes: [],
    });
    await rm(join(folder, 'scans'), { recursive: true });
    const gone = { exitCode: 9, message: 'Cannot read scans: no such file or folder.' };
    expect(await list()).toMatchObject({ files: [], unread: [{ path: 'scans', failure: gone }], notes: [] });
  });

  it('are not those of the system, in any letter case', async () => {
    const names = [
      'a.pdf',
      'Thumbs.db',
      'x/thumbs.DB',
      'Desktop.ini',
      'thumbs.db.pdf',
      '.DS_Store',
      'x/.hidden/a.pdf',
      'x/b.pdf',
    ];
    await files(...names.map((name) => `scans/${name}`));
    expect(await list()).toEqual({
      files: ['scans/a.pdf', 'scans/thumbs.db.pdf', 'scans/x/b.pdf'].map((path) => join(path)),
      unread: [],
      notes: [],
    });
  });

  it('are none, which is said, unless they cannot be read or are left out', async () => {
    await mkdir(join(folder, 'scans', 'x', 'y'), { recursive: true });
    expect((await list()).notes).toEqual(['scans: no files in it.']);
    expect((await list({ recursive: false, include: ['*.pdf'] })).notes).toEqual([
      'scans: 1 folder inside not uploaded; --recursive includes them.',
      'scans: no files in it.',
    ]);
    await mkdir(join(folder, 'scans', 'z'));
    await files('scans/a.pdf', 'scans/b.pdf');
    expect(await list({ recursive: false, include: ['c*'] })).toEqual({
      ...{ files: [], unread: [] },
      notes: [
        'scans: 2 folders inside not uploaded; --recursive includes them.',
        'scans: 2 files left out by --include.',
      ],
    });
    expect((await list({ recursive: false, include: ['A*'] })).notes[1]).toBe('scans: 1 file left out by --include.');
  });

  it('begin with the folder as it was given, wherever that is', async () => {
    await files('scans/x/a.pdf', 'scans/b.pdf');
    const found = async (path: string, from: string) => {
      const options = { folder: from, recursive: true, include: ['x/*'], isOwn: () => false };
      return (await folderFiles(path, options)).files;
    };
    expect(await found('.', join(folder, 'scans'))).toEqual([join('x', 'a.pdf')]);
    expect(await found('../scans', join(folder, 'scans'))).toEqual([join('..', 'scans', 'x', 'a.pdf')]);
    const absolute = join(folder, 'scans');
    expect(await found(absolute, tmpdir())).toEqual([join(absolute, 'x', 'a.pdf')]);
  });

  it('may be links, but those to folders', async (context) => {
    need(context, 'symlinks');
    await files('scans/a.pdf', 'elsewhere/x.pdf');
    await symlink(join(folder, 'gone'), join(folder, 'scans', 'gone.pdf'));
    await symlink(join(folder, 'elsewhere'), join(folder, 'scans', 'more'));
    const found = await list({ recursive: false });
    expect(found.files).toEqual([join('scans/a.pdf'), join('scans/gone.pdf')]);
    expect(found.notes).toEqual(['scans: 1 linked folder inside not uploaded.']);
  });
});

describe('a path', () => {
  it('is that of a folder only where there is one', async () => {
    await files('scans/a.pdf');
    const paths = ['scans', 'scans/a.pdf', 'scans/b', 'gone'].map((path) => isFolder(join(folder, path)));
    expect(await Promise.all(paths)).toEqual([true, false, false, false]);
  });
});
