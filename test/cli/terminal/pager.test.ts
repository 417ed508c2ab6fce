import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pagerOf } from '../../../src/cli/terminal/pager.ts';

const LONG = 'line\n'.repeat(30);

let file: string;
beforeEach(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'molar-test-')), 'shown');
});
afterEach(() => rm(join(file, '..'), { recursive: true }));

const shown = () => readFile(file, 'utf8').catch(() => undefined);

describe('a pager', () => {
  it.each([
    ['MOLAR_PAGER', () => ({ MOLAR_PAGER: `cat > ${file}`, PAGER: 'false' })],
    ['PAGER', () => ({ PAGER: `cat > ${file}` })],
  ])('of %s gets a text that is longer than the screen', async (_, env) => {
    expect(await pagerOf({ PATH: process.env.PATH, ...env() })?.(LONG)).toBe(true);
    expect(await shown()).toBe(LONG);
  });

  it('gets the options of less, unless LESS is set', async () => {
    const env = { PATH: process.env.PATH, PAGER: `echo "$LESS" > ${file}` };
    for (const [more, options] of [
      [{}, 'FRX'],
      [{ LESS: 'S' }, 'S'],
    ] as const) {
      await pagerOf({ ...env, ...more })?.(LONG);
      expect(await shown()).toBe(`${options}\n`);
    }
  });

  it.each([
    ['a text that fits', { PAGER: 'cat >&2' }, 'one\ntwo\n'],
    ['a pager that is not there', { PAGER: 'no-such-pager 2>/dev/null' }, LONG],
    ['a pager that cannot be run', { PAGER: '/dev/null 2>/dev/null' }, LONG],
  ])('does not show %s', async (_, env, text) => {
    expect(await pagerOf({ PATH: process.env.PATH, ...env })?.(text)).toBe(false);
  });

  it.each([{}, { PAGER: 'less', MOLAR_PAGER: '' }, { PAGER: 'less', TERM: 'dumb' }])('is off with %j', (env) => {
    expect(pagerOf(env)).toBeUndefined();
  });
});
