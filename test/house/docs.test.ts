import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLinesOf, deadEnds, type Manifest, wrongCommandLine } from './docs.ts';
import { filesBelow, ROOT } from './tree.ts';

const pages = filesBelow('.', /\.md$/);

describe('the pages', () => {
  const exists = (path: string) => existsSync(join(ROOT, path));
  const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

  it('are there', () => {
    expect(pages.map((page) => page.path)).toEqual(expect.arrayContaining(['CHANGELOG.md', 'README.md']));
  });

  it('link to and name only what exists', () => {
    expect(pages.flatMap((page) => deadEnds(page, exists, textOf))).toEqual([]);
  });

  it('show only commands and flags that exist', () => {
    const manifest: Manifest = JSON.parse(textOf('oclif.manifest.json')).commands;
    const lines = pages.flatMap((page) => commandLinesOf(page.text));
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.map((line) => wrongCommandLine(line, manifest)).filter((problem) => problem !== undefined)).toEqual(
      [],
    );
  });

  it('name only npm scripts that exist', () => {
    const { scripts } = JSON.parse(textOf('package.json'));
    const named = pages.flatMap((page) => [...page.text.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)]);
    expect(named.map(([, run, own]) => run ?? own).filter((name) => !(name && name in scripts))).toEqual([]);
  });
});

describe('the checks of pages', () => {
  const there = ['README.md', 'docs/a.md', 'docs/b.md', 'src/core'];
  const check = (text: string) =>
    deadEnds(
      { path: 'docs/a.md', text },
      (path) => there.includes(path),
      () => '# A heading, here\n\n## Twice `told`\n',
    );

  it.each([
    ['a link to a file', '[b](b.md)'],
    ['a link out of the folder', '[r](../README.md)'],
    ['a heading', '[h](b.md#a-heading-here) [t](#twice-told)'],
    ['an outside link', '[w](https://example.com/x) [m](mailto:a@example.com)'],
    ['a folder', 'All of it is in `src/core/`.'],
    ['an example file', '`out.csv`, ./d, and/or/src/x'],
  ])('allow %s', (_name, text) => {
    expect(check(text)).toEqual([]);
  });

  it.each([
    ['[c](c.md)', 'docs/a.md links to c.md, which does not exist'],
    ['[b](b.md#nowhere)', 'docs/a.md links to b.md#nowhere, which has no such heading'],
    ['See `src/cor/`.', 'docs/a.md names src/cor/, which does not exist'],
    ['See test/house/x.ts.', 'docs/a.md names test/house/x.ts., which does not exist'],
    ['See SECURITY.md', 'docs/a.md names SECURITY.md, which does not exist'],
  ])('refuse %s', (text, problem) => {
    expect(check(text)).toContain(problem);
  });

  it('find command lines', () => {
    const text = [
      'Run `molar patients list --all` or `npm start`, not molar alone.',
      '```sh',
      'export MOLAR_TOKEN=x',
      "MOLAR_URL=http://x molar documents upload a.pdf --tag 'X-Ray --no' \\",
      '  --patient=5 > out --x',
      '# molar no comment',
      '$ molar serve',
      '```',
    ].join('\n');
    expect(commandLinesOf(text)).toEqual([
      { words: ['documents', 'upload'], flags: ['tag', 'patient'] },
      { words: ['serve'], flags: [] },
      { words: ['patients', 'list'], flags: ['all'] },
    ]);
  });

  const manifest: Manifest = { 'patients:list': { flags: { all: {} } }, serve: { flags: { port: {} } } };
  it.each([
    ['molar patients list --all', undefined],
    ['molar patients list --help', undefined],
    ['molar serve here --port 1', undefined],
    ['molar patients', undefined],
    ['molar patients lst', 'no command: molar patients lst'],
    ['molar patients --all', 'no command: molar patients'],
    ['molar patients list --al', 'molar patients list has no --al'],
  ])('judge %s', (line, problem) => {
    const [parsed] = commandLinesOf(`\`${line} \``);
    expect(parsed && wrongCommandLine(parsed, manifest)).toBe(problem);
  });
});
