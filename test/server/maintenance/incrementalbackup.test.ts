import { chown, cp, link, mkdir, open, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { backUp } from '../../../src/server/maintenance/backup/backup.ts';
import { restore } from '../../../src/server/maintenance/restore.ts';
import { rowsOf } from '../../support/calls.ts';
import { need } from '../../support/capabilities.ts';
import { PDF } from '../../support/files.ts';
import { testService } from '../../support/service.ts';
import { otherUser } from '../../support/services.ts';
import {
  answers,
  check,
  copied,
  filesIn,
  linesOf,
  made,
  makePractice,
  scratch,
  stoppingAt,
  WORK,
} from './practices.ts';

let place: Awaited<ReturnType<typeof scratch>>;
let base: string;
/** The first backup of it. */
let backup: string;
beforeAll(async () => {
  place = await scratch();
  base = join(place.path, 'base');
  backup = join(place.path, 'backup');
  await makePractice(base);
  await backUp({ data: base }, backup, OPTIONS);
});
afterAll(() => place.remove());

let count = 0;
let folder: string;
let source: string;
let first: string;
/** Copies of the practice and of its first backup, of which the second is to be. */
beforeEach(async () => {
  folder = join(place.path, `case-${++count}`);
  await mkdir(folder);
  source = await copied(base, join(folder, 'source'));
  first = await copied(backup, join(folder, 'first'));
});

const OPTIONS = { ...WORK, version: '1.2.3' };
const again = (name = 'second') => backUp({ data: source }, join(folder, name), { ...OPTIONS, since: first });
const second = () => join(folder, 'second');

/** Which files are kept below a folder, and in which place of the disk each is. */
async function placesOf(backup: string): Promise<Record<string, number>> {
  const files = await filesIn(join(backup, 'files'));
  return Object.fromEntries(await Promise.all(files.map(async (file) => [basename(file), (await stat(file)).ino])));
}

/** Deletes one document and makes another. */
async function changeSource(): Promise<{ readonly gone: string; readonly come: string }> {
  const service = await testService([], { data: source });
  const [document] = rowsOf(await service.call('GET', '/documents'));
  await service.call('DELETE', `/documents/${document?.id}`);
  const { guidName } = await made(service, '/documents', { name: 'later', mimeType: 'PDF', file: { content: PDF } });
  await service.close();
  return { gone: `${document?.guidName}-original`, come: `${guidName}-original` };
}

describe('a backup since an earlier one', () => {
  it('shares its files with it, and has what came and not what went', async () => {
    const { gone, come } = await changeSource();
    const before = await placesOf(first);
    const report = await again();
    const { [come]: fresh, ...kept } = await placesOf(second());
    const { [gone]: _, ...expected } = before;
    expect(kept).toEqual(expected);
    expect([typeof before[gone], typeof fresh]).toEqual(['number', 'number']);
    expect(report).toMatchObject({ problems: [], checked: true, shared: Object.keys(kept).length });
    expect(report.files).toBe(report.shared + 1);
  });

  it('is whole in itself: each of them can be restored, and when the other is gone', async () => {
    await changeSource();
    await again();
    const restored = async (backup: string, name: string) => {
      const report = await restore(backup, { data: join(folder, name) }, WORK);
      expect(report.problems).toEqual([]);
      expect(linesOf(await check({ data: join(folder, name) }, { deep: true }))).toEqual([]);
      return answers({ data: join(folder, name) });
    };
    expect(await restored(first, 'one')).toEqual(await answers({ data: base }));
    expect((await restore(second(), { data: join(folder, 'two') }, WORK)).problems).toEqual([]);
    await rm(first, { recursive: true });
    expect(await restored(second(), 'three')).toEqual(await answers({ data: source }));
  });

  it('takes no file from it that has changed there, or that is gone', async () => {
    const [changed = '', missing = ''] = await filesIn(join(first, 'files'));
    const content = await readFile(changed);
    await writeFile(changed, Buffer.alloc(content.length, 'x'));
    await rm(missing);
    const report = await again();
    const at = (file: string) => join(second(), file.slice(first.length + 1));
    expect(await readFile(at(changed))).toEqual(content);
    expect([(await stat(at(changed))).nlink, (await stat(at(missing))).nlink]).toEqual([1, 1]);
    expect(report).toMatchObject({ problems: [], shared: report.files - 2 });
  });

  it('takes no file from it that the source had damaged then', async () => {
    const [file = ''] = (await filesIn(join(source, 'files'))).filter((name) => name.endsWith('-original'));
    const content = await readFile(file);
    await writeFile(file, Buffer.alloc(content.length, 'x'));
    const damaged = await backUp({ data: source }, join(folder, 'damaged'), OPTIONS);
    expect(damaged.problems).toContain(`${basename(file)} was changed`);
    await writeFile(file, content);
    const report = await backUp({ data: source }, second(), { ...OPTIONS, since: join(folder, 'damaged') });
    expect(report).toMatchObject({ problems: [], shared: report.files - 1 });
  });

  it('goes on where an interrupted one has ended', async (context) => {
    need(context, 'symlinks');
    const options = { ...OPTIONS, since: first, ...stoppingAt('Copying pages of the database') };
    await expect(backUp({ data: source }, second(), options)).rejects.toThrow('Stopped here.');
    // What is unfinished beside it has links, too.
    expect((await restore(first, { data: join(folder, 'restored') }, WORK)).problems).toEqual([]);
    // The same folder by another name.
    await symlink(folder, `${folder}-too`);
    const report = await backUp({ data: source }, second(), { ...OPTIONS, since: join(`${folder}-too`, 'first') });
    expect(report).toMatchObject({ problems: [], shared: report.files });
  });

  it('is refused elsewhere, and of what is no backup or was changed', async () => {
    await mkdir(join(folder, 'elsewhere'));
    await expect(again('elsewhere/second')).rejects.toThrow('is not in the same folder as the new backup.');
    const file = await open(join(first, 'files.sha256'), 'a');
    await file.write(`${'0'.repeat(64)}  files/00/00-original\n`);
    await file.close();
    await expect(again('third')).rejects.toThrow('is not what was backed up.');
    await rm(join(first, 'files.sha256'));
    await expect(again('third')).rejects.toThrow('is not what was backed up.');
    await rm(join(first, 'manifest.json'));
    await expect(again('fourth')).rejects.toThrow('is no backup');
  });
});

describe('a restore refuses a link', () => {
  it.each<[string, (file: string) => Promise<string>]>([
    ['to a file in a folder beside that is no backup', async (file) => join(source, file.slice(first.length + 1))],
    ['with another name in a backup beside', async (file) => join(dirname(second()), 'second', basename(file))],
    [
      'with the same name in a backup beside, and one more elsewhere',
      async (file) => {
        await link(file, join(source, 'kept'));
        return join(second(), file.slice(first.length + 1));
      },
    ],
    [
      'with the same name in what another user has put beside',
      async (file) => {
        const other = otherUser();
        if (other !== undefined) await chown(second(), other, other);
        // Without another user nothing is to be seen: the next best is a link that leads elsewhere.
        return other === undefined ? join(source, 'kept') : join(second(), file.slice(first.length + 1));
      },
    ],
  ])('%s, and no backup is made from what has one', async (_name, elsewhere) => {
    await cp(first, second(), { recursive: true });
    const [file = ''] = await filesIn(join(first, 'files'));
    const other = await elsewhere(file);
    await rename(file, other);
    await link(other, file);
    const told = `that is no file of its own: ${file.slice(first.length + 1)}`;
    await expect(restore(first, { data: join(folder, 'restored') }, WORK)).rejects.toThrow(told);
    await expect(again('third')).rejects.toThrow(told);
  });

  it('in the place of the database, whatever has it besides', async () => {
    await cp(first, second(), { recursive: true });
    await rm(join(second(), 'molar.sqlite'));
    await link(join(first, 'molar.sqlite'), join(second(), 'molar.sqlite'));
    const refused = restore(first, { data: join(folder, 'restored') }, WORK);
    await expect(refused).rejects.toThrow('that is no file of its own: molar.sqlite');
  });
});
