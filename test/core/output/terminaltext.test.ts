import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayWidth, fitText, terminalText } from '../../../src/core/output/terminaltext.ts';

describe('terminalText', () => {
  it.each([
    ['plain', 'Ann Example', 'Ann Example'],
    ['accents', 'Zoë García', 'Zoë García'],
    ['line breaks', 'a\r\nb\nc\rd\u2028e', 'a b c d e'],
    ['a tab', 'a\tb', 'a b'],
    ['a colour', '\u001b[31mred\u001b[0m', '\ufffd[31mred\ufffd[0m'],
    ['a title', '\u001b]0;x\u0007', '\ufffd]0;x\ufffd'],
    ['C1 controls', '\u009b31m', '\ufffd31m'],
    ['a backspace', 'a\bb', 'a\ufffdb'],
    ['a change of direction', 'a\u202eb', 'a\ufffdb'],
    ['isolates', '\u2066a\u2069', '\ufffda\ufffd'],
  ])('%s', (_name, text, expected) => {
    expect(terminalText(text)).toBe(expected);
  });

  it('never has a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(terminalText(text)).not.toMatch(/\p{Cc}|[\u2028-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

describe('displayWidth', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['Zoë', 3],
    ['Zoe\u0308', 3],
    ['王小明', 6],
    ['ｱ', 1],
    ['Ａ', 2],
    ['한국', 4],
    ['😀', 2],
    ['👩‍👩‍👧', 2],
    ['❤️', 2],
    ['🇺🇸', 2],
    ['…', 1],
  ])('%s is %i', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

describe('fitText', () => {
  it.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'abcd…'],
    ['abcdef', 1, '…'],
    ['ab cdef', 4, 'ab…'],
    ['王小明王', 7, '王小明…'],
    ['王小明王', 6, '王小…'],
    ['a👩‍👩‍👧b', 3, 'a…'],
    ['e\u0308e\u0308e\u0308', 2, 'e\u0308…'],
  ])('%s in %i columns is %s', (text, width, expected) => {
    expect(fitText(text, width)).toBe(expected);
  });

  it('is never wider than it may be', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 30 }), (text, width) => {
        expect(displayWidth(fitText(text, width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});
