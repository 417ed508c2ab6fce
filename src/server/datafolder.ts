import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import sql from 'sql-template-tag';
import { type AuditMode, ReadTrail } from './audit/readtrail.ts';
import { DEFAULT_AUDIT_DAYS, deleteOldEntries } from './audit/retention.ts';
import type { Clock } from './clock.ts';
import { openFiles, requireFiles } from './files/open.ts';
import { finishRemovals, recoverFiles } from './files/recovery.ts';
import { refuseUnfinished } from './maintenance/copy/state.ts';
import { HourlyTask } from './scheduler.ts';
import type { Service } from './service.ts';
import { openPostgresStore } from './store/postgres/store.ts';
import type { UpgradeOptions } from './store/schema/upgrade.ts';
import { openSqliteStore } from './store/sqlite/store.ts';
import { type Store, StoreUnusable } from './store/store.ts';
import { Deliveries } from './stream/deliveries.ts';
import { DEFAULT_RETENTION_DAYS, Stream } from './stream/stream.ts';

/** Stands for a temporary data folder, deleted when the server ends. */
export const MEMORY = ':memory:';

export const DEFAULT_DOCUMENT_MEGABYTES = 50;

/** Transactions per page of the aging report (D35). */
export const DEFAULT_AGING_PAGE = 1000;

/** An opened data folder: its service and its path. */
export interface OpenFolder {
  readonly service: Service;
  readonly path: string;
  close(): Promise<void>;
}

/** How a data folder is opened. */
export interface OpenOptions {
  /** Locks the folder against a second server and ends what a killed one left undone. */
  readonly serving: boolean;
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
  readonly requireLocation?: boolean;
  readonly agingPageLimit?: number;
  /** Retention of stream messages in days. */
  readonly streamRetentionDays?: number;
  /** When entries of reads are written; `strict` when not given. */
  readonly audit?: AuditMode;
  /** Retention of the audit log in days. */
  readonly auditRetentionDays?: number;
}

/** Opens a data folder, making it when it is new: 0700, database and files inside (contract §6). Throws `StoreUnusable`. */
export async function openFolder(data: string, options: OpenOptions): Promise<OpenFolder> {
  const temporary = data === MEMORY;
  const path = temporary ? await mkdtemp(join(tmpdir(), 'molar-')) : resolve(data);
  if (!temporary) await makePrivate(path);
  const drop = async () => {
    if (temporary) await rm(path, { recursive: true, force: true });
  };
  let opened: Store | undefined;
  try {
    const store = await openStore(path, options);
    opened = store;
    await refuseUnfinished(store.read, options.database === undefined ? 'sqlite' : 'postgres');
    const files = await openFiles(options.files, path, { shared: options.database !== undefined });
    const clock = options.clock ?? Date.now;
    const stream = await Stream.open(store, clock, options.streamRetentionDays ?? DEFAULT_RETENTION_DAYS);
    const deliveries = new Deliveries(store, clock);
    const reads = new ReadTrail(store, options.audit);
    const auditDays = options.auditRetentionDays ?? DEFAULT_AUDIT_DAYS;
    const auditTidying = new HourlyTask(store, 'audit', (signal) => deleteOldEntries(store, clock, auditDays, signal));
    // What other servers are staging now counts as left over only when it is old; what this one is staging always does.
    const recover = options.database === undefined ? finishRemovals : recoverFiles;
    const fileTidying = new HourlyTask(store, 'files', () => recover(store, files));
    const service: Service = {
      store,
      files,
      reads,
      stream,
      deliveries,
      clock,
      signingKey: await signingKey(store),
      maxDocumentBytes: options.maxDocumentBytes ?? DEFAULT_DOCUMENT_MEGABYTES * 1024 * 1024,
      requireLocation: options.requireLocation ?? false,
      agingPageLimit: options.agingPageLimit ?? DEFAULT_AGING_PAGE,
    };
    if (options.serving) {
      await requireFiles(store, files);
      await recoverFiles(store, files);
      stream.keepTidy();
      auditTidying.start();
      fileTidying.start();
    }
    return {
      service,
      path,
      async close() {
        await deliveries.stop();
        await stream.close();
        await auditTidying.close();
        await fileTidying.close();
        // What cannot be written any more is lost with the process; closing must not fail for it.
        await reads.flush().catch(() => undefined);
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

function openStore(path: string, { serving, database, statementTimeoutMs, progress }: OpenOptions): Promise<Store> {
  if (database === undefined) return openSqliteStore(path, { serving, progress });
  return openPostgresStore(database, {
    progress,
    ...(statementTimeoutMs !== undefined && { timeoutMs: statementTimeoutMs }),
  });
}

async function makePrivate(path: string): Promise<void> {
  try {
    const made = await mkdir(path, { recursive: true, mode: 0o700 });
    if (made !== undefined || (await isOwnAndOpen(path))) await chmod(path, 0o700);
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

/** The key of signed URLs, made the first time. */
async function signingKey(store: Store): Promise<Buffer> {
  const made = randomBytes(32).toString('base64');
  const row = await store.write(async (tx) => {
    await tx.run(sql`INSERT INTO settings (name, value) VALUES ('signing_key', ${made}) ON CONFLICT DO NOTHING`);
    return tx.get<{ value: string }>(sql`SELECT value FROM settings WHERE name = 'signing_key'`);
  });
  return Buffer.from(row?.value ?? made, 'base64');
}
