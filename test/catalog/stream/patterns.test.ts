import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchPatterns, patternProblem } from '../../../src/catalog/stream/patterns.ts';

const KEY = 'org1.5.PatientV1.CREATE';

describe('a pattern', () => {
  it.each([
    ['org1.5.PatientV1.CREATE', true],
    ['org1.5.PatientV1.UPDATE', false],
    ['org1.*.PatientV1.*', true],
    ['*.*.*.*', true],
    ['*.*.*', false],
    ['*.*.*.*.*', false],
    ['#', true],
    ['org1.#', true],
    ['org2.#', false],
    ['#.CREATE', true],
    ['#.UPDATE', false],
    ['#.PatientV1.#', true],
    ['#.5.#.CREATE', true],
    ['#.#', true],
    ['org1.#.5.#.PatientV1.#.CREATE.#', true],
    ['org1.#.*.CREATE', true],
    ['#.*.*.*.*.#', true],
    ['#.*.*.*.*.*.#', false],
    ['org1.5.PatientV1.CREATE.#', true],
    ['ORG1.5.PatientV1.CREATE', false],
    ['org1.5.Patient*.CREATE', false],
    ['org1.5.PatientV1', false],
  ])('%s fits org1.5.PatientV1.CREATE: %s', (pattern, expected) => {
    expect(matchPatterns([pattern])(KEY)).toBe(expected);
  });

  it('takes the location * of a key for a segment like any other (D40)', () => {
    const key = 'org1.*.DocumentV1.CREATE';
    expect(['org1.5.#', 'org1.*.#', '#'].map((pattern) => matchPatterns([pattern])(key))).toEqual([false, true, true]);
  });

  it('does not stand alone: one that fits is enough, and none fits everything', () => {
    expect(matchPatterns(['org2.#', '#.CREATE'])(KEY)).toBe(true);
    expect(matchPatterns(['org2.#', '#.UPDATE'])(KEY)).toBe(false);
    expect(matchPatterns([])(KEY)).toBe(true);
  });
});

/** The definition, word for word: # takes none or more segments, * takes one. */
function fitsByDefinition([head, ...pattern]: readonly string[], key: readonly string[]): boolean {
  if (head === undefined) return key.length === 0;
  if (head === '#') return key.length === 0 ? fitsByDefinition(pattern, []) : takes(pattern, key);
  return key.length > 0 && (head === '*' || head === key[0]) && fitsByDefinition(pattern, key.slice(1));
}

function takes(pattern: readonly string[], key: readonly string[]): boolean {
  return key.some((_, at) => fitsByDefinition(pattern, key.slice(at))) || fitsByDefinition(pattern, []);
}

describe('matching', () => {
  // Few different words, so that keys and patterns often fit.
  const word = fc.constantFrom('a', 'b', 'c');
  const key = fc.array(word, { minLength: 1, maxLength: 7 });
  const pattern = fc.array(fc.oneof(word, fc.constant('*'), fc.constant('#')), { minLength: 1, maxLength: 7 });

  it('is what its definition says (property)', () => {
    fc.assert(
      fc.property(pattern, key, (some, other) => {
        expect(matchPatterns([some.join('.')])(other.join('.'))).toBe(fitsByDefinition(some, other));
      }),
      { numRuns: 5000 },
    );
  });

  it('of several is that of any of them (property)', () => {
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 4 }), key, (some, other) => {
        const texts = some.map((each) => each.join('.'));
        expect(matchPatterns(texts)(other.join('.'))).toBe(some.some((each) => fitsByDefinition(each, other)));
      }),
    );
  });

  it('takes no longer the more # there are', () => {
    const hard = `${'#.a.'.repeat(40)}b`;
    expect(matchPatterns([hard])('a.'.repeat(200).slice(0, -1))).toBe(false);
  });
});

describe('what is no pattern', () => {
  it.each([
    ['a..b', 'empty one'],
    ['.a', 'empty one'],
    ['a.', 'empty one'],
    ['', 'empty one'],
    ['é'.repeat(128), '255 bytes'],
  ])('%j is told', (pattern, why) => {
    expect(patternProblem(pattern)).toContain(why);
  });

  it.each(['#', '*', 'a', 'a.*.#', 'x'.repeat(255)])('%j is one', (pattern) => {
    expect(patternProblem(pattern)).toBeUndefined();
  });
});
