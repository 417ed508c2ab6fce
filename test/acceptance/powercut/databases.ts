import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, loadDriver } from '../../../src/sqlite/open.ts';
import { fileIn, namesIn, sha256, type Tree } from './trees.ts';

/** What SQLite itself reads of a database on a disk after a cut; undefined where there is none, or none yet. */
export function readDatabase<T>(tree: Tree, path: string, read: (database: Connection) => T): T | undefined {
  const bytes = fileIn(tree, path);
  if (bytes === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'molar-powercut-db-'));
  try {
    for (const suffix of ['', '-wal', '-journal']) {
      const part = fileIn(tree, `${path}${suffix}`);
      if (part !== undefined) writeFileSync(join(folder, `db${suffix}`), part);
    }
    const database = new (loadDriver())(join(folder, 'db'));
    try {
      const verdict = database.pragma('quick_check(1)', { simple: true });
      if (verdict !== 'ok') throw new Error(`${path} is damaged: ${verdict}`);
      return read(database);
    } finally {
      database.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Rows of a table, none where there is no such table yet. */
export function rowsOf<T>(database: Connection, table: string, columns: string): T[] {
  const isThere = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table);
  return isThere === undefined ? [] : (database.prepare(`SELECT ${columns} FROM ${table}`).all() as T[]);
}

/** Hashes of all files below a folder, by name, whichever folder they are in. */
export function hashesIn(tree: Tree, folder: string): Map<string, string> {
  const hashes = new Map<string, string>();
  for (const name of namesIn(tree, folder)) {
    const bytes = fileIn(tree, folder, name);
    if (bytes !== undefined) hashes.set(name, sha256(bytes));
    else for (const [inside, hash] of hashesIn(tree, `${folder}/${name}`)) hashes.set(inside, hash);
  }
  return hashes;
}
