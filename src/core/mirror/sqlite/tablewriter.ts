import type { Statement } from 'better-sqlite3';
import type { Connection } from '../../../sqlite/open.ts';
import { quoted } from '../names.ts';
import type { MirrorRecord } from '../records.ts';
import type { RecordRows, TableRows } from '../rows.ts';
import type { ChangeCounts, Deletion, TableWriter, Version, WriterParts } from '../sql/database.ts';
import { RECORD, SYNCED_AT } from '../tables.ts';
import type { StoredValue } from '../values.ts';

/** Columns of our own behind those of the service. */
const OWN = [SYNCED_AT, RECORD];

/** Writes rows of one table in SQLite, one after another. */
export class SqliteWriter implements TableWriter {
  private readonly known: Statement<[StoredValue], { record: string }>;
  private readonly insert: Statement<StoredValue[]>;
  private readonly replace: Statement<StoredValue[]>;
  private readonly insertChild: readonly Statement<StoredValue[]>[];
  private readonly removeChild: readonly Statement<[StoredValue]>[];
  private readonly forget: Statement<[StoredValue]>;
  private readonly bury: Statement<[string, StoredValue]>;
  private readonly unbury: Statement<[StoredValue]>;
  private readonly endVersion: Statement<[string, StoredValue]> | undefined;
  private readonly addVersion: Statement<[string, string | null, string, StoredValue]> | undefined;

  private readonly rows: TableRows;
  readonly hasHistory: boolean;
  private readonly changes: ChangeCounts;
  private readonly rebuilder: WriterParts['rebuilder'];

  constructor(connection: Connection, { rows, hasHistory, changes, rebuilder }: WriterParts) {
    this.rows = rows;
    this.hasHistory = hasHistory;
    this.changes = changes;
    this.rebuilder = rebuilder;
    const { table, columns } = rows;
    const name = quoted(table.name);
    const names = [...columns.map((column) => quoted(column.name)), ...OWN].join(', ');
    const places = Array.from({ length: columns.length + OWN.length }, () => '?').join(', ');
    const prepare = <P extends unknown[] | object, R = unknown>(text: string) => connection.prepare<P, R>(text);
    this.known = prepare(`SELECT ${RECORD} AS record FROM ${name} WHERE id = ?`);
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

  async load(records: readonly MirrorRecord[], at: string): Promise<void> {
    for (const record of records) {
      const rows = this.rows.rowsOf(record);
      const values = [...rows.values, at, this.rows.recordText(record)];
      if (this.insert.run(...values).changes === 0) {
        this.replace.run(...values);
        for (const statement of this.removeChild) statement.run(rows.id);
      }
      this.writeChildren(rows);
    }
  }

  async textsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (this.rebuilder !== undefined) return this.rebuilder.recordsOf(ids);
    const found = new Map<string, string>();
    for (const id of ids) {
      const text = this.known.get(BigInt(id))?.record;
      if (text !== undefined) found.set(id, text);
    }
    return found;
  }

  async put(versions: readonly Version[], at: string): Promise<void> {
    const known = await this.textsOf(versions.map(({ record }) => String(record.id)));
    for (const { record, since } of versions) {
      const before = known.get(String(record.id));
      if (before === record.text || (before !== undefined && this.rows.isSame(before, record))) continue;
      this.write(record, this.rows.rowsOf(record), before !== undefined, at, since);
    }
  }

  async rewrite(records: readonly MirrorRecord[], at: string): Promise<void> {
    for (const record of records) {
      const rows = this.rows.rowsOf(record);
      this.write(record, rows, this.known.get(rows.id) !== undefined, at, at);
    }
  }

  async remove(deletions: readonly Deletion[]): Promise<void> {
    for (const { id, at } of deletions) this.removeOne(BigInt(id), at);
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

  private removeOne(id: StoredValue, deletedAt: string): void {
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
