import { join, resolve } from 'node:path';
import sql, { join as joined } from 'sql-template-tag';
import { removeTree } from '../../../filesystem/durable.ts';
import { openDiskFiles } from '../../files/disk.ts';
import type { Files } from '../../files/files.ts';
import { readSchema } from '../../store/schema/introspection.ts';
import type { Reader } from '../../store/store.ts';
import { StoreUnusable } from '../../store/store.ts';
import { checkPlace } from '../check/check.ts';
import { orphans } from '../check/files.ts';
import type { TableCounts } from '../copy/database.ts';
import { copyFiles, hashedFiles } from '../copy/files.ts';
import { noteBackup } from '../copytrail.ts';
import { reportingDamage } from '../damage.ts';
import { type DataLocation, type OpenDataLocation, openDataLocation } from '../datalocation.ts';
import { openPartFolder } from '../partfolder.ts';
import type { Snapshot } from '../snapshot.ts';
import { DATABASE, openSqliteSnapshot, refuseImporting } from '../snapshot.ts';
import { ownSchema } from '../tables.ts';
import { turn, type Work } from '../work.ts';
import { writeDatabaseCopy } from './databasecopy.ts';
import { linkEarlier } from './earlier.ts';
import { hashFile, type Manifest, writeFileList, writeManifest } from './manifest.ts';

/** What a backup has to know besides. */
export interface BackupOptions extends Work {
  /** Version of this molar, for the manifest. */
  readonly version: string;
  /** An earlier backup beside the new one, whose files it shares. */
  readonly since?: string;
}

/** What a backup has, as it is printed. */
export interface BackupReport {
  readonly backup: string;
  readonly takenAt: string;
  readonly rows: number;
  readonly files: number;
  /** How many of these take no space of their own: the earlier backup has them. */
  readonly shared: number;
  readonly bytes: number;
  readonly sha256: string;
  /** False for data of another version of molar, of which only the database itself was checked. */
  readonly checked: boolean;
  /** Problems that the data itself has: they are in the backup, too. */
  readonly problems: readonly string[];
}

/** Times that files are looked for again when documents were deleted while they were copied. */
const ROUNDS = 10;

/**
 * Backs up what a server keeps, which may go on writing, to a new folder that is a data folder itself: one state of the
 * database in a SQLite file, the files of its documents, and a manifest. The folder takes its name when the copy has
 * been checked. Throws `StoreUnusable`.
 */
export async function backUp(place: DataLocation, target: string, options: BackupOptions): Promise<BackupReport> {
  const opened = await openDataLocation(place);
  try {
    const part = await openPartFolder(resolve(target));
    try {
      await reportingDamage(() => noteBackup(place, opened, options));
      const report = await reportingDamage(() => fill(opened, part.path, options));
      await part.finish();
      return { backup: resolve(target), ...report };
    } finally {
      await part.close();
    }
  } finally {
    await opened.close();
  }
}

async function fill(
  opened: OpenDataLocation,
  folder: string,
  options: BackupOptions,
): Promise<Omit<BackupReport, 'backup'>> {
  // What an interrupted run was copying is under no name of the backup, and may be of any content: it is copied again.
  const incoming = join(folder, 'files', 'incoming');
  await removeTree(incoming);
  const files = await openDiskFiles(join(folder, 'files'));
  if (options.since !== undefined) await linkEarlier(resolve(options.since), folder, opened.live, options);
  // Most files come first, without a state held open: a database that is written to keeps all since an open state.
  await copyFiles(opened.live, opened.files, files, options);
  const { snapshot, takenAt, lost } = await completeState(opened, files, options);
  const tables = await writeDatabaseCopy(snapshot, folder, options).finally(() => snapshot.close());
  const copy = await openSqliteSnapshot(folder);
  try {
    const context = { files, live: copy.read, keepsYoung: false, now: options.now(), turn: turning(options) };
    for await (const name of orphans(context)) await files.remove(name);
    const { version, fingerprint } = await readSchema(copy.read, copy.dialect);
    const { wrong, shared, ...list } = await writeFileList(folder, hashedFiles(copy.read, files, options));
    const problems = [...lost.map((name) => `${name} is missing`), ...wrong.map((name) => `${name} was changed`)];
    const own = await ownSchema();
    const isOther = version < own.version || fingerprint !== own.fingerprint;
    if (!isOther) problems.push(...(await checkCopy(folder, options, lost.length)));
    else if (await isDamaged(copy.read)) throw damaged('its pages do not agree with each other');
    const database = { name: DATABASE, ...(await hashFile(join(folder, DATABASE))) };
    const manifest: Omit<Manifest, 'format'> = {
      molar: options.version,
      schema: version,
      takenAt,
      database,
      tables,
      files: list,
      problems: problems.length,
    };
    await removeTree(incoming);
    await writeManifest(folder, manifest);
    const bytes = database.bytes + list.bytes;
    return {
      takenAt,
      rows: rowsOf(tables),
      files: list.count,
      shared,
      bytes,
      sha256: database.sha256,
      checked: !isOther,
      problems,
    };
  } finally {
    await copy.close();
  }
}

function turning(options: Work) {
  return (what: string, count: number) => turn(options, what, count);
}

function rowsOf(tables: TableCounts): number {
  return Object.values(tables).reduce((sum, rows) => sum + rows, 0);
}

/**
 * A state of the database all of whose files are in the backup. A document that was deleted between the state and the
 * copy of its file is no loss, but that state is not complete: a later one is taken. `lost`: files that documents name
 * and that nobody has.
 */
async function completeState(
  { name, snapshot: take, live, files: source }: OpenDataLocation,
  files: Files,
  options: BackupOptions,
): Promise<{ snapshot: Snapshot; takenAt: string; lost: readonly string[] }> {
  for (let round = 1; ; round++) {
    const snapshot = await take();
    const takenAt = new Date(options.now()).toISOString();
    try {
      await refuseImporting(snapshot, name);
      const missing = await copyFiles(snapshot.read, source, files, options);
      const lost = await stillNamed(live, missing);
      if (lost.length === missing.length) return { snapshot, takenAt, lost };
      if (round === ROUNDS) {
        throw new StoreUnusable(
          'Documents were deleted faster than their files could be copied.',
          'Run the backup again when fewer are; it goes on with the files that it has.',
        );
      }
    } catch (error) {
      await snapshot.close();
      throw error;
    }
    await snapshot.close();
  }
}

/** Of file names, those of documents that are still there. */
async function stillNamed(read: Reader, names: readonly string[]): Promise<string[]> {
  const named: string[] = [];
  for (let at = 0; at < names.length; at += 500) {
    const some = names.slice(at, at + 500);
    const guids = some.map((name) => name.slice(0, name.lastIndexOf('-')));
    const rows = await read.all<{ guid: string }>(sql`SELECT guid FROM documents WHERE guid IN (${joined(guids)})`);
    const known = new Set(rows.map(({ guid }) => guid));
    named.push(...some.filter((name) => known.has(name.slice(0, name.lastIndexOf('-')))));
  }
  return named;
}

/** Opens the copy and checks it, apart from files that are known to be lost. Throws when the database itself is damaged. */
async function checkCopy(folder: string, work: Work, lost: number): Promise<string[]> {
  const { checks, problems } = await checkPlace({ data: folder }, { ...work, deep: false, repair: false });
  const broken = checks.find(({ name, problems: count }) => count > 0 && (name === 'database' || name === 'schema'));
  if (broken !== undefined) {
    const first = problems.find(({ check }) => check === broken.name)?.message ?? broken.title;
    throw damaged(first);
  }
  const others = checks.filter(({ name }) => name !== 'files').reduce((sum, check) => sum + check.problems, 0);
  const files = (checks.find(({ name }) => name === 'files')?.problems ?? 0) - lost;
  const found: string[] = [];
  if (others > 0) found.push(`${others} problems that molar server check lists`);
  if (files > 0) found.push(`${files} problems of files that molar server check lists`);
  return found;
}

/** What SQLite itself says, of a schema that the checks do not know. */
async function isDamaged(read: Reader): Promise<boolean> {
  const row = await read.get<{ told: string }>(sql`SELECT integrity_check AS told FROM pragma_integrity_check LIMIT 1`);
  return row?.told !== 'ok';
}

function damaged(how: string): StoreUnusable {
  return new StoreUnusable(
    `The copy of the database is damaged: ${how}.`,
    'Run molar server check on the source; if that is damaged, too, restore an earlier backup.',
  );
}
