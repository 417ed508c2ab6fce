import { quoted } from '../names.ts';
import type { Dialect, Target } from '../sql/database.ts';
import { zoneOf } from '../sql/schema.ts';

const COLUMNS = 'c.table_name, c.column_name, c.type, c.unit, c.field, c.about';
const UTC = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

/** The short name of a type. */
const TYPE = `regexp_replace(regexp_replace(format_type(a.atttypid, a.atttypmod),
  '^timestamp(.*) with time zone$', 'timestamptz\\1'), '^timestamp(.*) without time zone$', 'timestamp\\1')`;

/** How PostgreSQL writes what databases write differently; none of it needs a function of molar. */
export const POSTGRES: Dialect = {
  types: {
    ...{ integer: 'bigint', boolean: 'boolean', cents: 'bigint', number: 'numeric' },
    ...{ date: 'date', instant: 'timestamptz(3)', json: 'jsonb', text: 'text' },
  },
  keyed: '',
  scratch: 'CREATE UNLOGGED TABLE',
  orderedJoin: 'JOIN',
  isAmong: (number, parameter) => `${number} = ANY (CAST(${parameter} AS bigint[]))`,
  list: (ids) => `{${ids.join(',')}}`,
  numberAt: (json, path) => {
    const digits = `substring(CAST(${json} AS json) #>> '{${path.replaceAll('.', ',')}}' FROM '^-?[0-9]{1,19}$')`;
    // Null beyond 64 bits, which 19 digits may be.
    return `(SELECT CASE WHEN abs(n) < 9223372036854775808 THEN CAST(n AS bigint) END FROM CAST(${digits} AS numeric) AS n)`;
  },
  lacksMember: (record, name) => `(${record} -> '${name.replaceAll("'", "''")}') IS NULL`,
  hasMember: (record, parameter) => `(${record} ->> CAST(${parameter} AS text)) IS NOT NULL`,
  columns: (where) =>
    `SELECT ${COLUMNS} FROM _columns AS c LEFT JOIN pg_attribute AS a
      ON a.attrelid = to_regclass(quote_ident(c.table_name)) AND a.attname = c.column_name
    WHERE ${where} ORDER BY a.attrelid, a.attnum`,
  tableColumns: `SELECT a.attname AS name, ${TYPE} AS type FROM pg_attribute AS a
    WHERE a.attrelid = to_regclass(quote_ident(:name)) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
  replaceView: ({ name, query }) => [`CREATE OR REPLACE VIEW ${quoted(name)} AS ${query}`],
  line: (columns) => `array_to_json(ARRAY[${columns.map((column) => `to_json(${exact(column)})`).join(', ')}])`,
  // Not by the name of the zone: PostgreSQL takes CST, CET and others for abbreviations, which know no summer time.
  local: (instant, location) => {
    const since = `to_char(${instant} AT TIME ZONE 'UTC', ${UTC})`;
    const seconds = `(SELECT o.seconds FROM _offsets AS o WHERE o.zone = ${zoneOf(location)} AND o.since <= ${since} ORDER BY o.since DESC LIMIT 1)`;
    return `CAST(date_trunc('second', ${instant} AT TIME ZONE 'UTC') + ${seconds} * interval '1 second' AS timestamp(0))`;
  },
  localDate: (instant, location) => `CAST(${POSTGRES.local(instant, location)} AS date)`,
  dollars: (cents) => `round(${cents} / 100.0, 2)`,
  now: 'now()',
};

/** A column in a form that no setting of a session changes, and that SQLite has too. */
function exact({ name, type }: Target): string {
  if (type === 'boolean') return `CAST(${quoted(name)} AS integer)`;
  return type === 'instant' ? `to_char(${quoted(name)} AT TIME ZONE 'UTC', ${UTC})` : quoted(name);
}
