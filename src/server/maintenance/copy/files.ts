import type { Readable } from 'node:stream';
import { type Files, fileName, type SourceFiles } from '../../files/files.ts';
import { type Reader, StoreUnusable } from '../../store/store.ts';
import { type FileOwner, hashOf, OWNER_COLUMNS, orphans, sizeOf } from '../check/files.ts';
import { orgsOf, recordPages } from '../check/pages.ts';
import type { Snapshot } from '../snapshot.ts';
import { turn, type Work } from '../work.ts';

/** Files under way together. */
const TOGETHER = 4;

/** One file of a document. */
interface NamedFile {
  readonly name: string;
  /** The size that the record has of an original; null for images made from one. */
  readonly size: number | null;
  readonly sha256: string | null;
}

/** The files that the documents of a state name, some at a time. */
async function* namedFiles(read: Reader): AsyncGenerator<readonly NamedFile[]> {
  const orgs = await orgsOf(read, 'documents');
  for await (const { rows } of recordPages<FileOwner>(read, 'documents', OWNER_COLUMNS, orgs)) {
    const named = rows.flatMap(({ guid, variants, size, sha256 }) =>
      variants.split(',').map((variant) => {
        const original = variant === 'original';
        return { name: fileName(guid, variant), size: original ? size : null, sha256: original ? sha256 : null };
      }),
    );
    for (let at = 0; at < named.length; at += TOGETHER) yield named.slice(at, at + TOGETHER);
  }
}

/**
 * Copies the files that documents name and that are not there yet; returns the names of those that the source does not
 * have. Each is copied completely or not at all, so an interrupted copy resumes with the next one.
 */
export async function copyFiles(read: Reader, source: SourceFiles, target: Files, work: Work): Promise<string[]> {
  const missing: string[] = [];
  for await (const some of namedFiles(read)) {
    await Promise.all(
      some.map(async ({ name }) => {
        const size = await sizeOf(source, name);
        if (size === undefined) missing.push(name);
        else if ((await target.size(name)) !== size && !(await copyFile(name, source, target))) missing.push(name);
      }),
    );
    await turn(work, 'Copying files', some.length);
  }
  return missing;
}

/** False when the file was removed before it could be read. */
async function copyFile(name: string, source: SourceFiles, target: Files): Promise<boolean> {
  // Left by an interrupted copy, or of another size: neither is complete.
  await target.remove(name);
  const content = await openFile(name, source);
  if (content === undefined) return false;
  const stage = await target.stage(name);
  try {
    for await (const chunk of content) await stage.write(chunk as Uint8Array);
    await stage.finish();
    await target.persist([name]);
    await target.finalize(name);
    return true;
  } catch (error) {
    await stage.discard();
    throw error;
  }
}

/** Opens a file, again when a server was just moving it to its final name; undefined when it is gone. */
async function openFile(name: string, source: SourceFiles): Promise<Readable | undefined> {
  try {
    return await source.open(name);
  } catch {
    return (await sizeOf(source, name)) === undefined ? undefined : source.open(name);
  }
}

/** A file as it was found: what it is called, how large it is, and the SHA-256 of its bytes. */
export interface HashedFile extends NamedFile {
  readonly bytes: number;
  readonly found: string;
}

/** Reads every file back; those that are not there are left out. */
export async function* hashedFiles(read: Reader, files: Files, work: Work): AsyncGenerator<HashedFile> {
  for await (const some of namedFiles(read)) {
    const hashed = await Promise.all(
      some.map(async (file) => {
        const bytes = await files.size(file.name);
        const found = bytes === undefined ? undefined : await hashOf(files, file.name);
        return bytes === undefined || found === undefined ? [] : [{ ...file, bytes, found }];
      }),
    );
    yield* hashed.flat();
    await turn(work, 'Reading files back', some.length);
  }
}

/** How many files were copied, and those that do not agree with their documents. */
export interface TransferredFiles {
  readonly count: number;
  readonly bytes: number;
  readonly problems: readonly string[];
}

/** Copies the files of a state, then reads them back and compares their SHA-256 with that of their documents. */
export async function transferFiles(
  snapshot: Snapshot,
  source: SourceFiles,
  target: Files,
  work: Work,
): Promise<TransferredFiles> {
  await refuseOthers(snapshot, target, work);
  const missing = await copyFiles(snapshot.read, source, target, work);
  const problems = missing.map((name) => `${name} is missing`);
  let count = 0;
  let bytes = 0;
  for await (const file of hashedFiles(snapshot.read, target, work)) {
    count++;
    bytes += file.bytes;
    if (file.sha256 !== null && file.sha256 !== file.found) problems.push(`${file.name} was changed`);
  }
  return { count, bytes, problems };
}

/** Files of something else would be orphans there; those of an interrupted copy are its own. */
async function refuseOthers({ read }: Snapshot, files: Files, work: Work): Promise<void> {
  const context = {
    files,
    live: read,
    keepsYoung: false,
    now: work.now(),
    turn: (what: string, count: number) => turn(work, what, count),
  };
  for await (const name of orphans(context)) {
    throw new StoreUnusable(
      `The file storage is not empty: it has ${name}, which belongs to no document that is copied.`,
      'Name an empty folder or another prefix; nothing was copied to it.',
    );
  }
}
