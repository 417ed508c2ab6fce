import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './tree.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

it('the faults that were found are told as they were measured, of files that are there', () => {
  const table = execFileSync(process.execPath, [join(ROOT, 'test/mutants/scores.mjs')], { encoding: 'utf8' });
  expect(read('docs/testing.md')).toContain(`\n${table}\n`);
  const [, ...files] = [...read('test/mutants/scores.tsv').matchAll(/^\w+\t([^\t]+)/gm)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
