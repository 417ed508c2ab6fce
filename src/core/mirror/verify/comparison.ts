import { isDeepStrictEqual } from 'node:util';
import type { Statement } from 'better-sqlite3';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import type { Connection } from '../../../sqlite/open.ts';
import { jsonOf } from '../../jsontext.ts';
import { quoted } from '../names.ts';
import { type MirrorRecord, recordOf } from '../records.ts';
import type { TableRows } from '../rows.ts';
import { sqlType } from '../sqlite/schema.ts';
import type { TableSet } from '../sqlite/tableset.ts';
import { type ChildTable, type MirrorColumn, type MirrorTable, RECORD } from '../tables.ts';
import type { StoredValue } from '../values.ts';
import { Statements } from './statements.ts';

/** Records by whether a table is without their row, or has one that they would not make. Ids are those of SQLite. */
export interface Compared {
  readonly missing: readonly bigint[];
  readonly different: readonly bigint[];
}

/**
 * Compares the rows of one resource, and those of its lists, with what records make of them. The rows that are expected go
 * into temporary tables with the same columns, so that SQLite compares values which it stored itself.
 */
export class TableComparison {
  private rows: TableRows;
  private readonly statements: Statements;
  private columnCount = 0;
  private insert!: Statement<StoredValue[]>;
  private insertEntry: Statement<StoredValue[]>[] = [];

  constructor(
    private readonly connection: Connection,
    private readonly tables: TableSet,
    private readonly table: MirrorTable,
  ) {
    this.rows = tables.rowsOf(table);
    this.statements = new Statements(connection);
    this.prepare();
  }

  /** Compares records with the rows of their ids; of records with the same id the last one counts. */
  compare(records: readonly MirrorRecord[]): Compared {
    this.tables.learn(this.table, records);
    return this.compareRows(records);
  }

  private compareRows(records: readonly MirrorRecord[]): Compared {
    this.expect(records);
    const ids = (query: string) => this.statements.prepare<[], bigint>(query).pluck().safeIntegers().all();
    const own = quoted(this.table.name);
    const missing = ids(
      `SELECT e.id FROM ${this.expected} AS e WHERE NOT EXISTS (SELECT 1 FROM ${own} AS t WHERE t.id = e.id)`,
    );
    const columns = this.rows.columns.map((column) => this.isOther(column));
    const different = new Set(ids(`${this.joined('e.id')} WHERE ${columns.join(' OR ')}`));
    for (const child of this.children) for (const id of ids(this.otherLists(child))) different.add(id);
    if (!this.rows.table.isDeidentified) for (const id of this.otherRaw(records)) different.add(id);
    for (const id of missing) different.delete(id);
    return { missing, different: [...different] };
  }

  /** The wire names of the fields in which a row is not what a record makes; `_record` where only that is not. */
  fieldsOf(record: MirrorRecord): string[] {
    this.expect([record]);
    const fields = new Set<string>();
    for (const column of this.rows.columns) {
      const isOther = this.statements.prepare(`${this.joined('1')} WHERE ${this.isOther(column)}`).get() !== undefined;
      if (isOther) fields.add(column.path[0] ?? '');
    }
    for (const child of this.children)
      if (this.statements.prepare(this.otherLists(child)).get() !== undefined) fields.add(child.field);
    return fields.size === 0 ? [RECORD] : [...fields];
  }

  /** Those of these rows that are not what their own raw record makes of them: nobody who syncs writes such rows. */
  damaged(ids: readonly bigint[]): bigint[] {
    // Nothing but the service can tell what a row should be.
    if (this.rows.table.isDeidentified) return [];
    const select = this.statements
      .prepare<[bigint], string>(`SELECT ${RECORD} FROM ${quoted(this.table.name)} WHERE id = ?`)
      .pluck();
    const found = new Set<bigint>();
    const own: MirrorRecord[] = [];
    for (const id of ids) {
      const record = rawRecord(select.get(id) ?? '');
      if (record === undefined || String(record.id) !== String(id)) found.add(id);
      else own.push(record);
    }
    for (const id of this.compareRows(own).different) found.add(id);
    return [...found];
  }

  private get expected(): string {
    return expectedName(this.table.name);
  }

  private get children(): readonly ChildTable[] {
    return this.rows.table.children;
  }

  /** Makes the temporary tables anew for the columns that there are now. */
  private prepare(): void {
    const { connection, rows } = this;
    const make = (name: string, definition: string) =>
      connection.exec(`DROP TABLE IF EXISTS ${name}; CREATE TABLE ${name} (${definition})`);
    const inserting = (name: string, count: number) =>
      connection.prepare<StoredValue[]>(
        `INSERT INTO ${name} VALUES (${Array.from({ length: count }, () => '?').join(', ')})`,
      );
    make(this.expected, definitions(rows.columns));
    this.insert = inserting(this.expected, rows.columns.length);
    this.insertEntry = this.children.map(({ name, columns }) => {
      make(expectedName(name), ['parent INTEGER', 'ordinal INTEGER', definitions(columns, false)].join(', '));
      return inserting(expectedName(name), columns.length + 2);
    });
    this.columnCount = rows.columns.length;
  }

  /** Writes the rows that records make into the temporary tables. */
  private expect(records: readonly MirrorRecord[]): void {
    const { connection, tables, table } = this;
    this.rows = tables.rowsOf(table);
    if (this.rows.columns.length !== this.columnCount) this.prepare();
    for (const name of [this.expected, ...this.children.map((child) => expectedName(child.name))])
      connection.exec(`DELETE FROM ${name}`);
    const byId = new Map(records.map((record) => [String(record.id), record]));
    for (const record of byId.values()) {
      const { id, values, children } = this.rows.rowsOf(record);
      this.insert.run(...values);
      for (const [index, entries] of children.entries())
        for (const [at, entry] of entries.entries()) this.insertEntry[index]?.run(id, at + 1, ...entry);
    }
  }

  /** Ids of records whose raw record is here, but would make other rows. */
  private otherRaw(records: readonly MirrorRecord[]): bigint[] {
    const select = this.statements
      .prepare<[], [bigint, string]>(this.joined(`e.id, t.${RECORD}`))
      .raw()
      .safeIntegers();
    const here = new Map(select.all().map(([id, text]) => [String(id), text]));
    return records
      .filter((record) => {
        const text = here.get(String(record.id));
        return text !== undefined && text !== record.text && !this.isSame(text, record);
      })
      .map(({ id }) => BigInt(String(id)));
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
    const isOther = `t.${name} IS NOT e.${name}`;
    if (this.rows.columns.indexOf(column) < this.rows.table.columns.length) return isOther;
    // A field that the catalog does not know is null in rows that were read before the service had it (D52).
    const path = `'$."${(column.path[0] ?? '').replaceAll("'", "''").replaceAll('"', '')}"'`;
    const isUnread = `t.${name} IS NULL AND iif(json_valid(t.${RECORD}), json_type(t.${RECORD}, ${path}), '') IS NULL`;
    return `(${isOther} AND NOT (${isUnread}))`;
  }

  /** Ids of expected records whose list is another one than the table of its entries has. */
  private otherLists({ name, parentKey, columns }: ChildTable): string {
    const names = ['ordinal', ...columns.map((column) => quoted(column.name))].join(', ');
    const key = quoted(parentKey);
    const wanted = `SELECT parent, ${names} FROM ${expectedName(name)}`;
    const there = `SELECT ${key} AS parent, ${names} FROM ${quoted(name)} WHERE ${key} IN (SELECT id FROM ${this.expected})`;
    const without = (all: string, others: string) => `SELECT parent FROM (${all} EXCEPT ${others})`;
    return `${without(wanted, there)} UNION ${without(there, wanted)}`;
  }

  private joined(what: string): string {
    // Such a join is in this order: the few rows that are expected, and those of their ids.
    return `SELECT ${what} FROM ${this.expected} AS e CROSS JOIN ${quoted(this.table.name)} AS t ON t.id = e.id`;
  }
}

/** The temporary table with what is expected of a table. */
function expectedName(table: string): string {
  return `temp.${quoted(`_expected_${table}`)}`;
}

function definitions(columns: readonly MirrorColumn[], hasKey = true): string {
  return columns
    .map((column) => `${quoted(column.name)} ${sqlType(column)}${hasKey && column.name === 'id' ? ' PRIMARY KEY' : ''}`)
    .join(', ');
}

/** The record in a text, undefined where it is none. */
function rawRecord(text: string): MirrorRecord | undefined {
  return isPlainObject(jsonOf(text)) ? recordOf(text) : undefined;
}
