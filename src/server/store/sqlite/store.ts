import { join } from 'node:path';
import { type Connection, openConnection } from '../../../sqlite/open.ts';
import { countWaiting, sequenceWaiting } from '../auditlog.ts';
import { requireFingerprint } from '../schema/faults.ts';
import { SCHEMA } from '../schema/schema.ts';
import { FINGERPRINT_TEXT } from '../schema/state.ts';
import { upgrade } from '../schema/upgrade.ts';
import type { UpgradeOptions } from '../schema/upgradework.ts';
import type { Reader, Store, Transaction } from '../store.ts';
import { TableCountCache } from './countcache.ts';
import { writeStatistics } from './indexes.ts';
import { lockFolder, ReadLock } from './lock.ts';
import { claimFolder } from './staging.ts';
import { Statements } from './statements.ts';
import { type CommitWatcher, GroupWriter } from './writer.ts';

/**
 * Pages in the journal before a commit copies them into the database, 16 MB: the thread that answers does it, and waits
 * for the disk. Seldom is cheaper, since most pages are written many times in between.
 */
const CHECKPOINT_PAGES = 4_000;
/** A process beside the server, such as an import, does it sooner, so that the server's requests do not wait for it. */
const CHECKPOINT_PAGES_BESIDE = CHECKPOINT_PAGES / 2;

type Opening = UpgradeOptions & { readonly serving: boolean };

/**
 * Opens the SQLite store of a data folder: WAL, FULL sync, migrated to this version. With `serving` the folder is
 * locked against a second server. Throws `StoreUnusable`.
 */
export async function openSqliteStore(folder: string, options: Opening): Promise<Store> {
  const unlock = options.serving ? lockFolder(folder) : () => {};
  try {
    return await open(join(folder, 'molar.sqlite'), options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function open(file: string, options: Opening, unlock: () => void): Promise<Store> {
  const writing = openConnection(file);
  try {
    return await opened(writing, file, options, unlock);
  } catch (error) {
    writing.close();
    throw error;
  }
}

async function opened(
  writing: Connection,
  file: string,
  { schema = SCHEMA, serving, ...options }: Opening,
  unlock: () => void,
): Promise<Store> {
  writing.pragma('journal_mode = WAL');
  const first = new GroupWriter(writing);
  await upgrade({
    ...options,
    dialect: 'sqlite',
    schema,
    transact: (work) => first.submit(work),
    completed: () => writeStatistics(writing, schema),
  });
  // A connection that was open before would go on planning with the statistics that it has read.
  const reading = openConnection(file, { readonly: true });
  const holding = openConnection(file, { readonly: true });
  const lock = new ReadLock(holding);
  const tables = new TableCountCache(reading);
  const watcher: CommitWatcher = {
    begun: () => tables.begun(),
    committing: () => lock.release(),
    committed: (written) => tables.committed(written),
  };
  const writer = new GroupWriter(writing, watcher);
  // What a connection commits itself leaves its data_version as it is: so rows of logs do not count as a change.
  const logging = openConnection(file);
  const pages = serving ? CHECKPOINT_PAGES : CHECKPOINT_PAGES_BESIDE;
  for (const writer of [writing, logging]) writer.pragma(`wal_autocheckpoint = ${pages}`);
  const dataVersion = logging.prepare('PRAGMA data_version').pluck();
  const logWriter = new GroupWriter(logging, watcher, 'reads');
  const statements = new Statements(reading);
  const { ReaderThread } = await import('./readerport.ts');
  const thread = new ReaderThread(file);
  const read: Reader = {
    all: async (statement) => statements.all(statement),
    get: async (statement) => statements.get(statement),
    aside: (owner) => thread.for(owner),
  };
  let unchanged = { version: -1, known: new Map<string, number>() };
  return {
    read,
    readFor: () => read,
    lookupsFor: () => read,
    countCache(table) {
      if (table !== undefined) return tables.of(table);
      // Asked at the beginning of a request, which reads more in the same turn.
      lock.hold();
      // Other than before whenever another connection has committed: the writing one, or another process.
      const version = dataVersion.get() as number;
      if (version !== unchanged.version) unchanged = { version, known: new Map() };
      return unchanged.known;
    },
    write: <T>(work: (tx: Transaction) => Promise<T>) => writer.submit(work),
    appendLogs: (rows) =>
      logWriter.submit(async (tx) => {
        for (const row of rows) await tx.append(row);
      }),
    async sequenceEntries() {
      // Only what a copy of another store has brought: here an entry gets its place when it is written.
      while ((await countWaiting(read)) > 0) await logWriter.submit((tx) => sequenceWaiting(tx, 0));
    },
    claimImports: async () => claimFolder(file),
    onCommit: (listener) => writer.onCommit(listener),
    async tidy() {
      await writer.idle();
      lock.release();
      // Another process may be writing: its own checkpoint will do then.
      writing.pragma('wal_checkpoint(TRUNCATE)');
      writing.pragma('shrink_memory');
    },
    async ping() {
      const row = statements.get<{ value: string }>({ sql: FINGERPRINT_TEXT, text: FINGERPRINT_TEXT, values: [] });
      requireFingerprint(schema, row?.value);
    },
    counts: writer.counts,
    async close() {
      await writer.idle();
      await logWriter.idle();
      await thread.close();
      lock.release();
      holding.close();
      reading.close();
      logging.close();
      writing.close();
      unlock();
    },
  };
}
