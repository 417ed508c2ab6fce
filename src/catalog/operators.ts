/** Filter operators (specification, Common conventions 2). Longest first: matching text takes the first that fits (D10). */
export const OPERATORS = ['<>=', '==', '!=', '~=', '->', '>=', '<=', '>', '<', '.absent', '.present'] as const;

export type Operator = (typeof OPERATORS)[number];

/** Operators that stand between a key and a value. */
export const VALUE_OPERATORS = OPERATORS.filter((operator) => !operator.startsWith('.'));

/** What each operator means, for help and reference pages. */
export const OPERATOR_MEANINGS: Readonly<Record<Operator, string>> = {
  '==': 'equal to',
  '!=': 'not equal to (records without a value included)',
  '~=': 'starts with (any letter case)',
  '<>=': 'contains (any letter case)',
  '->': 'any of a list: [a,b]',
  '>': 'greater than, later than',
  '>=': 'at least, not before',
  '<': 'less than, earlier than',
  '<=': 'at most, not after',
  '.absent': 'has no value',
  '.present': 'has a value',
};

export const EQUALS = ['=='] as const;
export const IN = ['->'] as const;
export const EQUALS_IN = ['==', '->'] as const;
export const EQUALS_NOT = ['==', '!='] as const;
export const EQUALS_NOT_IN = ['==', '!=', '->'] as const;
export const TEXT = ['==', '!=', '~=', '<>='] as const;
export const RANGE = ['>', '>=', '<', '<='] as const;
export const EQUALS_RANGE = ['==', '>', '>=', '<', '<='] as const;
