import { constants } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import sql from 'sql-template-tag';
import { syncPath } from '../../filesystem/durable.ts';
import { closeFile } from '../../filesystem/private.ts';
import { signNow } from '../audit/signing.ts';
import { openDiskFiles, sourceDiskFiles } from '../files/disk.ts';
import type { Files } from '../files/files.ts';
import { readSchema } from '../store/schema/introspection.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { StoreUnusable } from '../store/store.ts';
import { beginEpoch } from '../store/streamheads.ts';
import { FILE_LIST, hashFile, type Manifest, readFileList, readManifest } from './backup/manifest.ts';
import { refuseLinks, refusePrograms } from './backup/planted.ts';
import { checkPlace } from './check/check.ts';
import { hashOf } from './check/files.ts';
import { completeCopy, copyDatabase } from './copy/database.ts';
import { transferFiles } from './copy/files.ts';
import { type OpenTarget, openTarget } from './copy/target.ts';
import { noteCopy } from './copytrail.ts';
import { reportingDamage } from './damage.ts';
import type { DataLocation } from './datalocation.ts';
import type { Snapshot } from './snapshot.ts';
import { DATABASE, openSqliteSnapshot, removeDatabase } from './snapshot.ts';
import { ownSchema } from './tables.ts';
import { turn, type Work } from './work.ts';

/** What was restored, as it is printed. */
export interface RestoreReport {
  readonly backup: string;
  readonly to: string;
  readonly takenAt: string;
  readonly rows: number;
  readonly files: number;
  /** Problems that a check of it finds; a backup tells how many the data had before. */
  readonly problems: readonly string[];
}

/**
 * Restores a backup into an empty place: its hashes are verified before, and what was restored is compared with it and
 * checked. A folder takes its name only then. An interrupted one resumes. Throws `StoreUnusable`.
 */
export async function restore(backup: string, to: DataLocation, work: Work): Promise<RestoreReport> {
  const folder = resolve(backup);
  const manifest = await readManifest(folder);
  await refuseLinks(folder);
  await verifyBackup(folder, manifest, to, work);
  const snapshot = await openSqliteSnapshot(folder);
  try {
    const target = await openTarget(to);
    try {
      const problems = await reportingDamage(() => fill(folder, manifest, snapshot, target, work));
      await target.part?.finish();
      const rows = Object.values(manifest.tables).reduce((sum, count) => sum + count, 0);
      const { takenAt, files } = manifest;
      return { backup: folder, to: target.name, takenAt, rows, files: files.count, problems };
    } finally {
      await target.close();
    }
  } finally {
    await snapshot.close();
  }
}

/** The backup is what its manifest says, and of a schema that can be restored. */
async function verifyBackup(folder: string, { schema, database, files }: Manifest, to: DataLocation, work: Work) {
  const own = await ownSchema();
  if (schema > own.version) {
    throw new StoreUnusable(
      `The backup was made by a newer molar (schema ${schema}; this one knows ${own.version}).`,
      'Update molar.',
    );
  }
  if (schema < own.version && to.database !== undefined) {
    throw new StoreUnusable(
      `The backup is of an earlier molar (schema ${schema}; PostgreSQL takes ${own.version}).`,
      BY_FOLDER,
    );
  }
  for (const [name, expected] of [
    [DATABASE, database.sha256],
    [FILE_LIST, files.sha256],
  ] as const) {
    const found = await hashFile(join(folder, name)).catch(() => undefined);
    if (found?.sha256 === expected) continue;
    throw new StoreUnusable(
      found === undefined
        ? `${name} of the backup is missing or cannot be read.`
        : `${name} of the backup is not what was backed up: its SHA-256 is ${found.sha256}, not ${expected}.`,
      'Use another backup. A folder that was served since is a data folder now, and no backup any more.',
    );
  }
  await refusePrograms(folder);
  if (to.database !== undefined && (await fingerprintOf(folder)) !== own.fingerprint) {
    throw new StoreUnusable('The backup is of another version of molar; PostgreSQL takes this one only.', BY_FOLDER);
  }
  await turn(work, 'Verifying the backup', 1);
}

/** Rows are copied to PostgreSQL as they are; the database of a folder is brought to this version. */
const BY_FOLDER = 'Restore it to a folder, and migrate that with molar server migrate.';

async function fingerprintOf(folder: string): Promise<string | undefined> {
  const snapshot = await openSqliteSnapshot(folder);
  const { fingerprint } = await readSchema(snapshot.read, snapshot.dialect).finally(() => snapshot.close());
  return fingerprint;
}

async function fill(
  folder: string,
  manifest: Manifest,
  snapshot: Snapshot,
  target: OpenTarget,
  work: Work,
): Promise<readonly string[]> {
  const files = target.files ?? (await openDiskFiles(join(resolve(target.place.data), 'files')));
  const moveFiles = async () => {
    const { problems } = await transferFiles(snapshot, sourceDiskFiles(join(folder, 'files')), files, work);
    await verifyFiles(folder, manifest, files, work);
    return problems;
  };
  const problems =
    target.part === undefined
      ? await copyRows(snapshot, target, moveFiles, work)
      : await copyDatabaseFile(folder, target.place, work).then(moveFiles);
  const checked = await checkPlace(target.place, { ...work, deep: false, repair: false });
  const found = checked.checks.filter((check) => check.problems > 0);
  return [
    ...problems,
    ...found.map((check) => `${check.name}: ${check.problems} problems that molar server check lists`),
  ];
}

/** The database counts as restored when the files are there, too. */
async function copyRows<T>(snapshot: Snapshot, target: OpenTarget, files: () => Promise<T>, work: Work): Promise<T> {
  const opened = await target.store();
  try {
    await copyDatabase(snapshot, opened, work);
    const moved = await files();
    await noteCopy(opened.store, 'server.restore', work);
    await opened.store.write(beginEpoch);
    await completeCopy(opened);
    await signNow(opened.store, target.place, 'restore', work.now());
    return moved;
  } finally {
    await opened.store.close();
  }
}

async function copyDatabaseFile(folder: string, place: DataLocation, work: Work): Promise<void> {
  const part = place.data;
  const file = join(part, DATABASE);
  await removeDatabase(part);
  await copyFile(join(folder, DATABASE), file, constants.COPYFILE_FICLONE);
  await closeFile(file);
  // Brings an earlier schema to this version, and the database to the form that a server keeps it in.
  const store = await openSqliteStore(part, { serving: false });
  await noteCopy(store, 'server.restore', work);
  // The key of before stays where it was: from here on another one vouches for the log, as it was restored.
  await signNow(store, place, 'restore', work.now());
  await store.write(beginEpoch);
  // Our backups hold none; one that somebody has put there must not sign links here.
  await store.write((tx) => tx.run(sql`DELETE FROM link_keys`));
  await store.close();
  await syncPath(file);
}

/** Every file of the list is there as it was backed up, and as many as the manifest tells. */
async function verifyFiles(folder: string, { files: expected }: Manifest, files: Files, work: Work): Promise<void> {
  let count = 0;
  for await (const { name, sha256 } of readFileList(folder)) {
    count++;
    const found = await hashOf(files, name);
    if (found !== sha256) {
      throw new StoreUnusable(
        found === undefined
          ? `The file ${name} of the backup is missing.`
          : `The file ${name} is not what was backed up.`,
        'Use another backup, and check the disks.',
      );
    }
    await turn(work, 'Verifying files', 1);
  }
  if (count !== expected.count) {
    throw new StoreUnusable(`The backup lists ${count} files, not ${expected.count}.`, 'Use another backup.');
  }
}
