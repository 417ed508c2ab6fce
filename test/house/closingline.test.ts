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
      `export default { test: { globals: true, include: ['*.test.js'], reporters: ['default', ${reporter}] } };`,
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function run(name: string, source: string) {
    writeFileSync(join(folder, `${name}.test.js`), source);
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const done = spawnSync(process.execPath, [vitest, 'run', '--root', folder, `${name}.test.js`], {
      encoding: 'utf8',
    });
    return { status: done.status, last: done.stdout.trimEnd().split('\n').at(-1) };
  }

  it.each([
    ['passes', "it('a', () => {}); it('b', () => {});", 0, '2 passed, 0 failed'],
    ['fails', "it('a', () => {}); it('b', () => { throw new Error('x'); });", 1, '1 passed, 1 failed'],
    ['leaves one out', "it('a', () => {}); it['skip']('b', () => {});", 0, '1 passed, 0 failed, 1 skipped'],
    ['cannot be loaded', "import './nowhere.js';", 1, '0 passed, 1 failed'],
    [
      'has an error outside its tests',
      "it('a', () => {}); setTimeout(() => { throw new Error('x'); }, 0);\nit('b', () => new Promise((done) => setTimeout(done, 50)));",
      1,
      '2 passed, 1 failed',
    ],
    [
      'fails in its set-up',
      "describe('d', () => { beforeAll(() => { throw new Error('x'); }); it('a', () => {}); });",
      1,
      '0 passed, 1 failed, 1 skipped',
    ],
  ])('that %s ends with its counts', (name, source, status, last) => {
    expect(run(name.replaceAll(' ', '-'), source)).toEqual({ status, last });
  });
});
