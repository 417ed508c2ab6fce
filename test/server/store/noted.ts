import type { Statement, Transaction } from '../../../src/server/store/store.ts';

/** A transaction that writes nothing but notes what it was to run; `found` answers what is read. */
export function noted(found: (statement: Statement) => object | undefined = () => undefined) {
  const runs: Statement[] = [];
  const tx: Transaction = {
    all: async <T extends object>(statement: Statement) => {
      const row = found(statement);
      return (row === undefined ? [] : [row]) as T[];
    },
    get: async <T extends object>(statement: Statement) => found(statement) as T | undefined,
    run: async (statement) => runs.push(statement),
    queue: async (statement) => void runs.push(statement),
    nextId: async () => 1,
    count: () => {},
    append: async () => {},
    appendSelected: async () => {},
    beginBulkLoad: async () => ({ restore: async () => {} }),
  };
  return { tx, runs };
}
