import { type CheckContext, CheckFindings } from '../../../src/server/maintenance/check/context.ts';
import { Statements } from '../../../src/server/store/sqlite/statements.ts';
import type { Reader } from '../../../src/server/store/store.ts';
import { loadDriver } from '../../../src/sqlite/open.ts';

/**
 * What a check finds in a database in memory, a line a problem: `1 ledger 5: is missing`, after the organization. Its tables
 * have no keys or indexes, so that rows come in the order in which they were written unless another one is asked for.
 */
export async function foundIn(
  statements: string,
  check: (context: CheckContext, book: CheckFindings) => Promise<void>,
): Promise<string[]> {
  const connection = new (loadDriver())(':memory:');
  try {
    connection.exec(statements);
    const prepared = new Statements(connection);
    const read: Reader = {
      all: async (statement) => prepared.all(statement),
      get: async (statement) => prepared.get(statement),
    };
    const book = new CheckFindings();
    const context = { read, organization: (org: number) => String(org), turn: async () => {} };
    await check(context as unknown as CheckContext, book);
    return book
      .all()
      .flatMap(({ listed }) => listed)
      .map(({ organization, table, id, message }) =>
        [organization, table, id]
          .filter((part) => part !== null)
          .join(' ')
          .concat(`: ${message}`),
      );
  } finally {
    connection.close();
  }
}
