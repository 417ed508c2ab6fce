import { describe, expect, it } from 'vitest';
import { OPERATORS, typedForms, worded } from '../../src/catalog/operators.ts';

describe('operators as they are typed on a command line', () => {
  it.each([
    ['<>=', '.contains=', '<>= or .contains='],
    ['==', '.eq=', '== or .eq='],
    ['!=', '.ne=', '!= or .ne='],
    ['~=', '.starts=', '~= or .starts='],
    ['->', '.in=', '-> or .in='],
    ['>=', '.gte=', '>= or .gte='],
    ['<=', '.lte=', '<= or .lte='],
    ['>', '.gt=', '> or .gt='],
    ['<', '.lt=', '< or .lt='],
    ['.absent', '.absent', '.absent'],
    ['.present', '.present', '.present'],
  ] as const)('%s', (operator, word, forms) => {
    expect([worded(operator), typedForms(operator)]).toEqual([word, forms]);
  });

  it('are looked for with the longest first: none begins with one before it', () => {
    for (const [at, operator] of OPERATORS.entries()) {
      expect(OPERATORS.slice(0, at).filter((earlier) => operator.startsWith(earlier))).toEqual([]);
    }
  });
});
