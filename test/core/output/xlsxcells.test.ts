import { describe, expect, it } from 'vitest';
import { columnLetters, xmlText } from '../../../src/core/output/xlsxcells.ts';

describe('xmlText', () => {
  it.each([
    ['control characters', 'a\u0000b\u001Bc\uFFFE', 'abc'],
    ['tabs and line feeds', 'a\tb\nc', 'a\tb\nc'],
    ['other line ends', 'a\r\nb\rc', 'a\nb\nc'],
    ['escapes of spreadsheets', '_x000D_ _x00_', '_x005F_x000D_ _x00_'],
  ])('makes %s harmless', (_name, text, xml) => expect(xmlText(text)).toBe(xml));
});

describe('columnLetters', () => {
  it.each([
    [0, 'A'],
    [25, 'Z'],
    [26, 'AA'],
    [51, 'AZ'],
    [701, 'ZZ'],
    [702, 'AAA'],
  ])('names column %i %s', (at, letters) => expect(columnLetters(at)).toBe(letters));
});
