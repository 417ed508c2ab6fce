import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { misplaced, unfinished } from './tidiness.ts';
import { filesBelow, pathsBelow } from './tree.ts';

const files = ['src', 'test', 'bin'].flatMap((folder) => filesBelow(folder, /\.m?[jt]s$/));

describe('the tree', () => {
  it('has small files in shallow folders', () => {
    expect(files.map(misplaced).filter((problem) => problem !== undefined)).toEqual([]);
  });

  it('has no name that Windows does not take', () => {
    expect(pathsBelow().filter((path) => /[<>:"|?*\\]|[ .](?:\/|$)/.test(path))).toEqual([]);
  });

  it('says in one sentence what lives in each folder', () => {
    // Folders of commands are named for what is typed, and hold nothing else.
    const sources = pathsBelow('src').filter((path) => path.endsWith('.ts') && !path.startsWith('src/commands/'));
    const folders = [...new Set(sources.map((path) => posix.dirname(path)))];
    const sentences = new Map(filesBelow('src', /README\.md$/).map(({ path, text }) => [posix.dirname(path), text]));
    expect(folders.length).toBeGreaterThan(50);
    expect(folders.filter((folder) => !/^\S[^\n]{10,250}\.\n$/.test(sentences.get(folder) ?? ''))).toEqual([]);
    expect([...sentences.keys()].filter((folder) => !folders.includes(folder))).toEqual([]);
  });

  it('has nothing unfinished', () => {
    expect(files.flatMap(unfinished)).toEqual([]);
  });
});

describe('the checks of the tree', () => {
  it.each([
    ['src/core/a.ts', `// ${'TO'}DO later`],
    ['test/a.test.ts', `/* ${'FIX'}ME */`],
    ['src/core/a.ts', `throw new Error('Not impl${'emented'}');`],
  ])('find unfinished work in %s: %s', (path, line) => {
    expect(unfinished({ path, text: `const first = 1;\n${line}\n` })).toEqual([`${path}:2 is unfinished: ${line}`]);
  });

  it('leave alone words that only look like marks', () => {
    expect(unfinished({ path: 'src/core/a.ts', text: '// a life without todo lists and hacks\n' })).toEqual([]);
  });

  it('find long and deep files', () => {
    expect(misplaced({ path: 'src/core/a.ts', text: 'x\n'.repeat(300) })).toBeUndefined();
    expect(misplaced({ path: 'test/a.test.ts', text: 'x\n'.repeat(301) })).toContain('301 lines');
    expect(misplaced({ path: 'src/server/store/sqlite/a.ts', text: '' })).toBeUndefined();
    expect(misplaced({ path: 'src/server/store/sqlite/deep/a.ts', text: '' })).toContain('4 folders deep');
  });
});
