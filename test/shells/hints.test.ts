import { expect, it } from 'vitest';
import { filesBelow } from '../house/tree.ts';

/** What only a POSIX shell reads: a variable before the program, or one word made of another program's output. */
const POSIX_ONLY = /\b[A-Z][A-Z_]+=\S+ (?:molar\b|\$\{)|\$\(cat\b/g;

it('hints have no line that only a POSIX shell reads: where one is typed, it goes through inShell', () => {
  const sources = filesBelow('src').filter(({ path }) => !path.startsWith('src/shells/'));
  expect(sources.length).toBeGreaterThan(500);
  const found = sources.flatMap(({ path, text }) => {
    // Examples of commands are shown by inShell.
    const told = path.startsWith('src/commands/') ? text.replace(/static override examples = \[[\s\S]*?\];/, '') : text;
    return (told.match(POSIX_ONLY) ?? []).map((line) => `${path}: ${line}`);
  });
  expect(found).toEqual([]);
});
