import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll } from 'vitest';
import { removeTree } from '../../src/filesystem/durable.ts';
import type { CheckpointKeeper } from '../../src/server/audit/keeper.ts';
import type { BudgetLimits } from '../../src/server/budgets/limits.ts';
import { type OpenFolder, type OpenOptions, openFolder } from '../../src/server/datafolder.ts';
import { buildApp } from '../../src/server/http/app.ts';
import { importRecords } from '../../src/server/import/importer.ts';
import { ImportRefused, numberRecords } from '../../src/server/import/lines.ts';
import type { ImportSummary } from '../../src/server/import/reading.ts';
import type { Service } from '../../src/server/service.ts';
import type { SignIn } from '../../src/server/signin/signin.ts';
import type { ListenerTimes } from '../../src/server/stream/listener.ts';
import { type Call, type Called, caller } from './calls.ts';
import { START, TestClock } from './clock.ts';
import { allRecords } from './practice.ts';
import { practiceFolder, startedFolder } from './preparedfolders.ts';
import { preparedDatabase } from './preparedschemas.ts';
import { ON_POSTGRES } from './store.ts';

type Records = Iterable<Readonly<Record<string, unknown>>>;

interface TestServiceOptions {
  /** One that goes when the service closes, when not given. */
  readonly data?: string;
  /** SQLite when not given, unless MOLAR_TEST_STORE says `postgres`; a folder that is given is one of SQLite. */
  readonly store?: 'sqlite' | 'postgres';
  /** `postgres://…`: a database of the test's own, which it drops itself. */
  readonly database?: string;
  /** Milliseconds that a statement of PostgreSQL may take; without a limit when not given. */
  readonly statementTimeoutMs?: number;
  readonly clock?: TestClock;
  readonly maxDocumentBytes?: number;
  /** Code points of a free text, 10000 when not given. */
  readonly maxText?: number;
  readonly requireLocation?: boolean;
  readonly behindProxy?: boolean;
  /** Requests a second; 0, no limit, when not given. */
  readonly rateLimit?: number;
  /** Credentials that are not accepted, from one address at once; 0, no limit, when not given. */
  readonly failedAttempts?: number;
  /** Budgets that are not the usual ones; async deliveries are without a limit when it says nothing of them. */
  readonly budgets?: Partial<BudgetLimits>;
  readonly streamRetentionDays?: number;
  /** Days that files of deleted documents are kept, 7 when not given. */
  readonly fileRetentionDays?: number;
  /** Who signs in besides the holders of tokens. */
  readonly signIn?: SignIn;
  readonly audit?: Pick<OpenOptions, 'audit' | 'auditKey' | 'auditCheckpoints' | 'onAuditFault'>;
  /** Times of stream listeners, where they are not the usual ones. */
  readonly listeners?: Partial<ListenerTimes>;
}

/** The real app on a data folder of its own, called in process. An answer of 500 throws the fault behind it. */
export interface TestService {
  readonly clock: TestClock;
  readonly app: FastifyInstance;
  readonly service: Service;
  /** The data folder. */
  readonly path: string;
  /** `postgres://…` where the store is PostgreSQL: with it another process, or store, opens the same records. */
  readonly database: string | undefined;
  /** Signs the audit log. */
  readonly keeper: CheckpointKeeper;
  readonly call: Call;
  import(records: Records): Promise<ImportSummary>;
  close(): Promise<void>;
}

/** Opens a service with the records given; the two practices of `practice.ts` when none are. */
export async function testService(records?: Records, options: TestServiceOptions = {}): Promise<TestService> {
  const clock = options.clock ?? new TestClock();
  const isPrepared = records === undefined && clock.now() === START && hasOwnSqlite(options);
  const folder = await openTestFolder(options, isPrepared ? practiceFolder : startedFolder, {
    serving: true,
    clock: clock.now,
    requireLocation: options.requireLocation ?? false,
    budgets: { deliveries: Number.MAX_SAFE_INTEGER, ...options.budgets },
    ...(options.streamRetentionDays !== undefined && { streamRetentionDays: options.streamRetentionDays }),
    ...(options.fileRetentionDays !== undefined && { fileRetentionDays: options.fileRetentionDays }),
    ...(options.maxText !== undefined && { maxText: options.maxText }),
    ...options.audit,
    ...(options.maxDocumentBytes !== undefined && { maxDocumentBytes: options.maxDocumentBytes }),
  });
  const faults: unknown[] = [];
  const app = await buildApp(folder.service, {
    log: { answered() {}, failed: (_id, error) => faults.push(error) },
    timeouts: { requestMs: 120_000 },
    behindProxy: options.behindProxy ?? false,
    rateLimit: options.rateLimit ?? 0,
    failedAttempts: options.failedAttempts ?? 0,
    ...(options.signIn && { signIn: options.signIn }),
    ...(options.listeners && { listeners: options.listeners }),
  });
  const opened: TestService = {
    clock,
    app,
    service: folder.service,
    path: folder.path,
    database: folder.database,
    keeper: folder.keeper as CheckpointKeeper,
    call: caller(app, faults),
    import: (lines) => importRecords(folder.service, () => numberRecords(lines), { allowCredentials: true }),
    close: () => closeBoth(app, folder),
  };
  try {
    if (!isPrepared) await opened.import(records ?? allRecords());
    return opened;
  } catch (error) {
    await opened.close();
    if (error instanceof ImportRefused) throw new Error(`${error.message} ${JSON.stringify(error.problems)}`);
    throw error;
  }
}

/** Whether its records are in a database of SQLite that only this service knows. */
function hasOwnSqlite({ data, store, database }: TestServiceOptions): boolean {
  const onPostgres = store === undefined ? ON_POSTGRES : store === 'postgres';
  return data === undefined && database === undefined && !onPostgres;
}

/** A folder for the service, made by `prepared` where it is its own, and a database of its own where the store is PostgreSQL. */
async function openTestFolder(
  test: TestServiceOptions,
  prepared: () => Promise<string>,
  options: Parameters<typeof openFolder>[1],
): Promise<OpenFolder & Pick<TestService, 'database'>> {
  if (test.data !== undefined) return { ...(await openFolder(test.data, options)), database: undefined };
  if (hasOwnSqlite(test)) {
    const path = await prepared();
    return { ...(await openUntil(() => removeTree(path), path, options)), database: undefined };
  }
  const database =
    test.database === undefined ? await preparedDatabase() : { url: test.database, drop: async () => {} };
  const timeout = test.statementTimeoutMs === undefined ? {} : { statementTimeoutMs: test.statementTimeoutMs };
  const folder = await openUntil(database.drop, ':memory:', { ...options, ...timeout, database: database.url });
  return { ...folder, database: database.url };
}

/** Opens a folder until it is closed; `drop` is called then, and where it cannot be opened. */
async function openUntil(drop: () => Promise<void>, ...open: Parameters<typeof openFolder>): Promise<OpenFolder> {
  try {
    const folder = await openFolder(...open);
    return { ...folder, close: () => folder.close().then(drop) };
  } catch (error) {
    await drop();
    throw error;
  }
}

async function closeBoth(app: FastifyInstance, folder: OpenFolder): Promise<void> {
  await app.close();
  await folder.close();
}

/** One service for all tests of a file or `describe`, opened before them and closed after. */
export function sharedService(records?: () => Records, options?: TestServiceOptions): TestService {
  let opened: TestService | undefined;
  beforeAll(async () => {
    opened = await testService(records?.(), options);
  });
  afterAll(() => opened?.close());
  const current = (): TestService => {
    if (opened === undefined) throw new Error('The service is open only while tests run.');
    return opened;
  };
  return {
    get clock() {
      return current().clock;
    },
    get app() {
      return current().app;
    },
    get service() {
      return current().service;
    },
    get path() {
      return current().path;
    },
    get keeper() {
      return current().keeper;
    },
    get database() {
      return current().database;
    },
    call: (...args): Promise<Called> => current().call(...args),
    import: (lines) => current().import(lines),
    close: () => current().close(),
  };
}
