import { readdir, readFile } from 'node:fs/promises';
import ExportFolder from '../../../src/commands/export/index.ts';
import { problem } from '../../core/transport/script.ts';
import { type Ran, runCommand, type World } from '../runcommand.ts';
import { desk, Practice } from './practice.ts';

/** A line that exports the ids of two resources. */
export const BOTH = ['patients', 'transactions', '--fields', 'patients:id', '--fields', 'transactions:id'];

function practiceOfTwo(): Practice {
  const practice = new Practice();
  practice.rows.patients = [1, 2, 3].map((id) => ({ id, lastModified: '2026-01-01T00:00:00.000Z' }));
  practice.rows.transactions = [7, 8].map((id) => ({ id, lastModified: '2026-01-01T00:00:00.000Z' }));
  return practice;
}

/** A folder to export to, and how to do so. */
export async function nightly(practice = practiceOfTwo()) {
  const { env, at } = await desk();
  const folder = at('nightly');
  const bookmarkFolder = `${env.MOLAR_CONFIG_DIR}/bookmarks`;
  return {
    practice,
    folder,
    run: (argv: readonly string[], world: World = {}): Promise<Ran> =>
      runCommand('export', ExportFolder, [...argv, '--to', folder], { script: practice.script, env, ...world }),
    read: (name: string) => readFile(`${folder}/${name}`, 'utf8'),
    summary: async () => JSON.parse(await readFile(`${folder}/summary.json`, 'utf8')),
    names: async () => (await readdir(folder)).toSorted(),
    bookmarkFolder,
    bookmarks: () => readdir(bookmarkFolder).catch(() => []),
  };
}

/** Answers of a server that refuses one resource. */
export const refused =
  (segment: string, status = 403) =>
  (asked: string) =>
    asked === segment ? problem(status, 'auth.scope_missing', null, 'No.') : undefined;
