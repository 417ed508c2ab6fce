import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './tree.ts';

const TEST = /\btest\/[\w./-]+\.test\.ts\b/g;
const testsIn = (text: string): string[] => text.match(TEST) ?? [];

/** Rows of Markdown tables whose head has this text in its last column, and `first` in its first one where it is given. */
function rowsBelow(markdown: string, head: string, first = ''): string[] {
  return markdown
    .split(/\n\n+/)
    .filter((block) => block.startsWith(`| ${first}`) && block.split('\n')[0]?.endsWith(`| ${head} |`))
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
  const promises = rowsBelow(readFileSync(join(ROOT, 'SECURITY.md'), 'utf8'), 'Tested by');

  it('names a test for each of its promises', () => {
    expect(promises.length).toBeGreaterThan(25);
    expect(promises.filter((promise) => testsIn(promise).length === 0)).toEqual([]);
  });

  it('names tests that exist', () => {
    expect(promises.flatMap(testsIn).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe('docs/promises.md', () => {
  const page = readFileSync(join(ROOT, 'docs/promises.md'), 'utf8');
  const kept = rowsBelow(page, 'Tested by');
  const nameOf = (row: string) => row.split(' | ')[0];

  it('has every promise of molar help reliability, and no other', () => {
    const promised = rowsBelow(
      readFileSync(join(ROOT, 'docs/help/reliability.md'), 'utf8'),
      'What it means',
      'Promise',
    );
    expect(promised.length).toBeGreaterThan(20);
    expect(kept.map(nameOf)).toEqual(promised.map(nameOf));
  });

  it('names a test for each of its promises, and tests that exist', () => {
    expect(kept.filter((promise) => testsIn(promise).length === 0)).toEqual([]);
    expect(testsIn(page).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('names long runs that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const runs = [...page.matchAll(/^- `npm run ([\w:]+)`/gm)].map(([, name = '']) => name);
    expect(runs.length).toBeGreaterThan(2);
    expect(runs.filter((name) => !(name in scripts))).toEqual([]);
  });
});

describe('the flags of all commands', () => {
  it('take no secret, which other users of the machine could read', () => {
    const { commands } = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8'));
    const flags = Object.values<{ flags: object }>(commands).flatMap((command) =>
      Object.entries<{ type: string }>({ ...command.flags }),
    );
    expect(flags.map(([name]) => name)).toContain('token-stdin');
    // A flag that is on or off, such as --allow-credentials, takes nothing.
    const taking = flags.filter(([, { type }]) => type === 'option').map(([name]) => name);
    expect(secretFlags(taking)).toEqual([]);
  });
});

describe('the checks of promises', () => {
  it('read the tables that tell what keeps a promise, and no others', () => {
    const markdown =
      '| The server | Tested by |\n| --- | --- |\n| a | `test/a.test.ts` |\n| b | hope |\n\n| What | Where |\n| --- | --- |\n| c | d |\n';
    expect(rowsBelow(markdown, 'Tested by').map(testsIn)).toEqual([['test/a.test.ts'], []]);
  });

  it('find flags that take secrets', () => {
    expect(secretFlags(['token', 'token-file', 'db-password', 'client-secret', 'token-url', 'key'])).toEqual([
      'token',
      'db-password',
      'client-secret',
    ]);
  });
});
