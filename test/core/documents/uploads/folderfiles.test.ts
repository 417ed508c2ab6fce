import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FolderListing, folderFiles } from '../../../../src/core/documents/uploads/folderfiles.ts';
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
});
