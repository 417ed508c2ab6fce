import { quoted } from '../names.ts';
import { rebuiltRecord } from '../rebuilding.ts';
import type { MirrorColumn, MirrorTable } from '../tables.ts';
import type { StoredValue } from '../values.ts';
import type { Bound, MirrorDatabase } from './database.ts';

/** Rows that are read at a time. */
const PAGE = 500;

type Values = readonly StoredValue[];

/** Makes the records again that the rows of a table are of, where `_record` does not have them. */
export class RecordRebuilder {
  /** `table`: as the database has it. */
  constructor(
    private readonly database: Pick<MirrorDatabase, 'dialect' | 'exactRows'>,
    private readonly table: MirrorTable,
  ) {}

  /** Records by their ids, JSON. */
  async recordsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { isAmong, list } = this.database.dialect;
    const rows = await this.rows(isAmong('t.id', ':ids'), { ids: list(ids) });
    const records = await this.records(rows);
    return new Map(rows.map(([id], index) => [String(id), records[index] as string]));
  }

  /** All records by id, JSON, some at a time. */
  async *pages(): AsyncGenerator<readonly string[]> {
    for (let after = '0'; ; ) {
      const rows = await this.rows(`t.id > CAST(:after AS BIGINT) ORDER BY t.id LIMIT ${PAGE}`, { after });
      const last = rows.at(-1);
      if (last === undefined) return;
      yield await this.records(rows);
      after = String(last[0]);
    }
  }

  private rows(where: string, bound: Bound): Promise<readonly Values[]> {
    const { name, columns } = this.table;
    return this.database.exactRows(`SELECT ${namesOf(columns)} FROM ${quoted(name)} AS t WHERE ${where}`, bound);
  }

  private async records(rows: readonly Values[]): Promise<string[]> {
    const { isAmong, list } = this.database.dialect;
    const ids = list(rows.map(([id]) => String(id)));
    const lists: Map<string, Values[]>[] = [];
    for (const { name, parentKey, columns } of this.table.children) {
      const key = quoted(parentKey);
      const all = await this.database.exactRows(
        `SELECT ${key}, ${namesOf(columns)} FROM ${quoted(name)} AS t WHERE ${isAmong(`t.${key}`, ':ids')} ORDER BY ${key}, ordinal`,
        { ids },
      );
      const entries = new Map<string, Values[]>();
      for (const [id, ...values] of all) {
        const known = entries.get(String(id)) ?? [];
        entries.set(String(id), known);
        known.push(values);
      }
      lists.push(entries);
    }
    return rows.map((values) => {
      const children = lists.map((entries) => entries.get(String(values[0])) ?? []);
      return rebuiltRecord(this.table, { values, children });
    });
  }
}

function namesOf(columns: readonly MirrorColumn[]): string {
  return columns.map(({ name }) => quoted(name)).join(', ');
}
