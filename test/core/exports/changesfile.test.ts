import { readdir, writeFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  changesPath,
  changesTime,
  removeOtherParts,
  unfinishedChanges,
} from '../../../src/core/exports/changesfile.ts';
import { emptyFolder } from './running.ts';

const FIVE = Date.UTC(2026, 2, 3, 5);

/** A folder with these files, and the path of one of them. */
async function folderWith(...names: readonly string[]) {
  const folder = await emptyFolder();
  for (const name of names) await writeFile(join(folder, name), '');
  return { path: (name: string) => join(folder, name), names: async () => (await readdir(folder)).toSorted() };
}

/** What a run leaves that was interrupted. */
const left = (file: string) => [`${file}.part`, `${file}.part.json`];
const changes = (time: string, name = 'p', ext = '.csv') => `${name}.changes.2026-03-${time}Z${ext}`;

describe('the path of a file of changes', () => {
  it.each([
    ['/nightly/patients.csv', '/nightly/patients.changes.T.csv'],
    ['patients.csv', 'patients.changes.T.csv'],
    ['/a.b/patients', '/a.b/patients.changes.T'],
    ['/a/patients.old.csv', '/a/patients.old.changes.T.csv'],
  ])('beside %s is %s', (path, expected) => {
    expect(changesPath(normalize(path), 'T')).toBe(normalize(expected));
  });
});

describe('the time of files of changes', () => {
  it('is the second of the start, in UTC', async () => {
    const { path } = await folderWith();
    expect(await changesTime([path('p.csv')], FIVE + 7_900)).toBe('2026-03-03T05-00-07Z');
    expect(await changesTime([], FIVE)).toBe('2026-03-03T05-00-00Z');
  });

  it('is the first second after it at which no name is taken, of any file', async () => {
    const { path } = await folderWith(changes('03T05-00-00', 'p'), changes('03T05-00-01', 'q'), changes('03T05-00-03'));
    expect(await changesTime([path('p.csv'), path('q.csv')], FIVE)).toBe('2026-03-03T05-00-02Z');
    expect(await changesTime([path('p.csv')], FIVE)).toBe('2026-03-03T05-00-01Z');
    expect(await changesTime([path('r.csv')], FIVE)).toBe('2026-03-03T05-00-00Z');
  });
});

describe('what interrupted runs left', () => {
  const [first, second, third] = ['02T05-00-00', '03T05-00-00', '04T05-00-00'].map((time) => changes(time));

  it('is found by the last time that has a journal of this file', async () => {
    const { path } = await folderWith(
      ...left(String(second)),
      ...left(String(first)),
      // Finished, without a journal, of another file, of another format.
      ...[String(third), `${changes('05T05-00-00')}.part`],
      ...left(changes('06T05-00-00', 'q')),
      ...left(changes('07T05-00-00', 'p', '.json')),
    );
    expect(await unfinishedChanges(path('p.csv'))).toBe('2026-03-03T05-00-00Z');
    expect(await unfinishedChanges(path('q.csv'))).toBe('2026-03-06T05-00-00Z');
    expect(await unfinishedChanges(path('r.csv'))).toBeUndefined();
  });

  it('is found of a file without an extension', async () => {
    const { path } = await folderWith(...left(changes('03T05-00-00', 'p', '')));
    expect(await unfinishedChanges(path('p'))).toBe('2026-03-03T05-00-00Z');
  });

  it.each<[string, string | undefined, readonly string[]]>([
    ['but for what is resumed', '2026-03-03T05-00-00Z', left(String(second))],
    ['where nothing is resumed', undefined, []],
  ])('is removed, parts and journals, %s', async (_name, time, kept) => {
    const others = ['p.csv', String(first), ...left('q.csv'), ...left(changes('02T05-00-00', 'q'))];
    const { path, names } = await folderWith(
      ...others,
      ...left('p.csv'),
      ...left(String(first)),
      ...left(String(second)),
    );
    await removeOtherParts(path('p.csv'), time);
    expect(await names()).toEqual([...others, ...kept].toSorted());
  });
});
