import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileNames, isFileName } from '../../../../src/core/documents/downloads/filenames.ts';

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
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
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
