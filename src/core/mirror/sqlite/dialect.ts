import { quoted } from '../names.ts';
import type { Dialect } from '../sql/database.ts';
import { zoneOf } from '../sql/schema.ts';

const COLUMNS = 'table_name, column_name, type, unit, field, about';

/** How SQLite writes what databases write differently; none of it needs a function of molar. */
export const SQLITE: Dialect = {
  types: {
    ...{ integer: 'INTEGER', boolean: 'INTEGER', cents: 'INTEGER', number: 'NUMERIC' },
    ...{ date: 'TEXT', instant: 'TEXT', json: 'TEXT', text: 'TEXT' },
  },
  keyed: ' WITHOUT ROWID',
  scratch: 'CREATE TABLE',
  orderedJoin: 'CROSS JOIN',
  isAmong: (number, parameter) => `${number} IN (SELECT value FROM json_each(${parameter}))`,
  list: (ids) => `[${ids.join(',')}]`,
  numberAt: (json, path) => `CAST(json_extract(${json}, '$.${path}') AS INTEGER)`,
  lacksMember: (record, name) => {
    const path = `'$."${name.replaceAll("'", "''").replaceAll('"', '')}"'`;
    return `iif(json_valid(${record}), json_type(${record}, ${path}), '') IS NULL`;
  },
  hasMember: (record, parameter) => `iif(json_valid(${record}), ${record} ->> ${parameter}, NULL) IS NOT NULL`,
  columns: (where) => `SELECT ${COLUMNS} FROM _columns WHERE ${where} ORDER BY rowid`,
  tableColumns: 'SELECT name, type FROM pragma_table_info(:name)',
  replaceView: ({ name, query }) => [`DROP VIEW IF EXISTS ${quoted(name)}`, `CREATE VIEW ${quoted(name)} AS ${query}`],
  line: (columns) => `json_array(${columns.map(({ name }) => quoted(name)).join(', ')})`,
  local: (instant, location) =>
    `strftime('%Y-%m-%d %H:%M:%S', ${instant}, (SELECT o.seconds || ' seconds' FROM _offsets AS o WHERE o.zone = ${zoneOf(location)} AND o.since <= ${instant} ORDER BY o.since DESC LIMIT 1))`,
  localDate: (instant, location) => `substr(${SQLITE.local(instant, location)}, 1, 10)`,
  dollars: (cents) => `round(${cents} / 100.0, 2)`,
  now: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
};
