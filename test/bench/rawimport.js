// Writes all rows of a database into a new one with the same schema, in one transaction, with nothing but the driver.
// Prints a line of JSON: rows, and the seconds that writing them took; reading them is not counted.
import { Database } from './driver.js';
import { insertInto, openRaw, tablesOf } from './rawrows.js';

/** Rows that are read at once, so that memory does not grow with them. */
const PAGE = 2000;

const [from, to] = process.argv.slice(2);
const source = new Database(from, { readonly: true });
const target = openRaw(to);
const schema = source
  .prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
  .pluck()
  .all();
for (const statement of schema) target.exec(statement);

let rows = 0;
let milliseconds = 0;
const timed = (work) => {
  const began = performance.now();
  work();
  milliseconds += performance.now() - began;
};

timed(() => target.exec('BEGIN IMMEDIATE'));
for (const table of tablesOf(source)) {
  const insert = insertInto(target, table);
  let page = [];
  const write = () => {
    for (const row of page) insert.run(row);
    rows += page.length;
    page = [];
  };
  for (const row of source.prepare(`SELECT * FROM ${table}`).raw().iterate()) {
    if (page.push(row) === PAGE) timed(write);
  }
  timed(write);
}
timed(() => target.exec('COMMIT'));
source.close();
target.close();
process.stdout.write(`${JSON.stringify({ rows, seconds: milliseconds / 1000 })}\n`);
