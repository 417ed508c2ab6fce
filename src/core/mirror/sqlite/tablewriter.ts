import { isDeepStrictEqual } from 'node:util';
import type { Statement } from 'better-sqlite3';
import type { Connection } from '../../../sqlite/open.ts';
import { jsonOf } from '../../jsontext.ts';
import { quoted } from '../names.ts';
import { type MirrorRecord, recordOf } from '../records.ts';
import type { RecordRows, TableRows } from '../rows.ts';
import { RECORD, SYNCED_AT } from '../tables.ts';
import type { StoredValue } from '../values.ts';
import { RecordRebuilder } from './recordrebuilder.ts';

/** Columns of our own behind those of the service. */
const OWN = [SYNCED_AT, RECORD];

/** Rows that were written. */
export interface ChangeCounts {
  added: number;
  changed: number;
  deleted: number;
}

/** Writes rows of one table, its child tables, its tombstones and its history; to be used within a transaction. */
export class TableWriter {
  private readonly known: Statement<[StoredValue], { record: string }> | RecordRebuilder;
  private readonly insert: Statement<StoredValue[]>;
  private readonly replace: Statement<StoredValue[]>;
  private readonly insertChild: readonly Statement<StoredValue[]>[];
  private readonly removeChild: readonly Statement<[StoredValue]>[];
  private readonly forget: Statement<[StoredValue]>;
  private readonly bury: Statement<[string, StoredValue]>;
  private readonly unbury: Statement<[StoredValue]>;
  private readonly endVersion: Statement<[string, StoredValue]> | undefined;
  private readonly addVersion: Statement<[string, string | null, string, StoredValue]> | undefined;

  /** `rows`: makes the rows; its columns must be those of the tables. */
  constructor(
    connection: Connection,
    private readonly rows: TableRows,
    readonly hasHistory: boolean,
    /** Counts what `put` and `remove` do. */
    private readonly changes: ChangeCounts,
  ) {
    const { table, columns } = rows;
    const name = quoted(table.name);
    const names = [...columns.map((column) => quoted(column.name)), ...OWN].join(', ');
    const places = Array.from({ length: columns.length + OWN.length }, () => '?').join(', ');
    const prepare = <P extends unknown[] | object, R = unknown>(text: string) => connection.prepare<P, R>(text);
    this.known = table.isDeidentified
      ? new RecordRebuilder(connection, table)
      : prepare(`SELECT ${RECORD} AS record FROM ${name} WHERE id = ?`);
    this.insert = prepare(`INSERT OR IGNORE INTO ${name} (${names}) VALUES (${places})`);
    this.replace = prepare(`INSERT OR REPLACE INTO ${name} (${names}) VALUES (${places})`);
    this.insertChild = table.children.map((child) => {
      const own = [quoted(child.parentKey), 'ordinal', ...child.columns.map((column) => quoted(column.name))];
      return prepare(`INSERT INTO ${quoted(child.name)} (${own.join(', ')}) VALUES (${own.map(() => '?').join(', ')})`);
    });
    this.removeChild = table.children.map((child) =>
      prepare(`DELETE FROM ${quoted(child.name)} WHERE ${quoted(child.parentKey)} = ?`),
    );
    this.forget = prepare(`DELETE FROM ${name} WHERE id = ?`);
    const deleted = quoted(`${table.name}_deleted`);
    // Of a deleted record a de-identified copy keeps that it is gone.
    const last = table.isDeidentified ? `id, ${SYNCED_AT}` : names;
    this.bury = prepare(
      `INSERT OR REPLACE INTO ${deleted} (${last}, _deleted_at) SELECT ${last}, ? FROM ${name} WHERE id = ?`,
    );
    this.unbury = prepare(`DELETE FROM ${deleted} WHERE id = ?`);
    if (!hasHistory) return;
    const history = quoted(`${table.name}_history`);
    this.endVersion = prepare(`UPDATE ${history} SET _valid_to = ? WHERE id = ? AND _valid_to IS NULL`);
    this.addVersion = prepare(
      `INSERT INTO ${history} (${names}, _valid_from, _valid_to, _operation) SELECT ${names}, ?, ?, ? FROM ${name} WHERE id = ?`,
    );
  }

  /** Writes a record of a first load; one that is there already is replaced. */
  load(record: MirrorRecord, at: string): void {
    const rows = this.rows.rowsOf(record);
    const values = [...rows.values, at, this.rows.recordText(record)];
    if (this.insert.run(...values).changes === 0) {
      this.replace.run(...values);
      for (const statement of this.removeChild) statement.run(rows.id);
    }
    this.writeChildren(rows);
  }

  /** The record as it is here; undefined where it is not. */
  textOf(id: StoredValue): string | undefined {
    return this.known instanceof RecordRebuilder ? this.known.record(id) : this.known.get(id)?.record;
  }

  /** Makes the rows of a record what it says; `since`: from when it is so. Nothing is written that is so already. */
  put(record: MirrorRecord, at: string, since: string): void {
    const rows = this.rows.rowsOf(record);
    const before = this.textOf(rows.id);
    if (before === record.text) return;
    if (before !== undefined && this.isSame(before, record, rows)) return;
    this.write(record, rows, before !== undefined, at, since);
  }

  /** As `put`, whatever the rows are. */
  rewrite(record: MirrorRecord, at: string): void {
    const rows = this.rows.rowsOf(record);
    this.write(record, rows, this.textOf(rows.id) !== undefined, at, at);
  }

  /** Whether a record is what it was: the same fields in another order are no change. */
  private isSame(before: string, record: MirrorRecord, rows: RecordRows): boolean {
    if (jsonOf(before) === undefined) return false;
    const known = recordOf(before);
    if (this.rows.table.isDeidentified) return isDeepStrictEqual(this.rows.rowsOf(known), rows);
    return isDeepStrictEqual(known.values, record.values);
  }

  private write(record: MirrorRecord, rows: RecordRows, isThere: boolean, at: string, since: string): void {
    this.replace.run(...rows.values, at, this.rows.recordText(record));
    if (!isThere) this.unbury.run(rows.id);
    // Entries without their record may be there when others have written to the file.
    for (const statement of this.removeChild) statement.run(rows.id);
    this.writeChildren(rows);
    this.endVersion?.run(since, rows.id);
    this.addVersion?.run(since, null, isThere ? 'UPDATE' : 'CREATE', rows.id);
    if (!isThere) this.changes.added++;
    else this.changes.changed++;
  }

  /** Makes a row a tombstone, if it is there. */
  remove(id: StoredValue, deletedAt: string): void {
    if (this.bury.run(deletedAt, id).changes === 0) return;
    this.endVersion?.run(deletedAt, id);
    this.addVersion?.run(deletedAt, deletedAt, 'DELETE', id);
    for (const statement of this.removeChild) statement.run(id);
    this.forget.run(id);
    this.changes.deleted++;
  }

  private writeChildren({ id, children }: RecordRows): void {
    for (let index = 0; index < children.length; index++) {
      const entries = children[index] as RecordRows['children'][number];
      if (entries.length === 0) continue;
      const statement = this.insertChild[index] as Statement<StoredValue[]>;
      for (let at = 0; at < entries.length; at++) statement.run(id, at + 1, ...(entries[at] as readonly StoredValue[]));
    }
  }
}
