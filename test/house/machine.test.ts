import { describe, expect, it } from 'vitest';
import { filesBelow, type TreeFile } from './tree.ts';

/** Split, so that this file passes its own check. */
const PLACES: readonly [what: string, pattern: RegExp, where: RegExp][] = [
  ['a folder of one machine', new RegExp(`(?<![\\w.-])/(?:wo${'rk'}|ro${'ot'}|ho${'me'}/\\w+|Us${'ers'}/\\w+)/`), /./],
  ['a temporary folder', new RegExp(`(?<![\\w.-])/t${'mp'}/`), /\.md$/],
  [
    'a package registry',
    new RegExp(
      `\\bregistry\\.(?:npm${'js'}|yarn${'pkg'})|\\bnpm\\.pkg\\.git${'hub'}|\\bdeb\\.deb${'ian'}|"resol${'ved"'}`,
    ),
    /./,
  ],
];

function misnamed({ path, text }: TreeFile): string[] {
  return text
    .split('\n')
    .flatMap((line, at) =>
      PLACES.filter(([, pattern, where]) => where.test(path) && pattern.test(line)).map(
        ([what]) => `${path}:${at + 1} names ${what}`,
      ),
    );
}

describe('the tree', () => {
  it('names no folder of a machine and no registry', () => {
    expect(filesBelow('.').flatMap(misnamed)).toEqual([]);
  });
});

describe('the check', () => {
  it.each([
    ['src/a.ts', `cd /wo${'rk'}/main`, 'a folder of one machine'],
    ['src/a.ts', `'/ro${'ot'}/.config'`, 'a folder of one machine'],
    ['README.md', `/ho${'me'}/ann/x`, 'a folder of one machine'],
    ['README.md', `/Us${'ers'}/ann/x`, 'a folder of one machine'],
    ['README.md', `cd /t${'mp'}/x`, 'a temporary folder'],
    ['package-lock.json', `"resol${'ved'}": "https://x/y.tgz"`, 'a package registry'],
    ['.ci/run', `https://registry.npm${'js'}.org`, 'a package registry'],
  ])('finds it in %s: %s', (path, text, what) => {
    expect(misnamed({ path, text: `first\n${text}` })).toEqual([`${path}:2 names ${what}`]);
  });

  it.each([
    ['src/a.ts', './work/x and a/root/b'],
    ['test/a.test.ts', `/t${'mp'}/x`],
    ['README.md', 'https://example.com/home/x'],
  ])('leaves alone %s: %s', (path, text) => {
    expect(misnamed({ path, text })).toEqual([]);
  });
});
