import { describe, expect, it } from 'vitest';
import { misplaced, untidy } from './tidiness.ts';
import { filesBelow } from './tree.ts';

const files = ['src', 'test', 'bin'].flatMap((folder) => filesBelow(folder, /\.m?[jt]s$/));

describe('the tree', () => {
  it('has small files in shallow folders', () => {
    expect(files.map(misplaced).filter((problem) => problem !== undefined)).toEqual([]);
  });

  it('has nothing unfinished, untyped, skipped, or past the streams', () => {
    expect(files.flatMap(untidy)).toEqual([]);
  });
});

describe('the tidiness checks', () => {
  it.each([
    ['an unfinished mark', 'src/core/a.ts', `// ${'TO'}DO later`],
    ['an unfinished mark', 'test/a.test.ts', `/* ${'FIX'}ME */`],
    ['an unfinished mark', 'src/core/a.ts', `throw new Error('Not impl${'emented'}');`],
    ['any', 'src/core/a.ts', 'const a: any = 1;'],
    ['any', 'src/core/a.ts', 'return value as any;'],
    ['any', 'src/core/a.ts', 'const a: Record<string, any> = {};'],
    ['any', 'src/core/a.ts', 'function f(rows: any[]) {}'],
    ['any', 'src/core/a.ts', 'type A = string | any;'],
    ['a test that does not run, or runs alone', 'test/a.test.ts', "it.only('x', () => {});"],
    ['a test that does not run, or runs alone', 'test/a.test.ts', "describe.skip('x', () => {});"],
    ['a test that does not run, or runs alone', 'test/a.test.ts', "it.skipIf(late)('x', () => {});"],
    ['a test that does not run, or runs alone', 'test/a.test.ts', "test.concurrent.only('x', () => {});"],
    ['the process streams', 'src/commands/a.ts', 'process.stdout.write(text);'],
    ['the process streams', 'src/server/a.ts', 'console.log(text);'],
    ['the process streams, by import or by name', 'src/server/a.ts', "import { stdout } from 'node:process';"],
    ['the process streams, by import or by name', 'src/server/a.ts', "process['std' + 'out'];"],
    ['the process streams, by import or by name', 'src/server/a.ts', 'const { stderr } = process;'],
    ['process', 'src/core/a.ts', 'const home = process.env.HOME;'],
  ])('find %s in %s: %s', (what, path, line) => {
    expect(untidy({ path, text: `const first = 1;\n${line}\n` })).toContain(`${path}:2 has ${what}: ${line}`);
  });

  it.each([
    ['src/core/a.ts', '// any company, a life without todo lists and hacks'],
    ['src/core/a.ts', "const text = 'value: any';"],
    ['src/core/a.ts', 'const anyOf: Company = any1;'],
    ['src/cli/terminal/streams.ts', 'process.stdout.write(text);'],
    ['bin/prepare.mjs', 'process.stderr.write(text);'],
    ['test/a.test.ts', "it.each(rows)('%s', () => {});"],
    ['src/server/a.ts', "process.once('SIGTERM', stop);"],
  ])('leave alone %s: %s', (path, line) => {
    expect(untidy({ path, text: `${line}\n` })).toEqual([]);
  });

  it('find long and deep files', () => {
    expect(misplaced({ path: 'src/core/a.ts', text: 'x\n'.repeat(250) })).toBeUndefined();
    expect(misplaced({ path: 'src/core/a.ts', text: 'x\n'.repeat(251) })).toContain('251 lines');
    expect(misplaced({ path: 'bin/a.js', text: 'x\n'.repeat(251) })).toContain('251 lines');
    expect(misplaced({ path: 'test/a.test.ts', text: 'x\n'.repeat(300) })).toBeUndefined();
    expect(misplaced({ path: 'test/a.test.ts', text: 'x\n'.repeat(301) })).toContain('301 lines');
    expect(misplaced({ path: 'src/server/store/sqlite/a.ts', text: '' })).toBeUndefined();
    expect(misplaced({ path: 'src/server/store/sqlite/deep/a.ts', text: '' })).toContain('4 folders deep');
  });
});
