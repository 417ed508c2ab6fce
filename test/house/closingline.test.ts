import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closingLine } from '../support/reporter.ts';
import { ROOT } from './tree.ts';

describe('the closing line of npm test', () => {
  it.each([
    [{ passed: 12, failed: 0, skipped: 0 }, '12 passed, 0 failed'],
    [{ passed: 12, failed: 1, skipped: 0 }, '12 passed, 1 failed'],
    [{ passed: 0, failed: 0, skipped: 3 }, '0 passed, 0 failed, 3 skipped'],
  ])('of %j', (counts, line) => {
    expect(closingLine(counts)).toBe(line);
  });
});

describe('a run of tests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'molar-closing-'));
  beforeAll(() => {
    const reporter = JSON.stringify(join(ROOT, 'test/support/reporter.ts'));
    writeFileSync(
      join(folder, 'vitest.config.mjs'),
      `export default { test: {
         globals: true, include: ['*.test.js'], reporters: ['default', ${reporter}], maxWorkers: 1, isolate: false,
       } };`,
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function run(files: Readonly<Record<string, string>>) {
    for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.js`), source);
    const args = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, ...Object.keys(files)];
    const done = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return { status: done.status, last: done.stdout.trimEnd().split('\n').at(-1) };
  }

  it('that passes ends with its counts', () => {
    const files = {
      passes: "it('a', () => {}); it('b', () => {});",
      'leaves-out': "it('a', () => {}); it['skip']('b', () => {});",
    };
    expect(run(files)).toEqual({ status: 0, last: '3 passed, 0 failed, 1 skipped' });
  });

  // The counts of each file are such that none can stand in for another.
  it('that fails in every way ends with its counts', () => {
    const failing = "it('x', () => { throw new Error('x'); });";
    const files = {
      fails: `it('a', () => {}); ${failing.repeat(8)}`,
      'cannot-be-loaded': "import './nowhere.js';",
      'throws-outside': [1, 2]
        .map((at) => `setTimeout(() => { throw new Error('${at}'); }, 0);`)
        .concat("it('b', () => new Promise((done) => setTimeout(done, 50)));")
        .join('\n'),
      'fails-in-set-up':
        "for (const at of [1, 2, 3, 4]) describe(String(at), () => { beforeAll(() => { throw new Error('x'); }); it('a', () => {}); });",
    };
    expect(run(files)).toEqual({ status: 1, last: '2 passed, 15 failed, 4 skipped' });
  });
});
