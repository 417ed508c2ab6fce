import { agedOut, deidentifiedTable } from '../deidentify/tables.ts';
import { quoted } from '../names.ts';
import { type MirrorRecord, onlyFields } from '../records.ts';
import { TableRows } from '../rows.ts';
import type { MirrorChoices } from '../store.ts';
import { type ChildTable, MIRROR_TABLES, type MirrorColumn, type MirrorTable, OWN_COLUMNS } from '../tables.ts';
import type { InstantOf } from '../values.ts';
import { joinedViews, tableView, type View } from '../views.ts';
import {
  DELETED_AT,
  DESCRIPTION,
  type Described,
  type Learned,
  learnedType,
  ORDINAL,
  unitOf,
} from './columndescriptions.ts';
import type { ChangeCounts, MirrorDatabase, TableWriter } from './database.ts';
import { fillColumn } from './filling.ts';
import { historyTables, indexes, resourceTables, sqlType, zoneTables } from './schema.ts';

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

/** The tables of resources in a database, their views and descriptions, and what writes to them. */
export class TableSet {
  readonly tables: readonly MirrorTable[];
  private readonly rows = new Map<string, TableRows>();
  private readonly writers = new Map<string, TableWriter>();
  private readonly changes = new Map<string, ChangeCounts>();
  /** Rows of tables that others kept too busy for new columns: to try again with each batch would keep those waiting. */
  private readonly busy = new Map<string, TableRows>();

  constructor(
    private readonly database: MirrorDatabase,
    private readonly choices: MirrorChoices,
    private readonly instantOf: InstantOf,
  ) {
    this.tables = MIRROR_TABLES.map((table) => chosenTable(table, choices));
  }

  /** Makes all tables, views and descriptions of a new database. */
  async create(): Promise<void> {
    const statements = this.tables.flatMap((table) => resourceTables(table, this.database.dialect));
    await this.database.script(statements.join(';'));
    await this.describe(this.tables.flatMap((table) => this.tableDescriptions(table)));
    await this.makeViews();
    if (this.choices.history) await this.createHistory();
  }

  /** Makes the tables of zones, and views that read them, where a mirror of an older version has none. */
  async addZones(): Promise<void> {
    const { dialect } = this.database;
    const there = await this.database.rows(dialect.tableColumns, { name: '_zones' });
    if (there.length > 0) return;
    await this.database.script(zoneTables(dialect));
    await this.makeViews();
  }

  private async makeViews(): Promise<void> {
    const { dialect } = this.database;
    const joined = joinedViews(dialect).filter(
      ({ reads, needsTimes }) =>
        reads.every((name) => !this.isPartial(name)) && !(needsTimes && this.choices.deidentified),
    );
    const views: View[] = [];
    for (const table of this.tables) {
      const { columns } = await this.rowsOf(table);
      views.push(this.viewOf(table, columns.slice(table.columns.length)));
    }
    views.push(...joined);
    await this.database.script(views.flatMap((view) => dialect.replaceView(view)).join(';'));
    const described: Described[] = [];
    for (const view of views) described.push(...(await this.viewDescriptions(view)));
    await this.describe(described);
  }

  /** Makes the tables of versions, which begin with what is there. */
  async createHistory(): Promise<void> {
    for (const table of this.tables) {
      const { columns } = await this.rowsOf(table);
      await this.database.script(historyTables(table, columns, this.database.dialect).join(';'));
      const name = `${table.name}_history`;
      const own = (column: string, type: MirrorColumn['type']): MirrorColumn => {
        return { name: column, type, path: [], field: null, about: `${quoted(column)} of each version` };
      };
      const versions = [own('_valid_from', 'instant'), own('_valid_to', 'instant'), own('_operation', 'text')];
      await this.describe(this.descriptions(name, [...columns, ...OWN_COLUMNS, ...versions]));
    }
    this.writers.clear();
  }

  /** Begins the history of a table with what it has; `at`: from when these versions are known. */
  async beginHistory(table: MirrorTable, at: string): Promise<void> {
    const { name } = table;
    const { columns } = await this.rowsOf(table);
    const names = [...columns, ...OWN_COLUMNS].map((column) => quoted(column.name)).join(', ');
    const since = `CAST(:at AS ${this.database.dialect.types.instant})`;
    await this.database.run(
      `INSERT INTO ${quoted(`${name}_history`)} (${names}, _valid_from, _operation) SELECT ${names}, ${since}, 'CREATE' FROM ${quoted(name)}`,
      { at },
    );
  }

  /** Makes the indexes, which wait for the end of the first load. */
  async createIndexes(tables: readonly MirrorTable[]): Promise<void> {
    const own = tables.map((table) => this.own(table));
    await this.database.script(own.flatMap((table) => indexes(table, table.columns)).join(';'));
  }

  /** Adds columns for fields of records that the catalog does not know. */
  async learn(table: MirrorTable, records: readonly MirrorRecord[]): Promise<void> {
    const busy = this.busy.get(table.name);
    if (busy !== undefined) {
      busy.learn(records);
      return;
    }
    const rows = await this.rowsOf(table);
    const columns = rows.learn(records);
    if (columns.length > 0) await this.fillColumns(rows, columns);
  }

  /** Adds columns that others kept from being added before. */
  async learnAgain(): Promise<void> {
    const waiting = [...this.busy.values()];
    this.busy.clear();
    for (const rows of waiting) {
      const { columns } = await this.rowsOf(rows.table);
      this.rows.set(rows.table.name, rows);
      await this.fillColumns(rows, rows.columns.slice(columns.length));
    }
  }

  private async fillColumns(rows: TableRows, columns: readonly MirrorColumn[]): Promise<void> {
    const { table } = rows;
    if (await this.addColumns(table, columns)) {
      const writer = await this.writerOf(table, false);
      for (const column of columns) await fillColumn(this.database, rows, writer, column, this.choices.history);
      return;
    }
    // Their values stand in the records until another sync adds them.
    this.busy.set(table.name, rows);
    this.rows.delete(table.name);
    this.writers.delete(table.name);
  }

  /** A record with the chosen fields. */
  chosen({ resource }: MirrorTable, record: MirrorRecord): MirrorRecord {
    const fields = this.choices.columns[resource.name];
    return fields === undefined ? record : onlyFields(record, new Set(['id', ...fields]));
  }

  /** Years pass: whose birth year could stay so far may be too old for it now. `now`: UTC milliseconds. */
  async ageOut(now: number): Promise<void> {
    const statements = this.tables.flatMap((table) => {
      const names = [table.name, ...(this.choices.history ? [`${table.name}_history`] : [])];
      return agedOut(table, names, now);
    });
    await this.database.script(statements.join(';'));
  }

  async rowsOf(table: MirrorTable): Promise<TableRows> {
    const known = this.rows.get(table.name);
    if (known !== undefined) return known;
    const isOpen = this.choices.columns[table.resource.name] === undefined;
    const made = new TableRows(this.own(table), await this.learned(table), isOpen, this.instantOf);
    this.rows.set(table.name, made);
    return made;
  }

  /** `hasHistory`: versions are kept; those of a first load are not. */
  async writerOf(table: MirrorTable, hasHistory: boolean): Promise<TableWriter> {
    const known = this.writers.get(table.name);
    if (known?.hasHistory === hasHistory) return known;
    const made = this.database.writer(await this.rowsOf(table), hasHistory, this.changesOf(table));
    this.writers.set(table.name, made);
    return made;
  }

  /** What was written to a table since `changesOf` was last called with `reset`. */
  changesOf({ name }: MirrorTable, reset = false): ChangeCounts {
    const counts = this.changes.get(name) ?? { added: 0, changed: 0, deleted: 0 };
    this.changes.set(name, counts);
    return reset ? Object.assign(counts, { added: 0, changed: 0, deleted: 0 }) : counts;
  }

  /** False when others keep these tables so busy that it has to be done another time. */
  private async addColumns(table: MirrorTable, columns: readonly MirrorColumn[]): Promise<boolean> {
    const { dialect } = this.database;
    const names = [table.name, `${table.name}_deleted`, ...(this.choices.history ? [`${table.name}_history`] : [])];
    const added = names.flatMap((name) =>
      columns.map(
        (column) => `ALTER TABLE ${quoted(name)} ADD COLUMN ${quoted(column.name)} ${sqlType(column, dialect)}`,
      ),
    );
    const { columns: all } = await this.rowsOf(table);
    const view = this.viewOf(table, all.slice(table.columns.length));
    if (!(await this.database.alter([...added, ...dialect.replaceView(view)]))) return false;
    await this.describe(names.flatMap((name) => this.descriptions(name, columns)));
    await this.describe(await this.viewDescriptions(view));
    this.writers.delete(table.name);
    return true;
  }

  /** How the mirror has a table: with the fields that were chosen. */
  private own({ name }: MirrorTable): MirrorTable {
    return this.tables.find((table) => table.name === name) as MirrorTable;
  }

  private isPartial(name: string): boolean {
    const { resource } = this.own({ name } as MirrorTable);
    return this.choices.columns[resource.name] !== undefined;
  }

  /** Columns of unknown fields that earlier runs have made. */
  private async learned(table: MirrorTable): Promise<MirrorColumn[]> {
    const known = new Set([...this.own(table).columns, ...OWN_COLUMNS].map(({ name }) => name));
    const rows = await this.database.rows<Learned>(this.database.dialect.columns('table_name = :table'), {
      table: table.name,
    });
    return rows
      .filter(({ column_name }) => !known.has(column_name))
      .map((row) => {
        const { column_name: name, field, about } = row;
        return { name, type: learnedType(row, this.database.dialect), path: [field], field, about };
      });
  }

  /** The view of a table; columns of unknown fields are at its end. */
  private viewOf(table: MirrorTable, learned: readonly MirrorColumn[] = []): View {
    return tableView(table, [...table.columns, ...OWN_COLUMNS, ...learned], this.database.dialect);
  }

  private async viewDescriptions({ name, about }: View): Promise<Described[]> {
    const { database } = this;
    const columns = await database.rows<{ name: string; type: string }>(database.dialect.tableColumns, { name });
    return columns.map((column) => [name, column.name, column.type, null, null, about]);
  }

  private tableDescriptions(table: MirrorTable): Described[] {
    return [
      ...this.descriptions(table.name, [...table.columns, ...OWN_COLUMNS]),
      ...this.descriptions(`${table.name}_deleted`, [...table.columns, ...OWN_COLUMNS, DELETED_AT]),
      ...table.children.flatMap((child) => this.childDescriptions(child, table)),
    ];
  }

  private childDescriptions({ name, parentKey, columns, about }: ChildTable, parent: MirrorTable): Described[] {
    const key = { name: parentKey, type: 'integer' as const, path: [], field: 'id', about, references: parent.name };
    return this.descriptions(name, [key, ORDINAL, ...columns]);
  }

  private descriptions(table: string, columns: readonly MirrorColumn[]): Described[] {
    return columns.map((column) => {
      const { name, type, field, about, references } = column;
      const leads = references === undefined ? '' : `; references ${references}.id`;
      return [table, name, sqlType(column, this.database.dialect), unitOf(type), field, about + leads];
    });
  }

  private async describe(rows: readonly Described[]): Promise<void> {
    await this.database.insert('_columns', DESCRIPTION, rows, { key: ['table_name', 'column_name'] });
  }
}
