import { describe, expect, it } from 'vitest';
import { blocks, escaped, literal, macro, running, terms } from '../../../src/cli/help/roff.ts';

describe('text of a manual page', () => {
  it.each([
    ['hyphens of flags', '--all', '\\-\\-all'],
    ['backslashes', 'a\\b', 'a\\eb'],
    ['quotes', `'a' "b" \`c\``, '\\(aqa\\(aq \\(dqb\\(dq \\(gac\\(ga'],
    ['signs that formatters turn into others', '~=^', '\\(ti=\\(ha'],
    ['other letters', 'a…é', 'a\\[u2026]\\[u00E9]'],
    ['letters beyond 16 bits', '😀', '\\[u1F600]'],
  ])('escapes %s', (_, text, expected) => {
    expect(escaped(text)).toBe(expected);
  });

  it.each([
    ['a request', '.absent is', '\\&.absent is'],
    ['lines', 'a\nb', 'a\n.br\nb'],
    ['empty lines', 'a\n\nb', 'a\n.br\nb'],
    ['a long line', `${'x'.repeat(70)} yyyyyyyy .z`, `${'x'.repeat(70)}\nyyyyyyyy .z`],
    ['a request where a line breaks', `${'x'.repeat(76)} .z`, `${'x'.repeat(76)}\n\\&.z`],
  ])('guards and breaks %s', (_, text, expected) => {
    expect(running(text)).toBe(expected);
  });

  it('writes arguments of macros', () => {
    expect(macro('TH', 'A', '', 'b c')).toBe('.TH A "" "b c"');
  });

  it('writes terms, also without a meaning', () => {
    expect(
      terms([
        ['--a', 'one'],
        ['b c', ''],
      ]),
    ).toBe('.TP\n.B \\-\\-a\none\n.TP\n.B "b c"\n\\&');
  });

  it('keeps lines as they are, long ones through a join', () => {
    const long = `$ molar ${'x'.repeat(60)} ${'y'.repeat(20)}`;
    expect(literal(['a  b', long])).toBe(
      ['.RS 4', '.nf', 'a  b', `$ molar ${'x'.repeat(60)}\\ \\c`, 'y'.repeat(20), '.fi', '.RE'].join('\n'),
    );
  });

  it('puts paragraphs between parts', () => {
    expect(blocks(['a', 'b', { code: ['c'] }])).toBe('a\n.PP\nb\n.PP\n.RS 4\n.nf\nc\n.fi\n.RE');
  });
});
