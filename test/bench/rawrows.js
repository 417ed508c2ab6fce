// Rows of one SQLite database written into another by the bare driver: the floor under everything that writes.
import { createHash } from 'node:crypto';
import { Database } from './driver.js';

/** Opens a database as the server does, so that both write with the same durability and memory. */
export function openRaw(file) {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('cache_size = -16000');
  return database;
}

/** Copies a database as it is committed now, its journal included. */
export async function backUp(from, to) {
  const database = new Database(from, { readonly: true });
  await database.backup(to);
  database.close();
}

/** The tables that are ours, in the order in which they were made. */
export function tablesOf(database) {
  return database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    .pluck()
    .all();
}

/** The statement that inserts a whole row of a table. */
export function insertInto(database, table) {
  const columns = database.pragma(`table_info(${table})`).map(({ name }) => name);
  const places = columns.map(() => '?').join(', ');
  return database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`);
}

/** The first table whose rows differ between two databases, these left out; undefined when they hold the same. */
export function differenceOf(one, other, leftOut = []) {
  const [first, second] = [one, other].map((file) => {
    const database = new Database(file, { readonly: true });
    const sums = tablesOf(database).map((table) => [table, sumOf(database, table)]);
    database.close();
    return new Map(sums);
  });
  return [...first.keys()].find((table) => !leftOut.includes(table) && first.get(table) !== second.get(table));
}

/** A SHA-256 over all rows, in the order of their keys. */
function sumOf(database, table) {
  const hash = createHash('sha256');
  const keys = database.pragma(`table_info(${table})`).filter(({ pk }) => pk > 0);
  const order = keys.length > 0 ? keys.map(({ name }) => name) : ['rowid'];
  const rows = database.prepare(`SELECT * FROM ${table} ORDER BY ${order.join(', ')}`).raw();
  for (const row of rows.iterate()) hash.update(JSON.stringify(row));
  return hash.digest('hex');
}
