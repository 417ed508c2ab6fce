import { describe, expect, it } from 'vitest';
import { codeOf } from './code.ts';

describe('codeOf', () => {
  it.each([
    ['line comment', 'a(); // any\nb();', 'a(); \nb();'],
    ['block comment over lines', 'a /* any\nany */ b', 'a \n b'],
    ['string', "x('any', y)", "x('', y)"],
    ['escaped quote', String.raw`x('it\'s any', y)`, "x('', y)"],
    ['comment signs in a string', "x('http://any', y)", "x('', y)"],
    ['template with code', 'a`any $' + '{b} any`', 'a`$' + '{b}`'],
    ['template in a template', '`x$' + '{f(`any $' + '{y}`)}z`', '`$' + '{f(`$' + '{y}`)}`'],
    ['braces in a template', '`$' + '{f({ a: 1 })}any`', '`$' + '{f({ a: 1 })}`'],
    ['regular expression with a quote', "x = /['any]/g; y", 'x = //g; y'],
    ['slash in a class', 'f(/[/"]any/, z)', 'f(//, z)'],
    ['division', 'a / any / b', 'a / any / b'],
  ])('%s', (_name, source, expected) => {
    expect(codeOf(source)).toBe(expected);
  });
});
