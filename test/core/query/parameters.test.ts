import { expect, test } from 'vitest';
import { checkParameters, readParameters } from '../../../src/core/query/parameters.ts';
import { distinctNames } from '../../../src/core/query/result.ts';
import { type Engine, placeText, sqlTokens } from '../../../src/core/query/sqltokens.ts';

test.each([
  ['5', 5n],
  ['0', 0n],
  ['-12', -12n],
  ['9223372036854775807', 9223372036854775807n],
  ['-9223372036854775808', -9223372036854775808n],
  ['9223372036854775808', '9223372036854775808'],
  ['007', '007'],
  ['+5', '+5'],
  ['-0', '-0'],
  ['1.5', '1.5'],
  ['', ''],
  ['a=b', 'a=b'],
  ['a\nb', 'a\nb'],
  [' 5', ' 5'],
])('--param k=%s', (text, value) => {
  expect(readParameters([`k=${text}`])).toEqual({ k: value });
});

test.each(['k', '=5', '1k=5', 'a b=5', ''])('--param %s is refused', (text) => {
  expect(() => readParameters([text])).toThrow(expect.objectContaining({ exitCode: 2 }));
});

test('a name that is given twice is refused', () => {
  expect(() => readParameters(['k=1', 'k=2'])).toThrow(/twice/);
});

const names = (sql: string, engine: Engine) =>
  sqlTokens(sql, engine).flatMap(({ kind, text }) => (kind === 'parameter' ? [text] : []));

test('parameters are told from what looks like them', () => {
  const sql = `SELECT ':a', ":b", x -- :c
    /* :d */ FROM t WHERE y = :e AND z = @f AND w = $g`;
  expect(names(sql, 'sqlite')).toEqual([':e', '@f', '$g']);
  expect(names(sql, 'postgres')).toEqual([':e', '@f', '$g']);
  expect(names("SELECT 'it''s :a' || :b", 'sqlite')).toEqual([':b']);
  expect(names('SELECT [:a], `:b`, :c', 'sqlite')).toEqual([':c']);
  expect(names("SELECT a::text, $$ :b $$, $x$ :c $x$, E'\\' :d', x <@ y, :e::int, a <@:f", 'postgres')).toEqual([
    ':e',
    ':f',
  ]);
});

test('each parameter needs a value, and each value a parameter', () => {
  const tokens = sqlTokens('SELECT :a, @b, $a', 'sqlite');
  expect(() => checkParameters(tokens, { a: 1n, b: 'x' })).not.toThrow();
  expect(() => checkParameters(tokens, { a: 1n })).toThrow(/--param b=VALUE/);
  expect(() => checkParameters(tokens, { a: 1n, b: 'x', c: 'y' })).toThrow(/no parameter :c; it has :a, :b/);
  expect(() => checkParameters(sqlTokens('SELECT ?', 'sqlite'), {})).toThrow(/names/);
  expect(() => checkParameters(sqlTokens('SELECT $1', 'postgres'), {})).toThrow(/names/);
});

test('places count lines and characters from 1', () => {
  expect(placeText('SELECT\n  nope', 9)).toBe('line 2, column 3');
  expect(placeText('😀x', 2)).toBe('line 1, column 2');
});

test('equal names are told apart, and none is taken twice', () => {
  expect(distinctNames(['a', 'b', 'a', 'a'])).toEqual(['a', 'b', 'a_2', 'a_3']);
  expect(distinctNames(['a', 'a', 'a_2'])).toEqual(['a', 'a_3', 'a_2']);
  expect(distinctNames(['a', 'a', 'a_2', 'a', 'a_2'])).toEqual(['a', 'a_3', 'a_2', 'a_4', 'a_2_2']);
  expect(distinctNames([])).toEqual([]);
});
