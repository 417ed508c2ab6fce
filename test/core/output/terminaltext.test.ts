import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  displayWidth,
  fitText,
  terminalDrawing,
  terminalJson,
  terminalLines,
  terminalText,
  wrapText,
} from '../../../src/core/output/terminaltext.ts';
import { anyCharacter } from '../../support/characters.ts';

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
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(terminalText(text)).not.toMatch(/\p{Cc}|[\u2028-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

describe('terminalLines', () => {
  it.each([
    ['lines and tabs', 'a,b\r\nc\td\n', 'a,b\r\nc\td\n'],
    ['a colour', 'a\u001b[31m\n', 'a\ufffd[31m\n'],
    ['a carriage return that would overwrite the line', 'abc\rxyz\n', 'abc\ufffdxyz\n'],
    ['a byte order mark and C1', '\ufeffa\u009b\n', '\ufffda\ufffd\n'],
  ])('%s', (_name, text, expected) => {
    expect(terminalLines(text)).toBe(expected);
  });
});

describe('terminalJson', () => {
  it('has the same values, and line feeds as the only control characters', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter })), (value) => {
        const text = terminalJson(JSON.stringify(value, null, 2));
        expect(JSON.parse(text)).toEqual(value);
        expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}|[\u2028-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  it('escapes what is there', () => {
    expect(terminalJson('{"a":"\u009b1m\u202e"}')).toBe('{"a":"\\u009b1m\\u202e"}');
  });
});

describe('terminalDrawing', () => {
  it.each([
    ['colours, which are its own', '\u001b[1mName\u001b[22m\n', '\u001b[1mName\u001b[22m\n'],
    ['a movement of the cursor', 'a\u001b[2Jb\u001b[10;10H', 'a\ufffd[2Jb\ufffd[10;10H'],
    ['a title', '\u001b]0;x\u0007', '\ufffd]0;x\ufffd'],
    ['a change of direction', 'a\u202eb\r', 'a\ufffdb\ufffd'],
  ])('%s', (_name, text, expected) => {
    expect(terminalDrawing(text)).toBe(expected);
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

describe('wrapText', () => {
  it.each([
    ['', 5, ['']],
    ['ab cd', 5, ['ab cd']],
    ['ab cd ef', 5, ['ab cd', 'ef']],
    ['abcdefg', 3, ['abc', 'def', 'g']],
    ['ab cdefgh', 3, ['ab', 'cde', 'fgh']],
    ['王小明', 4, ['王小', '明']],
    ['王小明', 1, ['王', '小', '明']],
  ])('%j in %i columns', (text, width, lines) => {
    expect(wrapText(text, width)).toEqual(lines);
  });

  it('loses nothing but blanks, and is never wider than it may be', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 30 }), (text, width) => {
        const lines = wrapText(text, width);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});
