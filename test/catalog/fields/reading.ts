import type { Kind, ReadContext } from '../../../src/catalog/fields/kind.ts';

/** What a kind made of one input at `field`: its value, and each problem as `code source`. */
export function readWith(kind: Kind, input: unknown, context: Partial<ReadContext> = {}) {
  const full: ReadContext = { problems: [], warnings: [], mode: 'create', ...context };
  const value = kind.read(input, 'field', full);
  return {
    value,
    problems: full.problems.map(({ code, source }) => `${code} ${source}`),
    descriptions: full.problems.map((problem) => problem.description),
  };
}
