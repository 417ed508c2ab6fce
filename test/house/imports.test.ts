import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Arrow, arrowsOf, cyclesOf, wrongArrow, wrongPackage } from './arrows.ts';
import { filesBelow, pathsBelow, ROOT } from './tree.ts';

const arrows = filesBelow('src', /\.ts$/).flatMap(arrowsOf);
const paths = new Set(pathsBelow('src'));
const packages = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
/** What the checkout is built and tested with: no part of molar. What is bundled into dist/ is for development, too. */
const TOOLS =
  /^(?:@biomejs\/biome|@oazapfts\/runtime|@stoplight\/.+|@types\/.+|ajv|ajv-formats|esbuild|fast-check|oazapfts|oclif|playwright-core|read-excel-file|typescript|vitest)$/;
const bundled = Object.keys(packages.devDependencies).filter((name) => !TOOLS.test(name));
const declared = [...bundled, ...Object.keys({ ...packages.dependencies, ...packages.optionalDependencies })];

function problems(check: (arrow: Arrow) => string | undefined): string[] {
  return arrows.map(check).filter((problem) => problem !== undefined);
}

describe('imports of src', () => {
  it('are found', () => {
    expect(arrows.length).toBeGreaterThan(100);
  });

  it('name files that exist, by their .ts names', () => {
    expect(problems(({ from, to, own }) => (own && !paths.has(to) ? `${from} imports ${to}` : undefined))).toEqual([]);
  });

  it('point one way', () => {
    expect(problems(wrongArrow)).toEqual([]);
  });

  it('use declared packages, where they may be used', () => {
    expect(problems((arrow) => wrongPackage(arrow, declared))).toEqual([]);
  });

  it('use every package that is there to be bundled', () => {
    const used = new Set(arrows.filter(({ how }) => how !== 'type').map(({ to }) => to));
    expect(bundled.filter((name) => !used.has(name))).toEqual([]);
  });

  it('have no cycles', () => {
    expect(cyclesOf(arrows)).toEqual([]);
  });

  it('load no more of oclif than they use, since every command waits for it', () => {
    const whole = filesBelow('src', /\.ts$/).filter(({ text }) => /from '@oclif\/core'/.test(text));
    expect(whole.map(({ path }) => path)).toEqual([]);
  });
});

describe('the import checks', () => {
  const arrow = (from: string, to: string, how: Arrow['how'] = 'static'): Arrow => ({
    from: `src/${from}`,
    to: `src/${to}`,
    own: true,
    how,
  });

  it('read every way of importing', () => {
    const text = [
      "import './a.ts';",
      "import b, { type B } from '../b.ts';",
      "import type { C } from './c.ts';",
      "import * as d from '@scope/d/deep';",
      "import fs from 'node:fs';",
      "export { e } from './e.ts';",
      "export * from 'f/deep.js';",
      "const g = await import('./g.ts');",
      "type H = typeof import('./h.ts');",
      'import {',
      '  i,',
      "} from './i.ts';",
      'const text = "import x from \'./not.ts\'";',
      "// import x from './not.ts'",
    ].join('\n');
    expect(arrowsOf({ path: 'src/core/x.ts', text }).map(({ to, how }) => `${how} ${to}`)).toEqual([
      'static src/core/a.ts',
      'static src/b.ts',
      'type src/core/c.ts',
      'static @scope/d',
      'static node:fs',
      'static src/core/e.ts',
      'static f',
      'static src/core/i.ts',
      'dynamic src/core/g.ts',
      'type src/core/h.ts',
    ]);
  });

  it.each([
    ['catalog/a.ts', 'catalog/b.ts'],
    ['core/a.ts', 'catalog/b.ts'],
    ['cli/a.ts', 'core/b.ts'],
    ['commands/patients/list.ts', 'cli/b.ts'],
    ['server/a.ts', 'catalog/b.ts'],
  ])('allow %s → %s', (from, to) => {
    expect(wrongArrow(arrow(from, to))).toBeUndefined();
  });

  it.each([
    ['catalog/a.ts', 'core/b.ts'],
    ['core/a.ts', 'cli/b.ts'],
    ['core/a.ts', 'server/b.ts'],
    ['cli/a.ts', 'commands/b.ts'],
    ['cli/a.ts', 'server/b.ts'],
    ['commands/patients/list.ts', 'server/b.ts'],
    ['commands/serve.ts', 'server/b.ts'],
    ['commands/a.ts', 'commands/b.ts'],
    ['server/a.ts', 'core/b.ts'],
    ['server/a.ts', 'cli/b.ts'],
    ['elsewhere/a.ts', 'catalog/b.ts'],
  ])('refuse %s → %s', (from, to) => {
    expect(wrongArrow(arrow(from, to))).toContain('must not import');
    expect(wrongArrow(arrow(from, to, 'dynamic'))).toContain('must not import');
  });

  it.each(['cli/serving/servecommand.ts', 'cli/serving/demo/democommand.ts'])(
    'let %s start the server lazily',
    (from) => {
      expect(wrongArrow(arrow(from, 'server/listen.ts', 'dynamic'))).toBeUndefined();
      expect(wrongArrow(arrow(from, 'server/listen.ts', 'type'))).toBeUndefined();
      expect(wrongArrow(arrow(from, 'server/listen.ts'))).toContain('must import src/server/listen.ts with import()');
    },
  );

  it('refuse undeclared packages and oclif outside the command line', () => {
    const use = (from: string, to: string): Arrow => ({ from, to, own: false, how: 'static' });
    expect(wrongPackage(use('src/core/a.ts', 'left-pad'), ['undici'])).toContain('left-pad');
    expect(wrongPackage(use('src/core/a.ts', '@oclif/core'), ['@oclif/core'])).toContain('must not know oclif');
    expect(wrongPackage(use('src/cli/a.ts', '@oclif/core'), ['@oclif/core'])).toBeUndefined();
    expect(wrongPackage(use('src/core/a.ts', 'node:fs'), [])).toBeUndefined();
  });

  it('find cycles, and none through types', () => {
    const ring = [arrow('a.ts', 'b.ts'), arrow('b.ts', 'c.ts'), arrow('c.ts', 'a.ts'), arrow('d.ts', 'a.ts')];
    expect(cyclesOf(ring)).toEqual(['src/a.ts → src/b.ts → src/c.ts → src/a.ts']);
    expect(cyclesOf([arrow('a.ts', 'b.ts'), arrow('b.ts', 'a.ts', 'type')])).toEqual([]);
    expect(cyclesOf([arrow('a.ts', 'b.ts'), arrow('b.ts', 'c.ts'), arrow('a.ts', 'c.ts')])).toEqual([]);
  });
});
