import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { banded, COLOURED, type Look, PLAIN } from '../../../src/core/output/style.ts';

const LOOKS: readonly (readonly [Look, string])[] = [
  ['heading', '\u001b[1mx\u001b[22m'],
  ['faint', '\u001b[2mx\u001b[22m'],
  ['good', '\u001b[32mx\u001b[39m'],
  ['caution', '\u001b[33mx\u001b[39m'],
  ['late', '\u001b[35mx\u001b[39m'],
  ['bad', '\u001b[31mx\u001b[39m'],
];

describe('a style', () => {
  it.each(LOOKS)('shows %s', (look, text) => {
    expect(COLOURED(look, 'x')).toBe(text);
    expect(PLAIN(look, 'x')).toBe('x');
  });

  it('leaves nothing as it is', () => {
    expect(COLOURED('heading', '')).toBe('');
  });
});

describe('banded', () => {
  it('makes every second line faint, its line feed not', () => {
    expect([0, 1, 2, 3].map((at) => banded('x', at, COLOURED))).toEqual([
      'x\n',
      '\u001b[2mx\u001b[22m\n',
      'x\n',
      '\u001b[2mx\u001b[22m\n',
    ]);
    expect(stripVTControlCharacters(banded('x', 1, COLOURED))).toBe(banded('x', 1, PLAIN));
  });
});
