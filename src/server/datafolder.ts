import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import sql from 'sql-template-tag';
import { MAX_TEXT } from '../catalog/fields/text.ts';
import { removeTree } from '../filesystem/durable.ts';
import { closeFolder, makePrivateFolder } from '../filesystem/private.ts';
import { CheckpointKeeper, type KeeperFault } from './audit/keeper.ts';
import { auditKeyFile, keysOf, openAuditKey } from './audit/keys.ts';
import { type AuditMode, ReadTrail } from './audit/readtrail.ts';
import { DEFAULT_AUDIT_DAYS, deleteOldEntries } from './audit/retention.ts';
import { shippingTarget } from './audit/targets.ts';
import { type BudgetPart, Budgets } from './budgets/budgets.ts';
import { type BudgetLimits, DEFAULT_BUDGETS } from './budgets/limits.ts';
import type { Clock } from './clock.ts';
import { LinkKeys } from './files/linkkeys.ts';
import { openFiles, requireFiles } from './files/open.ts';
import { DEFAULT_FILE_RETENTION_DAYS, recoverFiles, removeDue } from './files/recovery.ts';
import { ImportResumer } from './import/staged/resumer.ts';
import { refuseUnfinished } from './maintenance/copy/state.ts';
import { HourlyTask } from './scheduler.ts';
import type { Service } from './service.ts';
import { openPostgresStore } from './store/postgres/store.ts';
import type { UpgradeOptions } from './store/schema/upgradework.ts';
import { openSqliteStore } from './store/sqlite/store.ts';
import { type Store, StoreUnusable } from './store/store.ts';
import { Deliveries } from './stream/deliveries.ts';
import { DEFAULT_RETENTION_DAYS, Stream } from './stream/stream.ts';
import { saveUses, TokenUses, type Uses } from './tokens/uses.ts';
import { tracedStore } from './tracing/tracedstore.ts';

/** Stands for a temporary data folder, deleted when the server ends. */
export const MEMORY = ':memory:';

export const DEFAULT_DOCUMENT_MEGABYTES = 50;

/** Transactions per page of the aging report (D35). */
export const DEFAULT_AGING_PAGE = 1000;

/** An opened data folder: its service and its path. */
export interface OpenFolder {
  readonly service: Service;
  readonly path: string;
  /** Signs the audit log while it is served. */
  readonly keeper?: CheckpointKeeper;
  close(): Promise<void>;
}

/** Another process writes for this one, which only reads. */
export interface ReadingOptions {
  /** Opens the store of a folder. */
  readonly openStore: (path: string) => Promise<Store>;
  readonly saveUses: (uses: Uses) => Promise<void>;
}

/** How a data folder is opened. */
export interface OpenOptions {
  /** Locks the folder against a second server and ends what a killed one left undone. */
  readonly serving: boolean;
  /** How it is opened by a process that only reads; such a process is not `serving`. */
  readonly reading?: ReadingOptions;
  /** `postgres://…`: the records are there, and the folder holds files only. SQLite in the folder when not given. */
  readonly database?: string;
  /** Milliseconds a statement of `database` may take; without a limit when not given. */
  readonly statementTimeoutMs?: number;
  /** Where files are: a folder, or `s3://bucket/prefix`; in the data folder when not given. */
  readonly files?: string;
  /** Called every few seconds while rows are brought to this version. */
  readonly progress?: UpgradeOptions['progress'];
  readonly clock?: Clock;
  readonly maxDocumentBytes?: number;
  /** Code points of a free text, `MAX_TEXT` when not given. */
  readonly maxText?: number;
  readonly requireLocation?: boolean;
  /** Budgets that differ from `DEFAULT_BUDGETS`. */
  readonly budgets?: Partial<BudgetLimits>;
  /** What this process has of them; all when not given. */
  readonly budgetPart?: BudgetPart;
  readonly agingPageLimit?: number;
  /** Retention of files of deleted documents in days; 0: they are removed at once. */
  readonly fileRetentionDays?: number;
  /** Retention of stream messages in days. */
  readonly streamRetentionDays?: number;
  /** When entries of reads are written; `strict` when not given. */
  readonly audit?: AuditMode;
  /** Retention of the audit log in days. */
  readonly auditRetentionDays?: number;
  /** File of the key of checkpoints; `audit.key` in the data folder when not given. */
  readonly auditKey?: string;
  /** Where checkpoints are shipped to (`shippingTarget`); nowhere when not given. */
  readonly auditCheckpoints?: string;
  /** Called when an import that a killed process had decided could not be gone on with. */
  readonly onImportFault?: (error: unknown) => void;
  /** Called when something of the audit log is to be tried again. */
  readonly onAuditFault?: (what: KeeperFault, error: unknown) => void;
}

/** Opens a data folder, making it when it is new: 0700, database and files inside (contract §6). Throws `StoreUnusable`. */
export async function openFolder(data: string, options: OpenOptions): Promise<OpenFolder> {
  const temporary = data === MEMORY;
  const path = temporary ? await mkdtemp(join(tmpdir(), 'molar-')) : resolve(data);
  if (!temporary) await makePrivate(path);
  const drop = async () => {
    if (temporary) await removeTree(path);
  };
  let opened: Store | undefined;
  try {
    const store = tracedStore(await openStore(path, options), options.database === undefined ? 'sqlite' : 'postgresql');
    opened = store;
    await refuseUnfinished(store.read, options.database === undefined ? 'sqlite' : 'postgres');
    const files = await openFiles(options.files, path, { shared: options.database !== undefined });
    const clock = options.clock ?? Date.now;
    const stream = await Stream.open(store, clock, options.streamRetentionDays ?? DEFAULT_RETENTION_DAYS);
    const deliveries = new Deliveries(store, clock);
    const reads = new ReadTrail(store, options.audit);
    await nameStore(store);
    const linkKeys = await LinkKeys.open(store, clock);
    const tokenUses = new TokenUses(options.reading?.saveUses ?? ((uses) => saveUses(store, uses)), clock);
    const auditDays = options.auditRetentionDays ?? DEFAULT_AUDIT_DAYS;
    // What other servers are staging now counts as left over only when it is old; what this one is staging always does.
    const recover = options.database === undefined ? removeDue : recoverFiles;
    const fileTidying = new HourlyTask(store, 'files', () => recover(store, files, clock()));
    const service: Service = {
      store,
      files,
      reads,
      stream,
      deliveries,
      budgets: new Budgets({ ...DEFAULT_BUDGETS, ...options.budgets }, options.budgetPart),
      clock,
      linkKeys,
      tokenUses,
      fileRetentionDays:
        options.fileRetentionDays ?? (options.database === undefined ? 0 : DEFAULT_FILE_RETENTION_DAYS),
      maxDocumentBytes: options.maxDocumentBytes ?? DEFAULT_DOCUMENT_MEGABYTES * 1024 * 1024,
      maxText: options.maxText ?? MAX_TEXT,
      requireLocation: options.requireLocation ?? false,
      agingPageLimit: options.agingPageLimit ?? DEFAULT_AGING_PAGE,
    };
    const keeper = options.serving ? await openKeeper(path, store, clock, options) : undefined;
    const auditTidying = new HourlyTask(store, 'audit', async (signal) => {
      if (keeper !== undefined) await deleteOldEntries(store, keeper, clock, auditDays, signal);
    });
    const imports = new ImportResumer(service, options.onImportFault ?? (() => {}));
    if (options.serving) {
      await requireFiles(store, files);
      await recoverFiles(store, files, clock());
      await keeper?.start();
      stream.keepTidy();
      linkKeys.follow();
      auditTidying.start();
      fileTidying.start();
      imports.start();
    }
    return {
      service,
      path,
      ...(keeper && { keeper }),
      async close() {
        await imports.close();
        await deliveries.stop();
        await stream.close();
        await auditTidying.close();
        await fileTidying.close();
        linkKeys.close();
        await tokenUses.close();
        // What cannot be written any more is lost with the process; closing must not fail for it.
        await reads.flush().catch(() => undefined);
        await keeper?.close();
        await store.close();
        await files.close();
        await drop();
      },
    };
  } catch (error) {
    // Left open, its lock and its connections would outlast the refusal.
    await opened?.close().catch(() => undefined);
    await drop();
    throw error;
  }
}

function openStore(path: string, options: OpenOptions): Promise<Store> {
  const { serving, reading, database, statementTimeoutMs, progress } = options;
  if (reading !== undefined) return reading.openStore(path);
  if (database === undefined) return openSqliteStore(path, { serving, progress });
  return openPostgresStore(database, {
    progress,
    ...(statementTimeoutMs !== undefined && { timeoutMs: statementTimeoutMs }),
  });
}

async function openKeeper(
  path: string,
  store: Store,
  clock: Clock,
  { auditKey, auditCheckpoints, onAuditFault }: OpenOptions,
): Promise<CheckpointKeeper> {
  const target = auditCheckpoints === undefined ? undefined : shippingTarget(auditCheckpoints);
  const key = await openAuditKey(auditKey ?? auditKeyFile(path));
  const restoring = await keysOf({ data: path }).catch(() => undefined);
  return new CheckpointKeeper(store, { key, clock, target, restoring, onFault: onAuditFault });
}

async function makePrivate(path: string): Promise<void> {
  try {
    if ((await makePrivateFolder(path)) || (await isOwnAndOpen(path))) await closeFolder(path);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoreUnusable(
      `The data folder ${path} cannot be made: ${reason}.`,
      'Give a folder you may write to with --data.',
      cause,
    );
  }
}

/** Whether others can read a folder that belongs to the server alone: an empty one, or one that it has used. */
async function isOwnAndOpen(path: string): Promise<boolean> {
  const { mode, uid } = await stat(path);
  if ((mode & 0o077) === 0 || uid !== process.getuid?.()) return false;
  const held = await readdir(path);
  return held.length === 0 || held.some((name) => name === 'molar.sqlite' || name === 'files');
}

/** Gives a store a name of its own the first time: a copy that was interrupted tells its source by it. */
async function nameStore(store: Store): Promise<void> {
  const named = await store.read.get(sql`SELECT value FROM settings WHERE name = 'store_id'`);
  if (named !== undefined) return;
  const made = randomBytes(32).toString('base64');
  await store.write((tx) =>
    tx.run(sql`INSERT INTO settings (name, value) VALUES ('store_id', ${made}) ON CONFLICT DO NOTHING`),
  );
}
