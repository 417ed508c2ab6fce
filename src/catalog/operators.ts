/** Filter operators (specification, Common conventions 2). Longest first: matching text takes the first that fits (D10). */
export const OPERATORS = ['<>=', '==', '!=', '~=', '->', '>=', '<=', '>', '<', '.absent', '.present'] as const;

export type Operator = (typeof OPERATORS)[number];

/** Operators that stand between a key and a value. */
export const VALUE_OPERATORS = OPERATORS.filter((operator) => !operator.startsWith('.'));

/**
 * Words for the operators on a command line, where a shell takes `<` and `>` for itself: `lastModified.gte=2026-01-01`.
 * The API does not know them.
 */
export const OPERATOR_WORDS = {
  eq: '==',
  ne: '!=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  in: '->',
  starts: '~=',
  contains: '<>=',
} as const satisfies Readonly<Record<string, Operator>>;

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

/** What follows a key on a command line, without signs that a shell takes for itself: `.gte=`, `.absent`. */
export function worded(operator: Operator): string {
  const word = Object.entries(OPERATOR_WORDS).find(([, meant]) => meant === operator)?.[0];
  return word === undefined ? operator : `.${word}=`;
}

/** How an operator is typed on a command line: `>= or .gte=`. */
export function typedForms(operator: Operator): string {
  return worded(operator) === operator ? operator : `${operator} or ${worded(operator)}`;
}

export const EQUALS = ['=='] as const;
export const IN = ['->'] as const;
export const EQUALS_IN = ['==', '->'] as const;
export const EQUALS_NOT = ['==', '!='] as const;
export const EQUALS_NOT_IN = ['==', '!=', '->'] as const;
export const TEXT = ['==', '!=', '~=', '<>='] as const;
export const RANGE = ['>', '>=', '<', '<='] as const;
export const EQUALS_RANGE = ['==', '>', '>=', '<', '<='] as const;
