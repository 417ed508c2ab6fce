import type { Statement } from 'better-sqlite3';
import type { Connection } from '../../../sqlite/open.ts';
import { quoted } from '../names.ts';
import { rebuiltRecord } from '../rebuilding.ts';
import type { ChildTable, MirrorColumn, MirrorTable } from '../tables.ts';
import type { StoredValue } from '../values.ts';

/** Rows that are read at a time. */
const PAGE = 500;

type Values = readonly (bigint | number | string | null)[];

/** Makes the records again that the rows of a table are of, where `_record` does not have them. */
export class RecordRebuilder {
  private readonly row: Statement<[StoredValue], Values>;
  private readonly page: Statement<[bigint], Values>;
  private readonly children: readonly Statement<[StoredValue, StoredValue], Values>[];

  /** `table`: as the file has it. */
  constructor(
    connection: Connection,
    private readonly table: MirrorTable,
  ) {
    const rows = <P extends unknown[]>(text: string) => connection.prepare<P, Values>(text).raw().safeIntegers();
    const all = `SELECT ${namesOf(table.columns)} FROM ${quoted(table.name)}`;
    this.row = rows(`${all} WHERE id = ?`);
    this.page = rows(`${all} WHERE id > ? ORDER BY id LIMIT ${PAGE}`);
    this.children = table.children.map(({ name, parentKey, columns }: ChildTable) => {
      const key = quoted(parentKey);
      return rows(
        `SELECT ${key}, ${namesOf(columns)} FROM ${quoted(name)} WHERE ${key} BETWEEN ? AND ? ORDER BY ${key}, ordinal`,
      );
    });
  }

  /** The record with an id, JSON; undefined where there is no row. */
  record(id: StoredValue): string | undefined {
    return this.records(this.row.all(id))[0];
  }

  /** All records by id, JSON, some at a time. */
  *pages(): Generator<readonly string[]> {
    for (let after = 0n; ; ) {
      const rows = this.page.all(after);
      const last = rows.at(-1);
      if (last === undefined) return;
      yield this.records(rows);
      after = last[0] as bigint;
    }
  }

  private records(rows: readonly Values[]): string[] {
    const [first, last] = [rows[0]?.[0], rows.at(-1)?.[0]];
    if (first === undefined || last === undefined) return [];
    const lists = this.children.map((statement) => {
      const entries = new Map<string, Values[]>();
      for (const [id, ...values] of statement.all(first, last)) {
        const known = entries.get(String(id)) ?? [];
        entries.set(String(id), known);
        known.push(values);
      }
      return entries;
    });
    return rows.map((values) => {
      const children = lists.map((entries) => entries.get(String(values[0])) ?? []);
      return rebuiltRecord(this.table, { values, children });
    });
  }
}

function namesOf(columns: readonly MirrorColumn[]): string {
  return columns.map(({ name }) => quoted(name)).join(', ');
}
