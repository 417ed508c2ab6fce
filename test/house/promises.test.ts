import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RELIABILITY } from '../../src/core/help/reliability.ts';
import { ROOT } from './tree.ts';

const TEST = /\btest\/[\w./-]+\.test\.ts\b/g;
const testsIn = (text: string): string[] => text.match(TEST) ?? [];

/** Rows of Markdown tables whose head has this text in its last column. */
function rowsBelow(markdown: string, head: string): string[] {
  return markdown
    .split(/\n\n+/)
    .filter((block) => block.split('\n')[0]?.endsWith(`| ${head} |`))
    .flatMap((block) => block.split('\n').slice(2))
    .filter((line) => line.startsWith('|'));
}

/** Flags that could take a secret: named for one, and not for where it is read from. */
function secretFlags(flags: readonly string[]): string[] {
  return flags.filter(
    (name) => /token|secret|passw|credential/.test(name) && !/-(?:stdin|file|command|url)$/.test(name),
  );
}

describe('SECURITY.md', () => {
  const promises = rowsBelow(readFileSync(join(ROOT, 'SECURITY.md'), 'utf8'), 'Kept by');

  it('names a test for each of its promises', () => {
    expect(promises.length).toBeGreaterThan(25);
    expect(promises.filter((promise) => testsIn(promise).length === 0)).toEqual([]);
  });

  it('names tests that exist', () => {
    expect(promises.flatMap(testsIn).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe('molar help reliability', () => {
  const rowsOf = (headings: readonly string[]) =>
    RELIABILITY.sections
      .filter(({ heading }) => headings.includes(heading))
      .flatMap(({ blocks }) => blocks)
      .flatMap((block) => (typeof block === 'object' && 'rows' in block ? block.rows : []));
  const promises = rowsOf(['The server', 'The stream', 'The client']).map(([, meaning]) => meaning);

  it('names a test for each of its promises', () => {
    expect(promises.length).toBeGreaterThan(20);
    expect(promises.filter((promise) => testsIn(promise).length === 0)).toEqual([]);
  });

  it('names tests and long runs that exist', () => {
    const text = JSON.stringify(RELIABILITY);
    expect(testsIn(text).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect((text.match(/\btest\//g) ?? []).length).toBe(testsIn(text).length);
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(rowsOf(['Long runs']).map(([run]) => scripts[run.replace('npm run ', '')] !== undefined)).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe('the flags of all commands', () => {
  it('take no secret, which other users of the machine could read', () => {
    const { commands } = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8'));
    const flags = Object.values<{ flags: object }>(commands).flatMap((command) => Object.keys(command.flags));
    expect(flags).toContain('token-stdin');
    expect(secretFlags(flags)).toEqual([]);
  });
});

describe('the checks of promises', () => {
  it('read the tables that tell what keeps a promise, and no others', () => {
    const markdown =
      '| The server | Kept by |\n| --- | --- |\n| a | `test/a.test.ts` |\n| b | hope |\n\n| What | Where |\n| --- | --- |\n| c | d |\n';
    expect(rowsBelow(markdown, 'Kept by').map(testsIn)).toEqual([['test/a.test.ts'], []]);
  });

  it('find flags that take secrets', () => {
    expect(secretFlags(['token', 'token-file', 'db-password', 'client-secret', 'token-url', 'key'])).toEqual([
      'token',
      'db-password',
      'client-secret',
    ]);
  });
});
