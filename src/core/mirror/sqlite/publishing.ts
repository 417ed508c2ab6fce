import type { Connection } from '../../../sqlite/open.ts';
import { quoted } from '../names.ts';
import { changedRecord, type MirrorRecord, recordOf } from '../records.ts';
import type { Finding, PublishedTable, ReceivedChange, ResourceState, RowChanges } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import { storedValue } from '../values.ts';
import type { TableSet } from './tableset.ts';
import type { TableWriter } from './tablewriter.ts';

/** Rows that are read at a time while others are written. */
const BATCH = 1000;

/** A row of `_received`. */
interface ReceivedRow extends Pick<ReceivedChange, 'operation' | 'at' | 'payload'> {
  readonly number: bigint;
  readonly id: bigint;
}

/** Makes visible what was staged and received; to be used within a transaction. */
export class Publisher {
  constructor(
    private readonly connection: Connection,
    private readonly tables: TableSet,
    private readonly hasHistory: boolean,
    /** UTC. */
    private readonly at: string,
  ) {}

  /** How many rows changed, and what is known of the table from now on; `before`: until now. */
  publish(
    table: MirrorTable,
    { state, found, border }: PublishedTable,
    before: ResourceState,
  ): RowChanges & { readonly state: Partial<ResourceState> } {
    const { tables, at } = this;
    const { complete } = before;
    const changes = tables.changesOf(table, true);
    // The first versions of a table that was loaded are made at its end.
    const writerOf = () => tables.writerOf(table, this.hasHistory && complete);
    this.applyReceived(table, writerOf, 0, border);
    this.applyStaged(table, writerOf);
    if (found !== null) for (const id of this.missingIds(table, found)) writerOf().remove(id, at);
    this.applyReceived(table, writerOf, border, Number.MAX_SAFE_INTEGER);
    if (!complete) tables.createIndexes(table);
    if (!complete && this.hasHistory) tables.beginHistory(table, at);
    // After a sweep all rows are counted: others may have written to the file too.
    const isKnown = complete && found === null;
    const rows = isKnown ? before.rows + changes.added - changes.deleted : this.count(table.name);
    const deletedRows = changes.deleted + changes.added > 0 ? this.count(`${table.name}_deleted`) : before.deletedRows;
    const known = { ...state, complete: true, rows, deletedRows, unavailable: null, progress: null };
    return { ...(complete ? changes : { added: rows, changed: 0, deleted: 0 }), state: known };
  }

  private applyReceived(table: MirrorTable, writerOf: () => TableWriter, start: number, to: number): void {
    const { name } = table.resource;
    const select = this.connection
      .prepare<[object], ReceivedRow>(
        `SELECT number, id, operation, at, payload FROM _received
        WHERE resource = :name AND number >= :from AND number < :to ORDER BY number LIMIT ${BATCH}`,
      )
      .safeIntegers();
    for (let from = BigInt(start); ; ) {
      const rows = select.all({ name, from, to });
      for (const row of rows) this.applyChange(table, writerOf, row);
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) return;
      from = last.number + 1n;
    }
  }

  private applyChange(
    table: MirrorTable,
    writerOf: () => TableWriter,
    { id, operation, payload, at: sent }: ReceivedRow,
  ): void {
    if (operation === 'DELETE') {
      writerOf().remove(id, sent);
      return;
    }
    const before = operation === 'UPDATE' ? writerOf().textOf(id) : undefined;
    // An update of what is gone by now: its deletion follows.
    if (operation === 'UPDATE' && before === undefined) return;
    const record = this.tables.chosen(table, before === undefined ? recordOf(payload) : changedRecord(before, payload));
    this.tables.learn(table, [record]);
    writerOf().put(record, this.at, sent);
  }

  private applyStaged(table: MirrorTable, writerOf: () => TableWriter): void {
    const { name } = table.resource;
    const select = this.connection
      .prepare<[object], { id: bigint; record: string }>(
        `SELECT id, record FROM _staged AS t WHERE resource = :name AND id > :after AND ${NOT_HELD} ORDER BY id LIMIT ${BATCH}`,
      )
      .safeIntegers();
    for (let after = 0n; ; ) {
      const rows = select.all({ name, after });
      const records: MirrorRecord[] = rows.map(({ record }) => recordOf(record));
      this.tables.learn(table, records);
      const writer = writerOf();
      for (const record of records) writer.put(record, this.at, this.at);
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) return;
      after = last.id;
    }
  }

  private missingIds({ name, resource }: MirrorTable, found: Finding): bigint[] {
    const text = `SELECT t.id FROM ${quoted(name)} AS t WHERE ${isMissing(found)} AND ${NOT_HELD}`;
    return this.connection.prepare<[object], bigint>(text).pluck().safeIntegers().all({ name: resource.name });
  }

  private count(name: string): number {
    return this.connection
      .prepare<[], number>(`SELECT count(*) FROM ${quoted(name)}`)
      .pluck()
      .get() as number;
  }
}

/** The condition that nobody has reserved the row `t`. */
const NOT_HELD = 'NOT EXISTS (SELECT 1 FROM _held AS h WHERE h.resource = :name AND h.id = t.id)';

/** The condition that a row `t` was not found. */
export function isMissing(found: Finding): string {
  // What was fetched because a sweep did not have it is newer than the sweep.
  const tables = found === 'compare' ? ['_staged'] : ['_found', '_staged'];
  return tables
    .map((name) => `NOT EXISTS (SELECT 1 FROM ${name} AS f WHERE f.resource = :name AND f.id = t.id)`)
    .join(' AND ');
}

/** An id as the database takes it. */
export function idOf(id: unknown): bigint | number {
  return storedValue('integer', id, () => Number.NaN) as bigint | number;
}
