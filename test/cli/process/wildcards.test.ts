import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expandWildcards, filesOf } from '../../../src/cli/process/wildcards.ts';
import ExportVerify from '../../../src/commands/export/verify.ts';
import { typedInto } from '../../shells/realshells.ts';
import { runCommand } from '../runcommand.ts';

const FILES = [
  'b.jpg',
  'a.jpg',
  'a (1).jpg',
  'a+b.jpg',
  '.hidden.jpg',
  'notes',
  'x/c.jpg',
  'y/d.jpg',
  'y/e.png',
  'm\u00fc.jpg',
  '[ab].jpg',
];
let place = '';

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'molar-wildcards-'));
  for (const folder of ['x', 'y']) mkdirSync(join(place, folder));
  for (const name of FILES) writeFileSync(join(place, name), '');
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

const expanded = (pattern: string) =>
  expandWildcards([`${place}/${pattern}`], 'cmd').map((path) => path.slice(place.length + 1));

describe('expandWildcards', () => {
  it.each(['*', '*.jpg', 'a*', '?.jpg', '*/*.jpg', '?/d*', 'y/*', '*+*', 'm?.jpg', '.h*', '*/../*/c.jpg'])(
    'finds what bash finds for %s',
    (pattern) => {
      const [found] = typedInto('bash', [`args ${pattern}`], place);
      expect(expanded(pattern)).toEqual(found);
    },
  );

  it('is in any letter case, and has every name for *.*', () => {
    expect(expanded('A.JPG')).toEqual(['A.JPG']);
    expect(expanded('A*.JPG')).toEqual(['a (1).jpg', 'a+b.jpg', 'a.jpg']);
    expect(expanded('*.*')).toContain('notes');
  });

  it('leaves a path without wildcards, a file that is called like a pattern, and what sh has left', () => {
    writeFileSync(join(place, '?.txt'), '');
    writeFileSync(join(place, 'z.txt'), '');
    expect(expanded('none.jpg')).toEqual(['none.jpg']);
    expect(expanded('?.txt')).toEqual(['?.txt']);
    expect(expandWildcards([`${place}/*.jpg`], 'sh')).toEqual([`${place}/*.jpg`]);
  });

  it.each(['*.gif', 'none/*', 'a.jpg/*', '*/*/*'])('refuses %s, which matches nothing', (pattern) => {
    expect(() => expanded(pattern)).toThrow(`No file matches ${place}/${pattern}.`);
  });
});

describe('a command that takes files', () => {
  it('is given those that a pattern matches', async () => {
    const { stdout, stderr } = await runCommand('export:verify', ExportVerify, [`${place}/a*.jpg`], {
      shell: 'powershell',
    });
    for (const name of ['a (1).jpg', 'a+b.jpg', 'a.jpg']) expect(stdout + stderr).toContain(`${place}/${name}`);
    expect(stdout + stderr).not.toContain('*');
  });

  it('is given one where it takes one', () => {
    expect(filesOf(`${place}/b*`, 'cmd')).toBe(`${place}/b.jpg`);
    expect(() => filesOf(`${place}/a*`, 'cmd')).toThrow('matches 3 files, and one is needed.');
    expect(filesOf(undefined, 'cmd')).toBeUndefined();
  });
});
