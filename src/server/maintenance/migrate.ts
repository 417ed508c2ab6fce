import { signNow } from '../audit/signing.ts';
import { StoreUnusable } from '../store/store.ts';
import { completeCopy, copyDatabase, type TableCounts } from './copy/database.ts';
import { type TransferredFiles, transferFiles } from './copy/files.ts';
import { isServedBy, type OpenTarget, openTarget } from './copy/target.ts';
import { noteCopy } from './copytrail.ts';
import { reportingDamage } from './damage.ts';
import { type DataLocation, type OpenDataLocation, openDataLocation } from './datalocation.ts';
import { refuseImporting } from './snapshot.ts';
import type { Work } from './work.ts';

/** What a migration has carried over, as it is printed. */
export interface MigrationReport {
  readonly from: string;
  readonly to: string;
  /** Rows of each table, the same on both sides. */
  readonly tables: TableCounts;
  readonly rows: number;
  /** Null when files stay where they are. */
  readonly files: Omit<TransferredFiles, 'problems'> | null;
  /** Files that documents name and that the source does not have as they tell. */
  readonly problems: readonly string[];
}

/**
 * Copies all that a server keeps to another database, and back. No server may run on either side. One that was
 * interrupted resumes. Throws `StoreUnusable`.
 */
export async function migrate(from: DataLocation, to: DataLocation, work: Work): Promise<MigrationReport> {
  if (from.database === undefined && to.database === undefined) {
    throw new StoreUnusable(
      'Both sides are folders.',
      'Copy a folder with molar server backup and molar server restore.',
    );
  }
  const source = await openDataLocation(from);
  try {
    if (source.served) throw isServedBy(source.name);
    const release = await source.hold();
    try {
      const target = await openTarget(to);
      try {
        const report = await reportingDamage(() => carryOver(source, target, work));
        await target.part?.finish();
        return report;
      } finally {
        await target.close();
      }
    } finally {
      await release();
    }
  } finally {
    await source.close();
  }
}

async function carryOver(source: OpenDataLocation, target: OpenTarget, work: Work): Promise<MigrationReport> {
  const snapshot = await source.snapshot();
  const opened = await target.store();
  try {
    await refuseImporting(snapshot, source.name);
    const tables = await copyDatabase(snapshot, opened, work);
    const moved =
      target.files === undefined ? undefined : await transferFiles(snapshot, source.files, target.files, work);
    await noteCopy(opened.store, 'server.migrate', work);
    await completeCopy(opened);
    await signNow(opened.store, target.place, 'restore', work.now());
    return {
      from: source.name,
      to: target.name,
      tables,
      rows: Object.values(tables).reduce((sum, rows) => sum + rows, 0),
      files: moved === undefined ? null : { count: moved.count, bytes: moved.bytes },
      problems: moved?.problems ?? [],
    };
  } finally {
    await opened.store.close();
    await snapshot.close();
  }
}
