import { quoted } from '../names.ts';
import { type ChildTable, MIRROR_TABLES, type MirrorColumn, type MirrorTable, RECORD, SYNCED_AT } from '../tables.ts';
import { ELSEWHERE, joinedViews } from '../views.ts';
import type { Dialect } from './database.ts';

/** The type of a column in a database (D52). */
export function sqlType({ type }: Pick<MirrorColumn, 'type'>, { types }: Dialect): string {
  return types[type];
}

/** Which zone each location is in, and when the clocks of each zone change. */
export function zoneTables({ types: { integer, text }, keyed }: Dialect): string {
  return `DROP TABLE IF EXISTS _offsets;
CREATE TABLE _zones (location_id ${integer} PRIMARY KEY, zone ${text} NOT NULL);
CREATE TABLE _offsets (zone ${text} NOT NULL, since ${text} NOT NULL, seconds ${integer} NOT NULL, PRIMARY KEY (zone, since))${keyed};
`;
}

/** The tables of our own, whose names begin with an underscore; `_mirror` and `_columns` are for everybody. */
export function ownTables(dialect: Dialect): string {
  const { types, keyed, scratch } = dialect;
  const { integer, boolean, instant, text } = types;
  return `
CREATE TABLE _mirror (
  resource ${text} PRIMARY KEY, table_name ${text} NOT NULL, organization ${text} NOT NULL, url ${text} NOT NULL,
  rows ${integer} NOT NULL, deleted_rows ${integer} NOT NULL, complete ${boolean} NOT NULL,
  as_of ${instant}, position ${text}, changes ${text}, deletes ${text}, verified_at ${instant}, unavailable ${text},
  about ${text} NOT NULL
)${keyed};
CREATE TABLE _columns (
  table_name ${text} NOT NULL, column_name ${text} NOT NULL, type ${text} NOT NULL, unit ${text}, field ${text},
  about ${text} NOT NULL, PRIMARY KEY (table_name, column_name)
);
${zoneTables(dialect)}CREATE TABLE _facts (name ${text} PRIMARY KEY, value ${text} NOT NULL)${keyed};
CREATE TABLE _progress (resource ${text} PRIMARY KEY, since ${text}, read ${text})${keyed};
${scratch} _staged (resource ${text} NOT NULL, id ${integer} NOT NULL, record ${text} NOT NULL, PRIMARY KEY (resource, id))${keyed};
${scratch} _found (resource ${text} NOT NULL, id ${integer} NOT NULL, PRIMARY KEY (resource, id))${keyed};
${scratch} _received (
  number ${integer} PRIMARY KEY, resource ${text} NOT NULL, id ${integer} NOT NULL,
  operation ${text} NOT NULL, at ${text} NOT NULL, payload ${text} NOT NULL
);
CREATE INDEX _received_by_id ON _received (resource, id, number);
`;
}

/** The time zone of a location, an id in SQL. */
export function zoneOf(location: string): string {
  const of = (id: string) => `(SELECT z.zone FROM _zones AS z WHERE z.location_id = ${id})`;
  return `coalesce(${of(location)}, ${of(String(ELSEWHERE))})`;
}

/** Forgets what was staged and received. */
export const DISCARD = 'DELETE FROM _staged; DELETE FROM _found; DELETE FROM _received';

/** Records that are staged for these are not written, and rows of these are not deleted, until the mirror is closed. */
export function heldTable({ types: { text, integer }, keyed }: Dialect): string {
  return `CREATE TEMP TABLE _held (resource ${text} NOT NULL, id ${integer} NOT NULL, PRIMARY KEY (resource, id))${keyed}`;
}

function definition(column: MirrorColumn, dialect: Dialect): string {
  return `${quoted(column.name)} ${sqlType(column, dialect)}${column.name === 'id' ? ' PRIMARY KEY' : ''}`;
}

/** Our own columns at the end of a table; a de-identified copy has no records as they came. */
function ownColumns({ isDeidentified }: MirrorTable, { types: { instant, json } }: Dialect): string {
  return `${SYNCED_AT} ${instant} NOT NULL, ${RECORD} ${json}${isDeidentified ? '' : ' NOT NULL'}`;
}

/** The tables of a resource: its own, of deleted records, and of its lists. */
export function resourceTables(table: MirrorTable, dialect: Dialect): string[] {
  const all = table.columns.map((column) => definition(column, dialect)).join(', ');
  const own = ownColumns(table, dialect);
  return [
    `CREATE TABLE ${quoted(table.name)} (${all}, ${own})`,
    `CREATE TABLE ${quoted(`${table.name}_deleted`)} (${all}, ${own}, _deleted_at ${dialect.types.instant} NOT NULL)`,
    ...table.children.map((child) => childTable(child, dialect)),
  ];
}

function childTable({ name, parentKey, columns }: ChildTable, dialect: Dialect): string {
  const { integer } = dialect.types;
  const key = `${quoted(parentKey)} ${integer} NOT NULL, ordinal ${integer} NOT NULL`;
  const all = columns.map((column) => definition(column, dialect)).join(', ');
  return `CREATE TABLE ${quoted(name)} (${key}, ${all}, PRIMARY KEY (${quoted(parentKey)}, ordinal))${dialect.keyed}`;
}

/** The table of versions of a resource. */
export function historyTables(table: MirrorTable, columns: readonly MirrorColumn[], dialect: Dialect): string[] {
  const { name } = table;
  const { instant, text } = dialect.types;
  const history = quoted(`${name}_history`);
  const all = columns.map((column) => `${quoted(column.name)} ${sqlType(column, dialect)}`).join(', ');
  return [
    `CREATE TABLE ${history} (${all}, ${ownColumns(table, dialect)}, _valid_from ${instant} NOT NULL, _valid_to ${instant}, _operation ${text} NOT NULL)`,
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

/** The tables of a mirror by name, whatever its choices are. */
export function mirrorTables(): string[] {
  const own = ['_mirror', '_columns', '_zones', '_offsets', '_facts', '_progress', '_staged', '_found', '_received'];
  const ofResources = MIRROR_TABLES.flatMap(({ name, children }) => [
    ...[name, `${name}_deleted`, `${name}_history`],
    ...children.map((child) => child.name),
  ]);
  return [...own, ...ofResources];
}

/** The views of a mirror by name. */
export function mirrorViews(dialect: Dialect): string[] {
  return [...MIRROR_TABLES.map(({ name }) => `v_${name}`), ...joinedViews(dialect).map(({ name }) => name)];
}
