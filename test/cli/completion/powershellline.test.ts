import { describe, expect, it } from 'vitest';
import { answerLine, readRequest } from '../../../src/cli/completion/powershell.ts';

const asked = (line: string, word: string) => readRequest(Buffer.from(`${line}\n${word}`).toString('base64'));

describe('readAsked', () => {
  it.each([
    ['molar pat', 'pat', ['pat'], ''],
    ['molar patients ', '', ['patients', ''], ''],
    ['molar  patients   list', 'list', ['patients', 'list'], ''],
    ["molar x 'Call me", "'Call me", ['x', 'Call me'], ''],
    ["molar x 'it''s' ", '', ['x', "it's", ''], ''],
    ['molar x "a`"b" c', 'c', ['x', 'a"b', 'c'], ''],
    ['molar x a` b', 'a` b', ['x', 'a b'], ''],
    ['molar x --fields id,la', 'la', ['x', '--fields', 'id,la'], 'id,'],
    ['molar x --fields id,', '', ['x', '--fields', 'id,'], 'id,'],
    ['molar x Zoë', 'Zoë', ['x', 'Zoë'], ''],
    ['molar x y', 'other', ['x', 'y'], ''],
  ])('reads %j with %j to replace', (line, word, words, kept) => {
    expect(asked(line, word)).toEqual({ typed: { before: words.slice(0, -1), current: words.at(-1) }, kept });
  });
});

describe('answerLine', () => {
  it.each([
    ['json', '', 'json\tForm'],
    ['id,lastName', 'id,', 'lastName\tForm'],
    ['Call me', '', "'Call me'\tForm"],
    ["O'Hara x", '', "'O''Hara x'\tForm"],
  ])('writes %j after %j', (word, kept, line) => {
    expect(answerLine({ word, about: 'Form' }, kept)).toBe(line);
  });
});
