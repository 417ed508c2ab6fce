import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is on a disk after a power cut: names to files, and to folders. */
export type Tree = ReadonlyMap<string, FileContent | Tree>;

/** The content of a file; two names of one file have the same. */
export interface FileContent {
  readonly bytes: Buffer;
}

/** Puts what is on a disk into an empty folder; `as` says what becomes of the bytes of a file. */
export function writeTree(tree: Tree, folder: string, as = (bytes: Buffer) => bytes): void {
  const written = new Map<FileContent, string>();
  const write = (entries: Tree, into: string) => {
    mkdirSync(into, { recursive: true, mode: 0o700 });
    for (const [name, entry] of entries) {
      const path = join(into, name);
      if (entry instanceof Map) write(entry, path);
      else writeFile(entry as FileContent, path);
    }
  };
  const writeFile = (file: FileContent, path: string) => {
    const other = written.get(file);
    if (other === undefined) writeFileSync(path, as(file.bytes), { mode: 0o600 });
    else linkSync(other, path);
    written.set(file, path);
  };
  write(tree, folder);
}

/** The content of a file of a tree, undefined where there is none. */
export function fileIn(tree: Tree, ...names: readonly string[]): Buffer | undefined {
  let entry: Tree | FileContent | undefined = tree;
  for (const name of names.flatMap((each) => each.split('/')))
    entry = entry instanceof Map ? entry.get(name) : undefined;
  return entry === undefined || entry instanceof Map ? undefined : (entry as FileContent).bytes;
}

/** Names in a folder of a tree, none where there is no such folder. */
export function namesIn(tree: Tree, ...names: readonly string[]): string[] {
  let entry: Tree | FileContent | undefined = tree;
  for (const name of names.flatMap((each) => each.split('/')))
    entry = entry instanceof Map ? entry.get(name) : undefined;
  return entry instanceof Map ? [...entry.keys()] : [];
}

/** JSON of a file, undefined for none and for what is none. */
export function jsonIn(tree: Tree, ...names: readonly string[]): unknown {
  try {
    return JSON.parse(fileIn(tree, ...names)?.toString() ?? '');
  } catch {
    return undefined;
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What is in a folder now. */
export function folderTree(folder: string): Tree {
  return new Map(
    readdirSync(folder)
      .filter((name) => !name.endsWith('-shm'))
      .map((name) => {
        const path = join(folder, name);
        return [name, statSync(path).isDirectory() ? folderTree(path) : { bytes: readFileSync(path) }] as const;
      }),
  );
}

/** Every file and folder of a tree, with the size and the hash of a file. */
export function listOf(tree: Tree, under = ''): Map<string, { size?: number; sha256?: string }> {
  const list = new Map<string, { size?: number; sha256?: string }>();
  for (const [name, entry] of [...tree].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const path = `${under}${name}`;
    if (entry instanceof Map) {
      list.set(`${path}/`, {});
      for (const [inside, facts] of listOf(entry, `${path}/`)) list.set(inside, facts);
    } else {
      const { bytes } = entry as FileContent;
      list.set(path, { size: bytes.length, sha256: sha256(bytes) });
    }
  }
  return list;
}

/** The same for the same names and contents. */
export function digestOf(tree: Tree): string {
  return sha256(Buffer.from(JSON.stringify([...listOf(tree)])));
}
