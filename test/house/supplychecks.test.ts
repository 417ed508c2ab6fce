import { describe, expect, it } from 'vitest';
import { bundled, doubtful, installed, isAllowed, LGPL, type Lock, loose } from './supply.ts';

describe('the checks of packages', () => {
  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['MIT AND GPL-3.0-only', false],
    ['(BSD-2-Clause OR MIT OR Apache-2.0)', true],
    ['GPL-2.0-only OR (MIT AND (ISC OR SSPL-1.0))', true],
    ['(GPL-2.0-only OR MIT) AND AGPL-3.0-only', false],
    ['Apache-2.0 AND LGPL-3.0-or-later', false],
    ['MIT WITH something', false],
    ['(MIT', false],
    ['UNLICENSED', false],
    ['SEE LICENSE IN LICENSE', false],
    ['', false],
    [undefined, false],
  ])('take %s for allowed: %s', (expression, allowed) => {
    expect(isAllowed(expression)).toBe(allowed);
  });

  it('allow more where they are told to', () => {
    expect(isAllowed('Apache-2.0 AND LGPL-3.0-or-later', LGPL)).toBe(true);
  });

  const integrity = `sha512-${'A'.repeat(86)}==`;
  it.each<[string, Lock[string], string[]]>([
    ['a package of a registry', { version: '1.2.3', integrity }, []],
    ['a branch', { version: 'main', integrity }, ['p has no exact version']],
    ['no digest', { version: '1.2.3' }, ['p has no SHA-512 digest']],
    ['a weak digest', { version: '1.2.3', integrity: 'sha1-x' }, ['p has no SHA-512 digest']],
    ['a folder', { version: '1.2.3', integrity, link: true }, ['p is not from a registry']],
    [
      'a repository',
      { version: '1.2.3', integrity, resolved: 'git+ssh://git@example.com/p' },
      ['p is not from a registry', 'p names an address, which may be one that others cannot reach'],
    ],
  ])('judge %s', (_name, locked, problems) => {
    expect(doubtful({ '': {}, p: locked })).toEqual(problems);
  });

  it('find versions that float', () => {
    const exact = { a: '1.2.3', f: 'npm:a@1.2.3', g: 'npm:@a/b.c@1.2.3' };
    const floating = { b: '^1.2.3', c: { d: 'latest', '.': '2.0.0' }, e: 'github:a/b', h: 'npm:a@^1.2.3', i: 'npm:a' };
    expect(loose({ ...exact, ...floating })).toEqual([
      'b@^1.2.3',
      'd@latest',
      'e@github:a/b',
      'h@npm:a@^1.2.3',
      'i@npm:a',
    ]);
  });

  it('know which package a bundled file is of, and what is installed', () => {
    const locks: Lock = {
      '': {},
      'node_modules/a': { version: '1.0.0', dev: true },
      'node_modules/a/node_modules/@b/b': { version: '2.0.0', dev: true },
      'node_modules/@b/b': { version: '1.0.0', optional: true },
      'node_modules/aa': { name: 'c', version: '1.0.0', devOptional: true },
    };
    const files = ['src/a/b.ts', 'node_modules/a/node_modules/@b/b/index.js', 'node_modules/aa/lib/index.js'];
    expect(bundled(locks, files).map(({ name, version }) => `${name}@${version}`)).toEqual(['@b/b@2.0.0', 'c@1.0.0']);
    const linked = files.map((file) => `../other/${file}`);
    expect(bundled(locks, linked)).toEqual(bundled(locks, files));
    expect(installed(locks).map(({ name, version }) => `${name}@${version}`)).toEqual(['@b/b@1.0.0', 'c@1.0.0']);
  });
});
