import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { syncFile, writeDurably } from '../../../filesystem/durable.ts';
import { replacePrivate } from '../../../filesystem/private.ts';
import { storagePath } from '../../files/files.ts';
import { StoreUnusable } from '../../store/store.ts';
import type { TableCounts } from '../copy/database.ts';
import type { HashedFile } from '../copy/files.ts';

/** Tells what is in a backup; written last. */
export const MANIFEST = 'manifest.json';

/** The SHA-256 of every file, a line each, in the form that `sha256sum --check` reads. */
export const FILE_LIST = 'files.sha256';

const FORMAT = 1;

/** What a backup says of itself. Sizes are bytes, hashes SHA-256 in hexadecimal, times UTC. */
export interface Manifest {
  readonly format: number;
  /** Version of the molar that made it. */
  readonly molar: string;
  readonly schema: number;
  /** When the state was that it holds. */
  readonly takenAt: string;
  readonly database: { readonly name: string; readonly bytes: number; readonly sha256: string };
  readonly tables: TableCounts;
  readonly files: { readonly list: string; readonly sha256: string; readonly count: number; readonly bytes: number };
  /** Problems that the data had when it was backed up, as `molar server check` tells them. */
  readonly problems: number;
}

/** Writes the manifest, which is on the disk then. */
export async function writeManifest(folder: string, manifest: Omit<Manifest, 'format'>): Promise<void> {
  const file = await replacePrivate(join(folder, MANIFEST));
  await writeDurably(file, `${JSON.stringify({ format: FORMAT, ...manifest }, null, 2)}\n`);
}

/** Reads the manifest of a backup. Throws `StoreUnusable` for a folder that is none, or of a later form. */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST);
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(await readFile(path, 'utf8')) as Partial<Manifest>;
  } catch (cause) {
    throw new StoreUnusable(
      `${folder} is no backup: ${MANIFEST} is missing or cannot be read.`,
      'Name a folder that molar server backup made.',
      cause,
    );
  }
  const { format, database, files, tables, schema } = manifest;
  if (format !== FORMAT || !database || !files || !tables || typeof schema !== 'number') {
    throw new StoreUnusable(
      `${path} is of a form that this molar does not know.`,
      'Use the molar that made it, or a newer one.',
    );
  }
  return manifest as Manifest;
}

/** Writes the list of files as they come; answers what the manifest tells of it, and how many are links. */
export async function writeFileList(
  folder: string,
  files: AsyncIterable<HashedFile>,
): Promise<Manifest['files'] & { readonly wrong: readonly string[]; readonly shared: number }> {
  const hash = createHash('sha256');
  const list = await replacePrivate(join(folder, FILE_LIST));
  const wrong: string[] = [];
  let count = 0;
  let bytes = 0;
  let shared = 0;
  try {
    for await (const file of files) {
      const line = `${file.found}  files/${storagePath(file.name)}\n`;
      hash.update(line);
      await list.appendFile(line);
      count++;
      bytes += file.bytes;
      if ((await stat(join(folder, 'files', storagePath(file.name)))).nlink > 1) shared++;
      if (file.sha256 !== null && file.sha256 !== file.found) wrong.push(file.name);
    }
    await syncFile(list);
  } finally {
    await list.close();
  }
  return { list: FILE_LIST, sha256: hash.digest('hex'), count, bytes, wrong, shared };
}

/** The names and hashes of a list of files. */
export async function* readFileList(
  folder: string,
): AsyncGenerator<{ readonly name: string; readonly sha256: string }> {
  const input = createReadStream(join(folder, FILE_LIST));
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const [, sha256, name] = /^([0-9a-f]{64}) {2}files\/[^/]{2}\/([^/]+)$/.exec(line) ?? [];
      if (sha256 === undefined || name === undefined) {
        throw new StoreUnusable(`${join(folder, FILE_LIST)} has a line that cannot be read.`, 'Use another backup.');
      }
      yield { name, sha256 };
    }
  } finally {
    // A list that is not read to its end would stay open, and on Windows nobody could remove the folder.
    await new Promise((closed) => input.close(closed));
  }
}

/** SHA-256 and size of a file of the disk. */
export async function hashFile(path: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
