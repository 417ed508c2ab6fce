import { quoted } from '../names.ts';
import { type ChildTable, type ColumnType, type MirrorColumn, type MirrorTable, RECORD, SYNCED_AT } from '../tables.ts';

const SQL_TYPES: Readonly<Record<ColumnType, string>> = {
  integer: 'INTEGER',
  boolean: 'INTEGER',
  cents: 'INTEGER',
  number: 'NUMERIC',
  date: 'TEXT',
  instant: 'TEXT',
  json: 'TEXT',
  text: 'TEXT',
};

/** The type of a column in SQLite (D52). */
export function sqlType({ type }: Pick<MirrorColumn, 'type'>): string {
  return SQL_TYPES[type];
}

/** Which zone each location is in, and when the clocks of each zone change. */
export const ZONE_TABLES = `DROP TABLE IF EXISTS _offsets;
CREATE TABLE _zones (location_id INTEGER PRIMARY KEY, zone TEXT NOT NULL);
CREATE TABLE _offsets (zone TEXT NOT NULL, since TEXT NOT NULL, seconds INTEGER NOT NULL, PRIMARY KEY (zone, since)) WITHOUT ROWID;
`;

/** The tables of our own, whose names begin with an underscore; `_mirror` and `_columns` are for everybody. */
export const OWN_TABLES = `
CREATE TABLE _mirror (
  resource TEXT PRIMARY KEY, table_name TEXT NOT NULL, organization TEXT NOT NULL, url TEXT NOT NULL,
  rows INTEGER NOT NULL DEFAULT 0, deleted_rows INTEGER NOT NULL DEFAULT 0, complete INTEGER NOT NULL DEFAULT 0,
  as_of TEXT, position TEXT, changes TEXT, deletes TEXT, verified_at TEXT, unavailable TEXT, about TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE _columns (
  table_name TEXT NOT NULL, column_name TEXT NOT NULL, type TEXT NOT NULL, unit TEXT, field TEXT, about TEXT NOT NULL,
  PRIMARY KEY (table_name, column_name)
);
${ZONE_TABLES}CREATE TABLE _facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE _progress (resource TEXT PRIMARY KEY, since TEXT, read TEXT) WITHOUT ROWID;
CREATE TABLE _staged (resource TEXT NOT NULL, id INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (resource, id)) WITHOUT ROWID;
CREATE TABLE _found (resource TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (resource, id)) WITHOUT ROWID;
CREATE TABLE _received (
  number INTEGER PRIMARY KEY, resource TEXT NOT NULL, id INTEGER NOT NULL, operation TEXT NOT NULL, at TEXT NOT NULL,
  payload TEXT NOT NULL
);
CREATE INDEX _received_by_id ON _received (resource, id, number);
`;

/** Records that are staged for these are not written, and rows of these are not deleted, until the file is closed. */
export const HELD =
  'CREATE TEMP TABLE _held (resource TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (resource, id)) WITHOUT ROWID';

function definition(column: MirrorColumn): string {
  if (column.name === 'id') return '"id" INTEGER PRIMARY KEY';
  return `${quoted(column.name)} ${sqlType(column)}`;
}

/** The tables of a resource: its own, of deleted records, and of its lists. `columns`: with those of unknown fields. */
export function resourceTables(table: MirrorTable, columns: readonly MirrorColumn[]): string[] {
  const all = columns.map(definition).join(', ');
  const own = ownColumns(table);
  return [
    `CREATE TABLE ${quoted(table.name)} (${all}, ${own})`,
    `CREATE TABLE ${quoted(`${table.name}_deleted`)} (${all}, ${own}, _deleted_at TEXT NOT NULL)`,
    ...table.children.map(childTable),
  ];
}

/** A de-identified copy has no records as they came. */
function ownColumns({ isDeidentified }: MirrorTable): string {
  return `${SYNCED_AT} TEXT NOT NULL, ${RECORD} TEXT${isDeidentified ? '' : ' NOT NULL'}`;
}

function childTable({ name, parentKey, columns }: ChildTable): string {
  const key = `${quoted(parentKey)} INTEGER NOT NULL, ordinal INTEGER NOT NULL`;
  return `CREATE TABLE ${quoted(name)} (${key}, ${columns.map(definition).join(', ')}, PRIMARY KEY (${quoted(parentKey)}, ordinal)) WITHOUT ROWID`;
}

/** The table of versions of a resource. */
export function historyTables(table: MirrorTable, columns: readonly MirrorColumn[]): string[] {
  const { name } = table;
  const history = quoted(`${name}_history`);
  const all = columns.map((column) => `${quoted(column.name)} ${sqlType(column)}`).join(', ');
  return [
    `CREATE TABLE ${history} (${all}, ${ownColumns(table)}, _valid_from TEXT NOT NULL, _valid_to TEXT, _operation TEXT NOT NULL)`,
    `CREATE INDEX ${quoted(`${name}_history_by_id`)} ON ${history} (id, _valid_to)`,
  ];
}

/** Names of people and things, which are looked for. */
const IS_NAME = /(^|_)name$/;

/** Text without what people put between the digits of a phone number. */
export function digitsOf(column: string): string {
  return ['-', '(', ')', ' ', '.', '+'].reduce((text, sign) => `replace(${text}, '${sign}', '')`, column);
}

/**
 * Columns that are looked up together for many patients at once, by table: the last visit of each, the last payment, the
 * next visit. An index on all of them spares reading the rows, which are long.
 */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  appointments: ['patient_id', 'start', 'status', 'location_id'],
  transactions: ['patient_id', 'ledger_type', 'transaction_date', 'is_active'],
};

/**
 * The indexes of a resource (D52): on links, dates and instants, names, digits of phones, and what is looked up together.
 * They are made after the first load: to keep them meanwhile takes longer the larger they are, since most rows name
 * something anywhere in them.
 */
export function indexes({ name, children }: MirrorTable, columns: readonly MirrorColumn[]): string[] {
  const own = columns.filter(({ path }) => path.join('.') !== 'id').flatMap((column) => indexOn(name, column));
  const ofChildren = children.flatMap((child) => child.columns.flatMap((column) => indexOn(child.name, column)));
  return [...own, ...ofChildren, ...indexTogether(name, columns)];
}

function indexTogether(table: string, columns: readonly MirrorColumn[]): string[] {
  const together = TOGETHER[table];
  if (together === undefined || !together.every((name) => columns.some((column) => column.name === name))) return [];
  return [createIndex(table, together.slice(0, 2).join('_and_'), together.map(quoted).join(', '))];
}

function createIndex(table: string, what: string, on: string, where = ''): string {
  return `CREATE INDEX IF NOT EXISTS ${quoted(`${table}_by_${what}`)} ON ${quoted(table)} (${on})${where}`;
}

function indexOn(table: string, { name, type, isLink = false, path }: MirrorColumn): string[] {
  const column = quoted(name);
  if (isLink || name === 'charge_id') return [createIndex(table, name, column, ` WHERE ${column} IS NOT NULL`)];
  if (path[0] === 'number' && table.endsWith('phones')) return [createIndex(table, 'digits', digitsOf(column))];
  return type === 'date' || type === 'instant' || IS_NAME.test(name) ? [createIndex(table, name, column)] : [];
}
