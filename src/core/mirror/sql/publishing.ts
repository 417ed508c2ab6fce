import { quoted } from '../names.ts';
import { changedRecord, recordOf } from '../records.ts';
import type { Finding, PublishedTable, ReceivedChange, ResourceState, RowChanges } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import type { Deletion, MirrorDatabase, TableWriter, Version } from './database.ts';
import type { TableSet } from './tableset.ts';

/** Rows that are read at a time while others are written. */
const BATCH = 1000;

/** A row of `_received`. */
interface ReceivedRow extends Pick<ReceivedChange, 'id' | 'operation' | 'at' | 'payload'> {
  readonly number: number;
}

/** Makes visible what was staged and received; to be used within a transaction. */
export class Publisher {
  constructor(
    private readonly database: MirrorDatabase,
    private readonly tables: TableSet,
    private readonly hasHistory: boolean,
    /** UTC. */
    private readonly at: string,
  ) {}

  /** How many rows changed, and what is known of the table from now on; `before`: until now. */
  async publish(
    table: MirrorTable,
    { state, found, border }: PublishedTable,
    before: ResourceState,
  ): Promise<RowChanges & { readonly state: Partial<ResourceState> }> {
    const { tables, at } = this;
    const { complete } = before;
    const changes = tables.changesOf(table, true);
    // The first versions of a table that was loaded are made at its end.
    const writerOf = () => tables.writerOf(table, this.hasHistory && complete);
    await this.applyReceived(table, writerOf, 0, border);
    await this.applyStaged(table, writerOf, border);
    if (found !== null) await this.removeMissing(table, found, await writerOf());
    await this.applyReceived(table, writerOf, border, Number.MAX_SAFE_INTEGER);
    if (!complete) await tables.createIndexes([table]);
    if (!complete && this.hasHistory) await tables.beginHistory(table, at);
    // After a sweep all rows are counted: others may have written to the database too.
    const isKnown = complete && found === null;
    const rows = isKnown ? before.rows + changes.added - changes.deleted : await this.count(table.name);
    const isBuried = changes.deleted + changes.added > 0;
    const deletedRows = isBuried ? await this.count(`${table.name}_deleted`) : before.deletedRows;
    const known = { ...state, complete: true, rows, deletedRows, unavailable: null, progress: null };
    return { ...(complete ? changes : { added: rows, changed: 0, deleted: 0 }), state: known };
  }

  private async applyReceived(table: MirrorTable, writerOf: WriterOf, start: number, to: number): Promise<void> {
    const { name } = table.resource;
    for (let from = start; ; ) {
      const rows = await this.database.rows<ReceivedRow>(
        `SELECT number, CAST(id AS TEXT) AS id, operation, at, payload FROM _received
        WHERE resource = :name AND number >= :from AND number < :to ORDER BY number LIMIT ${BATCH}`,
        { name, from, to },
      );
      for (const changes of rounds(rows)) await this.applyChanges(table, writerOf, changes);
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) return;
      from = last.number + 1;
    }
  }

  /** Applies changes of records, one of each. */
  private async applyChanges(table: MirrorTable, writerOf: WriterOf, changes: readonly ReceivedRow[]): Promise<void> {
    const updated = changes.filter(({ operation }) => operation === 'UPDATE').map(({ id }) => id);
    const texts: ReadonlyMap<string, string> =
      updated.length > 0 ? await (await writerOf()).textsOf(updated) : new Map();
    const removed: Deletion[] = [];
    const versions: Version[] = [];
    for (const { id, operation, payload, at } of changes) {
      const before = operation === 'UPDATE' ? texts.get(id) : undefined;
      if (operation === 'DELETE') removed.push({ id, at });
      // An update of what is gone by now: its deletion follows.
      if (operation === 'DELETE' || (operation === 'UPDATE' && before === undefined)) continue;
      const record = before === undefined ? recordOf(payload) : changedRecord(before, payload);
      versions.push({ record: this.tables.chosen(table, record), since: at });
    }
    const writer = await writerOf();
    if (removed.length > 0) await writer.remove(removed);
    if (versions.length > 0) await writer.put(versions, this.at);
  }

  private async applyStaged(table: MirrorTable, writerOf: WriterOf, border: number): Promise<void> {
    const { name } = table.resource;
    const deleted = await this.deletedBefore(table, border);
    for (let after = '0'; ; ) {
      const rows = await this.database.rows<{ id: string; record: string }>(
        `SELECT CAST(id AS TEXT) AS id, record FROM _staged AS t
        WHERE resource = :name AND t.id > CAST(:after AS BIGINT) AND ${NOT_HELD} ORDER BY t.id LIMIT ${BATCH}`,
        { name, after },
      );
      const versions = rows
        .filter(({ id }) => !deleted.has(id))
        .map(({ record }) => ({ record: recordOf(record), since: this.at }));
      if (versions.length > 0) await (await writerOf()).put(versions, this.at);
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) return;
      after = last.id;
    }
  }

  /** Ids whose last received change before the border is a deletion: what is staged of such a record was read earlier. */
  private async deletedBefore({ resource: { name } }: MirrorTable, border: number): Promise<ReadonlySet<string>> {
    const rows = await this.database.rows<{ id: string }>(
      `SELECT CAST(id AS TEXT) AS id FROM _received AS r WHERE resource = :name AND operation = 'DELETE' AND number =
        (SELECT max(number) FROM _received AS l WHERE l.resource = :name AND l.id = r.id AND l.number < :border)`,
      { name, border },
    );
    return new Set(rows.map(({ id }) => id));
  }

  private async removeMissing({ name, resource }: MirrorTable, found: Finding, writer: TableWriter): Promise<void> {
    const text = `SELECT CAST(t.id AS TEXT) AS id FROM ${quoted(name)} AS t WHERE ${isMissing(found)} AND ${NOT_HELD}`;
    const rows = await this.database.rows<{ id: string }>(text, { name: resource.name });
    for (let at = 0; at < rows.length; at += BATCH)
      await writer.remove(rows.slice(at, at + BATCH).map(({ id }) => ({ id, at: this.at })));
  }

  private async count(name: string): Promise<number> {
    const [row] = await this.database.rows<{ rows: number }>(`SELECT count(*) AS rows FROM ${quoted(name)}`);
    return row?.rows ?? 0;
  }
}

type WriterOf = () => Promise<TableWriter>;

/** Changes in their order, in parts that have one of each record. */
function rounds(changes: readonly ReceivedRow[]): ReceivedRow[][] {
  const found: ReceivedRow[][] = [];
  let round: ReceivedRow[] = [];
  let ids = new Set<string>();
  for (const change of changes) {
    if (ids.has(change.id)) {
      found.push(round);
      round = [];
      ids = new Set();
    }
    round.push(change);
    ids.add(change.id);
  }
  return round.length > 0 ? [...found, round] : found;
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
