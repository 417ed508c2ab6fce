import { join } from 'node:path';
import { openConnection } from '../../../sqlite/open.ts';
import { requireFingerprint } from '../schema/faults.ts';
import { SCHEMA } from '../schema/schema.ts';
import { FINGERPRINT_TEXT } from '../schema/state.ts';
import type { Reader, Store } from '../store.ts';
import { TableCountCache } from './countcache.ts';
import { Statements } from './statements.ts';

const READ_ONLY = 'This process only reads.';

/**
 * Opens the SQLite store of a data folder beside the process that serves it, which has brought it to this version. Rows
 * of logs are given to `appendLogs`; nothing else can be written. Every read sees what was committed when it began.
 */
export async function openSqliteReader(folder: string, appendLogs: Store['appendLogs']): Promise<Store> {
  const file = join(folder, 'molar.sqlite');
  const connection = openConnection(file, { readonly: true });
  const { ReaderThread } = await import('./readerport.ts');
  const thread = new ReaderThread(file);
  const statements = new Statements(connection);
  const tables = new TableCountCache(connection);
  const dataVersion = connection.prepare('PRAGMA data_version').pluck();
  let unchanged = { version: dataVersion.get() as number, known: new Map<string, number>() };
  const read: Reader = {
    all: async (statement) => statements.all(statement),
    get: async (statement) => statements.get(statement),
    aside: (owner) => thread.for(owner),
  };
  return {
    read,
    readFor: () => read,
    lookupsFor: () => read,
    countCache(table) {
      if (table !== undefined) return tables.of(table);
      const version = dataVersion.get() as number;
      if (version !== unchanged.version) unchanged = { version, known: new Map() };
      return unchanged.known;
    },
    appendLogs,
    write: () => Promise.reject(new Error(READ_ONLY)),
    sequenceEntries: () => Promise.reject(new Error(READ_ONLY)),
    claimImports: () => Promise.reject(new Error(READ_ONLY)),
    onCommit: () => () => undefined,
    tidy: async () => undefined,
    async ping() {
      const row = statements.get<{ value: string }>({ sql: FINGERPRINT_TEXT, text: FINGERPRINT_TEXT, values: [] });
      requireFingerprint(SCHEMA, row?.value);
    },
    counts: { writes: 0, commits: 0 },
    async close() {
      await thread.close();
      connection.close();
    },
  };
}
