import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteWord } from '../../src/shells/quote.ts';
import type { Shell } from '../../src/shells/shell.ts';
import { isMissing, REAL_SHELLS, typedInto } from './realshells.ts';
import { legacyCommandLine, splitByRuntime, typedIntoCmd, typedIntoPowershell } from './windowsrules.ts';

/** Words that mean something to some shell, besides any made of the signs that do. */
const NOTABLE = [
  ...[
    '',
    'a b',
    "it's",
    '"',
    '\\',
    'a\\',
    'a b\\',
    'a\\"b',
    '\\\\"',
    '%PATH%',
    '100%',
    '%a%b%',
    '^',
    '!',
    '~',
    '~/x',
    '=ls',
  ],
  ...[
    '5kb',
    '0x10',
    '1e3',
    '30s',
    '007',
    '-6m',
    '.5',
    '--',
    '-a.b',
    '-x:y',
    '--%',
    '@',
    '#c',
    '*',
    '[a-z]',
    '{a,b}',
    'a,b',
  ],
  ...['$HOME', '`id`', '$(id)', '<x', '>x', 'a;b', '&', '|', 'lastModified>=2026-01-01', 'tags->["X-Ray, left",Perio]'],
  ...[
    'lastModified.gte=2026-01-01',
    '-',
    '+2d',
    '2026-11-23',
    '7000000000114',
    '\u2019',
    '\u201c',
    'M\u00fcller',
    '\u65e5\u672c',
  ],
];
const SIGNS = [...' "\'\\%^&|<>()[]{}$`!*?~=;,#@+-_.:/ab5\t\u2019\u201c\u00e9'];

const word = (signs: readonly string[]) =>
  fc.oneof(fc.constantFrom(...NOTABLE), fc.string({ unit: fc.constantFrom(...signs), maxLength: 8 }));

function lineOf(words: readonly string[], shell: Shell): string {
  return ['args', ...words.map((each) => quoteWord(each, shell))].join(' ');
}

describe('quoteWord', () => {
  for (const shell of REAL_SHELLS) {
    it(`gives ${shell} words that it passes on unchanged`, ({ skip }) => {
      if (isMissing(shell)) skip(`${shell} is not installed`);
      const lines = fc.sample(fc.array(word([...SIGNS, '\n']), { maxLength: 4 }), 400);
      const all = [...NOTABLE.map((each) => [each]), ...lines];
      expect(
        typedInto(
          shell,
          all.map((words) => lineOf(words, 'sh')),
        ),
      ).toEqual(all);
    });
  }

  it('gives cmd words that come through it and a command file unchanged', () => {
    const variables = { PATH: 'C:\\x', a: '"&', b: 'B', '': '%' };
    fc.assert(
      fc.property(fc.array(word(SIGNS), { maxLength: 4 }), (words) => {
        expect(typedIntoCmd(lineOf(words, 'cmd'), variables)).toEqual(words);
      }),
      { numRuns: 2000, examples: NOTABLE.map((each) => [[each]]) },
    );
  });

  it('gives PowerShell words that it passes on unchanged', () => {
    fc.assert(
      fc.property(fc.array(word([...SIGNS, '\n']), { maxLength: 4 }), (words) => {
        expect(typedIntoPowershell(lineOf(words, 'pwsh'))).toEqual(words);
        expect(splitByRuntime(legacyCommandLine(typedIntoPowershell(lineOf(words, 'powershell'))))).toEqual(words);
      }),
      { numRuns: 2000, examples: NOTABLE.map((each) => [[each]]) },
    );
  });

  it.each<[Shell, string, string]>([
    ['sh', 'lastModified.gte=2026-01-01', 'lastModified.gte=2026-01-01'],
    ['sh', 'id,lastName', 'id,lastName'],
    ['cmd', 'lastModified.gte=2026-01-01', 'lastModified.gte=2026-01-01'],
    ['powershell', 'lastModified.gte=2026-01-01', 'lastModified.gte=2026-01-01'],
    ['pwsh', 'C:\\practice', 'C:\\practice'],
    ['pwsh', '--since-last', '--since-last'],
    ['pwsh', '2026-12-01T12:00', '2026-12-01T12:00'],
    ['pwsh', 'id,lastName', "'id,lastName'"],
    ['cmd', 'Main Street', '"Main Street"'],
  ])('for %s writes %s as %s', (shell, text, typed) => {
    expect(quoteWord(text, shell)).toBe(typed);
  });

  it('refuses what no line can hold', () => {
    expect(() => quoteWord('a\0b', 'sh')).toThrow(RangeError);
    expect(() => quoteWord('a\nb', 'cmd')).toThrow(RangeError);
  });
});
