import type { Connection } from '../../../sqlite/open.ts';
import { agedOut, deidentifiedTable } from '../deidentify/tables.ts';
import { quoted } from '../names.ts';
import { type MirrorRecord, onlyFields } from '../records.ts';
import { TableRows } from '../rows.ts';
import type { MirrorChoices } from '../store.ts';
import {
  type ChildTable,
  type ColumnType,
  MIRROR_TABLES,
  type MirrorColumn,
  type MirrorTable,
  OWN_COLUMNS,
} from '../tables.ts';
import type { InstantOf } from '../values.ts';
import { ELSEWHERE, joinedViews, tableView, type View, type ViewDialect } from '../views.ts';
import { historyTables, indexes, resourceTables, sqlType, ZONE_TABLES } from './schema.ts';
import { type ChangeCounts, TableWriter } from './tablewriter.ts';

const DIALECT: ViewDialect = {
  local: (instant, location) => {
    const zone = `coalesce((SELECT z.zone FROM _zones AS z WHERE z.location_id = ${location}), (SELECT z.zone FROM _zones AS z WHERE z.location_id = ${ELSEWHERE}))`;
    return `strftime('%Y-%m-%d %H:%M:%S', ${instant}, (SELECT o.seconds || ' seconds' FROM _offsets AS o WHERE o.zone = ${zone} AND o.since <= ${instant} ORDER BY o.since DESC LIMIT 1))`;
  },
  dollars: (cents) => `round(${cents} / 100.0, 2)`,
};

const NOW = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

/** The table of a resource with the chosen fields only, `id` is always one, and with what may be kept of them. */
export function chosenTable(
  declared: MirrorTable,
  { columns, deidentified }: Omit<MirrorChoices, 'history'>,
): MirrorTable {
  const table = deidentified ? deidentifiedTable(declared) : declared;
  const chosen = columns[table.resource.name];
  if (chosen === undefined) return table;
  const fields = new Set(['id', ...chosen]);
  return {
    ...table,
    columns: table.columns.filter(({ path }) => fields.has(path[0] ?? '')),
    children: table.children.filter(({ field }) => fields.has(field)),
  };
}

/** The tables of resources in a SQLite file, their views and descriptions, and what writes to them. */
export class TableSet {
  readonly tables: readonly MirrorTable[];
  private readonly rows = new Map<string, TableRows>();
  private readonly writers = new Map<string, TableWriter>();
  private readonly changes = new Map<string, ChangeCounts>();

  constructor(
    private readonly connection: Connection,
    private readonly choices: MirrorChoices,
    private readonly instantOf: InstantOf,
  ) {
    this.tables = MIRROR_TABLES.map((table) => chosenTable(table, choices));
  }

  /** Makes all tables, views and descriptions of a new file. */
  create(): void {
    for (const table of this.tables) {
      for (const statement of resourceTables(table, table.columns)) this.connection.exec(statement);
      this.describeTable(table);
    }
    this.makeViews();
    if (this.choices.history) this.createHistory();
  }

  /** Makes the tables of zones, and views that read them, where a file of an older version has none. */
  addZones(): void {
    if (this.connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = '_zones'").get() !== undefined) return;
    this.connection.exec(ZONE_TABLES);
    this.makeViews();
  }

  private makeViews(): void {
    for (const table of this.tables) this.makeView(tableView(table, this.rowsOf(table).columns, DIALECT));
    for (const view of joinedViews(DIALECT, NOW)) {
      const isMade =
        view.reads.every((name) => !this.isPartial(name)) && !(view.needsTimes && this.choices.deidentified);
      if (isMade) this.makeView(view);
    }
  }

  /** Makes the tables of versions, which begin with what is there. */
  createHistory(): void {
    for (const table of this.tables) {
      for (const statement of historyTables(table, this.rowsOf(table).columns)) this.connection.exec(statement);
      const name = `${table.name}_history`;
      const of = (column: string) => `${quoted(column)} of each version`;
      this.describe(name, [...this.rowsOf(table).columns, ...OWN_COLUMNS]);
      for (const column of ['_valid_from', '_valid_to', '_operation']) this.describeOwn(name, column, of(column));
    }
    this.writers.clear();
  }

  /** Begins the history of a table with what it has; `at`: from when these versions are known. */
  beginHistory(table: MirrorTable, at: string): void {
    const { name } = table;
    const names = [...this.rowsOf(table).columns, ...OWN_COLUMNS].map((column) => quoted(column.name)).join(', ');
    this.connection
      .prepare(
        `INSERT INTO ${quoted(`${name}_history`)} (${names}, _valid_from, _operation) SELECT ${names}, ?, 'CREATE' FROM ${quoted(name)}`,
      )
      .run(at);
  }

  /** Makes the indexes, which wait for the end of the first load. */
  createIndexes(table: MirrorTable): void {
    const own = this.own(table);
    for (const statement of indexes(own, own.columns)) this.connection.exec(statement);
  }

  /** Adds columns for fields of records that the catalog does not know. */
  learn(table: MirrorTable, records: readonly MirrorRecord[]): void {
    const columns = this.rowsOf(table).learn(records);
    if (columns.length > 0) this.addColumns(this.own(table), columns);
  }

  /** A record with the chosen fields. */
  chosen({ resource }: MirrorTable, record: MirrorRecord): MirrorRecord {
    const fields = this.choices.columns[resource.name];
    return fields === undefined ? record : onlyFields(record, new Set(['id', ...fields]));
  }

  /** Years pass: whose birth year could stay so far may be too old for it now. `now`: UTC milliseconds. */
  ageOut(now: number): void {
    for (const table of this.tables) {
      const names = [table.name, ...(this.choices.history ? [`${table.name}_history`] : [])];
      for (const statement of agedOut(table, names, now)) this.connection.exec(statement);
    }
  }

  rowsOf(table: MirrorTable): TableRows {
    const known = this.rows.get(table.name);
    if (known !== undefined) return known;
    const isOpen = this.choices.columns[table.resource.name] === undefined;
    const made = new TableRows(this.own(table), this.learned(table), isOpen, this.instantOf);
    this.rows.set(table.name, made);
    return made;
  }

  /** `hasHistory`: versions are kept; those of a first load are not. */
  writerOf(table: MirrorTable, hasHistory: boolean): TableWriter {
    const known = this.writers.get(table.name);
    if (known?.hasHistory === hasHistory) return known;
    const made = new TableWriter(this.connection, this.rowsOf(table), hasHistory, this.changesOf(table));
    this.writers.set(table.name, made);
    return made;
  }

  /** What was written to a table since `changesOf` was last called with `reset`. */
  changesOf({ name }: MirrorTable, reset = false): ChangeCounts {
    const counts = this.changes.get(name) ?? { added: 0, changed: 0, deleted: 0 };
    this.changes.set(name, counts);
    return reset ? Object.assign(counts, { added: 0, changed: 0, deleted: 0 }) : counts;
  }

  private addColumns(table: MirrorTable, columns: readonly MirrorColumn[]): void {
    const names = [table.name, `${table.name}_deleted`, ...(this.choices.history ? [`${table.name}_history`] : [])];
    for (const name of names) {
      for (const column of columns)
        this.connection.exec(`ALTER TABLE ${quoted(name)} ADD COLUMN ${quoted(column.name)} ${sqlType(column)}`);
      this.describe(name, columns);
    }
    this.makeView(tableView(table, this.rowsOf(table).columns, DIALECT));
    this.writers.delete(table.name);
  }

  /** How the file has a table: with the fields that were chosen. */
  private own({ name }: MirrorTable): MirrorTable {
    const found = this.tables.find((table) => table.name === name);
    if (found === undefined) throw new Error(`There is no table ${name}.`);
    return found;
  }

  private isPartial(name: string): boolean {
    const { resource } = this.own({ name } as MirrorTable);
    return this.choices.columns[resource.name] !== undefined;
  }

  /** Columns of unknown fields that earlier runs have made. */
  private learned(table: MirrorTable): MirrorColumn[] {
    const known = new Set([...this.own(table).columns, ...OWN_COLUMNS].map(({ name }) => name));
    const rows = this.connection
      .prepare('SELECT column_name AS name, type, unit, field, about FROM _columns WHERE table_name = ? ORDER BY rowid')
      .all(table.name) as { name: string; type: string; unit: string | null; field: string; about: string }[];
    return rows
      .filter(({ name }) => !known.has(name))
      .map((row) => ({ ...row, type: learnedType(row.type, row.unit), path: [row.field] }));
  }

  private makeView({ name, query, about }: View): void {
    this.connection.exec(`DROP VIEW IF EXISTS ${quoted(name)}; CREATE VIEW ${quoted(name)} AS ${query}`);
    this.connection.prepare('DELETE FROM _columns WHERE table_name = ?').run(name);
    for (const column of this.connection.pragma(`table_info(${quoted(name)})`) as { name: string; type: string }[])
      this.describeOwn(name, column.name, about, column.type);
  }

  private describeTable(table: MirrorTable): void {
    this.describe(table.name, [...table.columns, ...OWN_COLUMNS]);
    const deleted = `${table.name}_deleted`;
    this.describe(deleted, [...table.columns, ...OWN_COLUMNS]);
    this.describeOwn(deleted, '_deleted_at', 'When it was deleted, or when it was missed');
    for (const child of table.children) this.describeChild(child, table);
  }

  private describeChild({ name, parentKey, columns, about }: ChildTable, parent: MirrorTable): void {
    const key = { name: parentKey, type: 'integer' as const, path: [], field: 'id', about, references: parent.name };
    const ordinal = {
      name: 'ordinal',
      type: 'integer' as const,
      path: [],
      field: null,
      about: 'Place in the list, from 1',
    };
    this.describe(name, [key, ordinal, ...columns]);
  }

  private describe(table: string, columns: readonly MirrorColumn[]): void {
    const insert = this.connection.prepare(
      'INSERT OR REPLACE INTO _columns (table_name, column_name, type, unit, field, about) VALUES (?, ?, ?, ?, ?, ?)',
    );
    for (const column of columns) {
      const { name, type, field, about, references } = column;
      const leads = references === undefined ? '' : `; references ${references}.id`;
      insert.run(table, name, sqlType(column), unitOf(type), field, about + leads);
    }
  }

  private describeOwn(table: string, column: string, about: string, type = 'TEXT'): void {
    this.connection
      .prepare('INSERT OR REPLACE INTO _columns (table_name, column_name, type, about) VALUES (?, ?, ?, ?)')
      .run(table, column, type, about);
  }
}

const UNITS: Readonly<Partial<Record<ColumnType, string>>> = { cents: 'cents', instant: 'UTC', json: 'JSON' };

function unitOf(type: ColumnType): string | null {
  return UNITS[type] ?? null;
}

/** The type of a column of an unknown field by what `_columns` says of it. */
function learnedType(type: string, unit: string | null): ColumnType {
  if (type === 'NUMERIC') return 'number';
  if (type === 'INTEGER') return 'boolean';
  return unit === UNITS.json ? 'json' : 'text';
}
