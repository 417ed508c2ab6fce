import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolder } from '../../src/server/datafolder.ts';
import { importRecords } from '../../src/server/import/importer.ts';
import { numberRecords } from '../../src/server/import/lines.ts';
import { openSqliteStore } from '../../src/server/store/sqlite/store.ts';
import { TestClock } from './clock.ts';
import { allRecords } from './practice.ts';

/**
 * Folders that others are copies of. A first start takes 40 ms of a processor and the import of `allRecords`
 * 30, a start with what was copied 25.
 */
const folders: { started?: Promise<string>; practice?: Promise<string> } = {};

/** A data folder whose database has been started once. Its caller removes it. */
export function startedFolder(): Promise<string> {
  folders.started ??= newFolder().then(async (folder) => {
    await (await openSqliteStore(folder, { serving: true })).close();
    return folder;
  });
  return copyOf(folders.started);
}

/** A data folder with `allRecords`, imported when the clock of tests begins: all have the same name and keys. */
export function practiceFolder(): Promise<string> {
  folders.practice ??= startedFolder().then(async (folder) => {
    const { service, close } = await openFolder(folder, { serving: false, clock: new TestClock().now });
    await importRecords(service, () => numberRecords(allRecords()), { allowCredentials: true });
    await close();
    return folder;
  });
  return copyOf(folders.practice);
}

async function copyOf(source: Promise<string>): Promise<string> {
  const folder = await newFolder();
  await cp(await source, folder, { recursive: true });
  return folder;
}

function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'molar-'));
}
