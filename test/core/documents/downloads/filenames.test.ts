import { basename, join, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileNames, isFileName, markedName, safeFileName } from '../../../../src/core/documents/downloads/filenames.ts';
import { anyCharacter } from '../../../support/characters.ts';

const safe = (name: string) => safeFileName(name, 'document-7');

describe('a file name made of a stored name', () => {
  it.each([
    ['scan.pdf', 'scan.pdf'],
    ['scan (2).pdf', 'scan (2).pdf'],
    ['Überweisung 2026.01.15.pdf', 'Überweisung 2026.01.15.pdf'],
    ['../../etc/passwd', '___.._etc_passwd'],
    ['/etc/passwd', '_etc_passwd'],
    ['..\\..\\a.pdf', '___.._a.pdf'],
    ['C:\\Windows\\a.pdf', 'C__Windows_a.pdf'],
    ['a:b.pdf', 'a_b.pdf'],
    ['.bashrc', '_bashrc'],
    ['-rf.pdf', '_rf.pdf'],
    ['~root.pdf', '_root.pdf'],
    ['a\u0000b\nc\u001bd\u007f.pdf', 'a_b_c_d_.pdf'],
    ['what?<x>|"y"*.pdf', 'what__x___y__.pdf'],
    ['invoice\u202efdp.exe', 'invoice_fdp.exe'],
    ['a\u200bb\ufeff.pdf', 'a_b_.pdf'],
    ['half \ud83d.pdf', 'half _.pdf'],
    ['scan.pdf. . ', 'scan.pdf'],
    ['  scan.pdf', 'scan.pdf'],
    ['CON', '_CON'],
    ['con.pdf', '_con.pdf'],
    ['Com1.tar.gz', '_Com1.tar.gz'],
    ['LPT\u00b9.pdf', '_LPT\u00b9.pdf'],
    ['console.pdf', 'console.pdf'],
    ['nul .pdf', '_nul .pdf'],
    ['a\u061cb\u2067c\u00add.pdf', 'a_b_c_d.pdf'],
    ['e\u0301.pdf', '\u00e9.pdf'],
    ['', 'document-7'],
    ['.', 'document-7'],
    ['..', 'document-7'],
    ['   ', 'document-7'],
    ['///', 'document-7'],
  ])('%j becomes %j', (name, expected) => {
    expect(safe(name)).toBe(expected);
  });

  it('is cut between characters with its extension kept', () => {
    expect(safe(`${'é'.repeat(300)}.jpeg`)).toBe(`${'é'.repeat(117)}.jpeg`);
    expect(safe(`${'😀'.repeat(100)}.pdf`)).toBe(`${'😀'.repeat(59)}.pdf`);
    expect(safe('x'.repeat(300))).toBe('x'.repeat(240));
    expect(safe(`a.${'x'.repeat(300)}`)).toBe(`a.${'x'.repeat(238)}`);
    expect(safe(`${'x'.repeat(239)}.${'y'.repeat(300)}`)).toBe('x'.repeat(239));
  });

  it('always stays in its folder and can be written', () => {
    const nasty = fc.string({
      unit: fc.oneof(
        fc.constantFrom('.', '/', '\\', '-', ' ', '~', ':', '\0', 'a', '\ud800'),
        fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
      ),
      maxLength: 400,
    });
    fc.assert(
      fc.property(nasty, (name) => {
        const made = safe(name);
        expect(resolve('/folder', made)).toBe(join(resolve('/folder'), made));
        expect(basename(made)).toBe(made);
        expect(made).not.toMatch(/^[.\-~ ]|[. ]$|[/\\:]/);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be gone.
        expect(made).not.toMatch(/[\u0000-\u001f]/);
        expect(Buffer.byteLength(made)).toBeLessThanOrEqual(240);
        expect(made.length).toBeGreaterThan(0);
        expect(safe(made)).toBe(made);
      }),
    );
  });

  it.each([
    ['scan.pdf', '[7]', 'scan [7].pdf'],
    ['scan', '(thumbnail)', 'scan (thumbnail)'],
    [`${'x'.repeat(236)}.pdf`, '[7]', `${'x'.repeat(232)} [7].pdf`],
  ])('%s is marked %s', (name, mark, expected) => {
    expect(markedName(name, mark)).toBe(expected);
  });
});

const nasty = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '.',
      '/',
      '\\',
      'a',
      'A',
      'ß',
      's',
      'ſ',
      'K',
      'k',
      'é',
      'e\u0301',
      ' ',
      'con',
      '.part',
      '.json',
      '\u202e',
    ),
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
  ),
  maxLength: 300,
});

describe('names of files in one folder', () => {
  it('gives every name once, whatever a file system takes for the same', () => {
    fc.assert(
      fc.property(fc.array(nasty, { maxLength: 30 }), fc.constantFrom('original', 'thumbnail'), (names, variant) => {
        const given = new FileNames(variant, []);
        const made = names.map((name, index) => given.nameFor(index + 1, name));
        for (const fold of [
          (name: string) => name,
          (name: string) => name.toLowerCase(),
          (name: string) => name.toUpperCase(),
          (name: string) => name.normalize('NFD').toLowerCase(),
        ])
          expect(new Set(made.map(fold)).size).toBe(names.length);
        for (const name of made) {
          expect(isFileName(name)).toBe(true);
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(240);
          expect(name).not.toMatch(/\.part(\.json)?$/i);
        }
      }),
    );
  });

  it.each([
    [
      ['scan.pdf', 'SCAN.PDF', 'scan.pdf'],
      ['scan.pdf', 'SCAN [2].PDF', 'scan [3].pdf'],
    ],
    [
      ['straße.pdf', 'STRASSE.pdf'],
      ['straße.pdf', 'STRASSE [2].pdf'],
    ],
    [
      ['scan [2].pdf', 'scan.pdf', 'scan.pdf'],
      ['scan [2].pdf', 'scan.pdf', 'scan [3].pdf'],
    ],
    [
      ['scan [3].pdf', 'scan.pdf', 'scan.pdf'],
      ['scan [3].pdf', 'scan.pdf', 'scan [3-2].pdf'],
    ],
  ])('%j become %j', (names, expected) => {
    const given = new FileNames('original', []);
    expect(names.map((name, index) => given.nameFor(index + 1, name))).toEqual(expected);
  });

  it('ends for a name that is cut to make room for its mark', () => {
    const [long, marked] = [`${'x'.repeat(236)}.pdf`, `${'x'.repeat(232)} [3].pdf`];
    const given = new FileNames('original', [long, marked]);
    expect(given.nameFor(3, long)).toBe(`${'x'.repeat(230)} [3-2].pdf`);
  });

  it('leaves alone names that are taken', () => {
    expect(new FileNames('original', ['Scan.pdf']).nameFor(7, 'scan.pdf')).toBe('scan [7].pdf');
  });

  it.each(['', '../x', 'a/b', '.hidden', 'x.part', 'CON', 'a\nb'])('%j is no name of a file', (name) => {
    expect(isFileName(name)).toBe(false);
  });
});
