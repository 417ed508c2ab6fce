import { isDeepStrictEqual } from 'node:util';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { jsonOf } from '../../jsontext.ts';
import { quoted } from '../names.ts';
import { type MirrorRecord, recordOf } from '../records.ts';
import type { TableRows } from '../rows.ts';
import type { MirrorDatabase } from '../sql/database.ts';
import { sqlType } from '../sql/schema.ts';
import type { TableSet } from '../sql/tableset.ts';
import { type ChildTable, type MirrorColumn, type MirrorTable, RECORD } from '../tables.ts';
import type { StoredValue } from '../values.ts';

/** Ids of records by whether a table is without their row, or has one that they would not make. */
export interface Compared {
  readonly missing: readonly string[];
  readonly different: readonly string[];
}

/**
 * Compares the rows of one resource, and those of its lists, with what records make of them. The rows that are expected go
 * into temporary tables with the same columns, so that the database compares values which it stored itself.
 */
export class TableComparison {
  private columnCount = 0;

  private constructor(
    private readonly database: MirrorDatabase,
    private readonly tables: TableSet,
    private readonly table: MirrorTable,
    private rows: TableRows,
  ) {}

  static async open(database: MirrorDatabase, tables: TableSet, table: MirrorTable): Promise<TableComparison> {
    const comparison = new TableComparison(database, tables, table, await tables.rowsOf(table));
    await comparison.prepare();
    return comparison;
  }

  /** Compares records with the rows of their ids; of records with the same id the last one counts. */
  async compare(records: readonly MirrorRecord[]): Promise<Compared> {
    await this.tables.learn(this.table, records);
    return this.compareRows(records);
  }

  private async compareRows(records: readonly MirrorRecord[]): Promise<Compared> {
    await this.expect(records);
    const own = quoted(this.table.name);
    const missing = await this.ids(
      `SELECT CAST(e.id AS TEXT) AS id FROM ${this.expected} AS e WHERE NOT EXISTS (SELECT 1 FROM ${own} AS t WHERE t.id = e.id)`,
    );
    const columns = this.rows.columns.map((column) => this.isOther(column));
    const different = new Set(
      await this.ids(`${this.joined('CAST(e.id AS TEXT) AS id')} WHERE ${columns.join(' OR ')}`),
    );
    for (const child of this.children) for (const id of await this.ids(this.otherLists(child))) different.add(id);
    if (!this.rows.table.isDeidentified) for (const id of await this.otherRaw(records)) different.add(id);
    for (const id of missing) different.delete(id);
    return { missing, different: [...different] };
  }

  /** The wire names of the fields in which a row is not what a record makes; `_record` where only that is not. */
  async fieldsOf(record: MirrorRecord): Promise<string[]> {
    await this.expect([record]);
    const { columns } = this.rows;
    const conditions = columns.map((column, index) => `${this.isOther(column)} AS c${index}`);
    const [row = {}] = await this.database.rows(this.joined(conditions.join(', ')));
    const fields = new Set(columns.filter((_, index) => Boolean(row[`c${index}`])).map(({ path }) => path[0] ?? ''));
    for (const child of this.children) if ((await this.ids(this.otherLists(child))).length > 0) fields.add(child.field);
    return fields.size === 0 ? [RECORD] : [...fields];
  }

  /** Those of these rows that are not what their own raw record makes of them: nobody who syncs writes such rows. */
  async damaged(ids: readonly string[]): Promise<string[]> {
    // Nothing but the service can tell what a row should be.
    if (this.rows.table.isDeidentified) return [];
    const { isAmong, list } = this.database.dialect;
    const rows = await this.database.rows<RawRow>(
      `SELECT CAST(id AS TEXT) AS id, CAST(${RECORD} AS TEXT) AS text FROM ${quoted(this.table.name)} AS t WHERE ${isAmong('t.id', ':ids')}`,
      { ids: list(ids) },
    );
    const texts = new Map(rows.map(({ id, text }) => [id, text]));
    const found = new Set<string>();
    const own: MirrorRecord[] = [];
    for (const id of ids) {
      const record = rawRecord(texts.get(id) ?? '');
      if (record === undefined || String(record.id) !== id) found.add(id);
      else own.push(record);
    }
    for (const id of (await this.compareRows(own)).different) found.add(id);
    return [...found];
  }

  private get expected(): string {
    return expectedName(this.table.name);
  }

  private get children(): readonly ChildTable[] {
    return this.rows.table.children;
  }

  /** Makes the temporary tables anew for the columns that there are now. */
  private async prepare(): Promise<void> {
    const { dialect } = this.database;
    const { columns } = this.rows;
    const definitions = (all: readonly Written[]) =>
      all
        .map(
          (column) => `${quoted(column.name)} ${sqlType(column, dialect)}${column.name === 'id' ? ' PRIMARY KEY' : ''}`,
        )
        .join(', ');
    const make = (name: string, all: readonly Written[]) =>
      this.database.script(
        `CREATE TEMP TABLE IF NOT EXISTS ${name} (id ${dialect.types.integer}); DROP TABLE ${name};
        CREATE TEMP TABLE ${name} (${definitions(all)})`,
      );
    await make(this.expected, [...columns, RAW]);
    for (const child of this.children) await make(expectedName(child.name), [...ENTRY, ...child.columns]);
    this.columnCount = columns.length;
  }

  /** Writes the rows that records make into the temporary tables. */
  private async expect(records: readonly MirrorRecord[]): Promise<void> {
    const { database, tables, table } = this;
    this.rows = await tables.rowsOf(table);
    if (this.rows.columns.length !== this.columnCount) await this.prepare();
    const names = [this.expected, ...this.children.map((child) => expectedName(child.name))];
    await database.script(names.map((name) => `DELETE FROM ${name}`).join(';'));
    const byId = new Map(records.map((record) => [String(record.id), record]));
    const own: StoredValue[][] = [];
    const lists: StoredValue[][][] = this.children.map(() => []);
    for (const record of byId.values()) {
      const { id, values, children } = this.rows.rowsOf(record);
      own.push([...values, this.rows.recordText(record)]);
      for (const [index, entries] of children.entries())
        for (const [at, entry] of entries.entries()) lists[index]?.push([id, at + 1, ...entry]);
    }
    await database.insert(this.expected, [...this.rows.columns, RAW], own);
    for (const [index, child] of this.children.entries())
      await database.insert(expectedName(child.name), [...ENTRY, ...child.columns], lists[index] ?? []);
  }

  /** Ids of records whose raw record is here, but would make other rows. */
  private async otherRaw(records: readonly MirrorRecord[]): Promise<string[]> {
    const what = `CAST(e.id AS TEXT) AS id, CAST(t.${RECORD} AS TEXT) AS text`;
    const rows = await this.database.rows<RawRow>(
      `${this.joined(what)} WHERE t.${RECORD} IS DISTINCT FROM e.${RECORD}`,
    );
    const byId = new Map(records.map((record) => [String(record.id), record]));
    return rows.filter(({ id, text }) => !this.isSame(text, byId.get(id) as MirrorRecord)).map(({ id }) => id);
  }

  private isSame(text: string, record: MirrorRecord): boolean {
    const own = rawRecord(text);
    if (own === undefined || String(own.id) !== String(record.id)) return false;
    const [here, there] = [this.rows.rowsOf(own), this.rows.rowsOf(record)];
    const { columns, table } = this.rows;
    const isUnread = (index: number) =>
      index >= table.columns.length && !Object.hasOwn(own.values, columns[index]?.path[0] ?? '');
    return (
      here.values.every((value, index) => value === there.values[index] || isUnread(index)) &&
      isDeepStrictEqual(here.children, there.children)
    );
  }

  /** The condition that a column of the row `t` is another one than the expected `e` says. */
  private isOther(column: MirrorColumn): string {
    const name = quoted(column.name);
    const isOther = `t.${name} IS DISTINCT FROM e.${name}`;
    if (this.rows.columns.indexOf(column) < this.rows.table.columns.length) return isOther;
    // A field that the catalog does not know is null in rows that were read before the service had it (D52).
    const isUnread = `t.${name} IS NULL AND ${this.database.dialect.lacksMember(`t.${RECORD}`, column.path[0] ?? '')}`;
    return `(${isOther} AND NOT (${isUnread}))`;
  }

  /** Ids of expected records whose list is another one than the table of its entries has. */
  private otherLists({ name, parentKey, columns }: ChildTable): string {
    const names = ['ordinal', ...columns.map((column) => quoted(column.name))].join(', ');
    const key = quoted(parentKey);
    const wanted = `SELECT parent, ${names} FROM ${expectedName(name)}`;
    const there = `SELECT ${key} AS parent, ${names} FROM ${quoted(name)} WHERE ${key} IN (SELECT id FROM ${this.expected})`;
    const without = (all: string, others: string) => `SELECT parent FROM (${all} EXCEPT ${others}) AS other`;
    return `SELECT CAST(d.parent AS TEXT) AS id FROM (${without(wanted, there)} UNION ${without(there, wanted)}) AS d`;
  }

  private joined(what: string): string {
    // Such a join is in this order: the few rows that are expected, and those of their ids.
    return `SELECT ${what} FROM ${this.expected} AS e ${this.database.dialect.orderedJoin} ${quoted(this.table.name)} AS t ON t.id = e.id`;
  }

  private async ids(query: string): Promise<string[]> {
    return (await this.database.rows<{ id: string }>(query)).map(({ id }) => id);
  }
}

interface RawRow {
  readonly id: string;
  readonly text: string;
}

type Written = Pick<MirrorColumn, 'name' | 'type'>;

const RAW: Written = { name: RECORD, type: 'json' };
const ENTRY: readonly Written[] = [
  { name: 'parent', type: 'integer' },
  { name: 'ordinal', type: 'integer' },
];

/** The temporary table with what is expected of a table. */
function expectedName(table: string): string {
  return quoted(`_expected_${table}`);
}

/** The record in a text, undefined where it is none. */
function rawRecord(text: string): MirrorRecord | undefined {
  return isPlainObject(jsonOf(text)) ? recordOf(text) : undefined;
}
