import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { JsonRecord, Layout } from './layout.ts';
import { EVERYWHERE } from './reach.ts';
import type { CountChange, Reader, Transaction } from './store.ts';

/** What a transaction changes of counts, added up: each is written once, before the transaction ends. */
export class CountBuffer {
  private changes = new Map<string, CountChange>();

  add(change: CountChange): void {
    const { org, table, place, by } = change;
    const name = `${org} ${table} ${place}`;
    const before = this.changes.get(name);
    this.changes.set(name, before === undefined ? change : { ...before, by: before.by + by });
  }

  /** Takes what is buffered out. */
  take(): CountChange[] {
    const changes = [...this.changes.values()].filter(({ by }) => by !== 0);
    this.changes = new Map();
    return changes;
  }
}

/** Writes changes of counts, in the one order in which every transaction takes their rows. */
export async function writeCounts(tx: Pick<Transaction, 'queue'>, changes: readonly CountChange[]): Promise<void> {
  if (changes.length === 0) return;
  const ordered = changes.toSorted(
    (a, b) => a.org - b.org || (a.table < b.table ? -1 : Number(a.table > b.table)) || a.place - b.place,
  );
  for (let at = 0; at < ordered.length; at += MAX_ROWS) {
    const rows = ordered
      .slice(at, at + MAX_ROWS)
      .map(({ org, table, place, by }) => sql`(${org}, ${table}, ${place}, ${by})`);
    await tx.queue(sql`INSERT INTO record_counts (org, table_name, place, records) VALUES ${join(rows)}
      ON CONFLICT (org, table_name, place) DO UPDATE SET records = record_counts.records + excluded.records`);
  }
}

/** Rows of one statement. */
const MAX_ROWS = 100;

/** The place that a record is counted at. */
export function placeOf({ place }: Layout, record: JsonRecord): number {
  return (place?.of?.(record) as number | null | undefined) ?? EVERYWHERE;
}

/** The place that a stored record is counted at; undefined when there is no such record. */
export async function storedPlace(
  read: Reader,
  { table, place }: Layout,
  org: number,
  id: number,
): Promise<number | undefined> {
  const row = await read.get<{ place: number }>(
    sql`SELECT ${placeColumn(place?.name)} AS place FROM ${raw(table)} WHERE org = ${org} AND id = ${id}`,
  );
  return row?.place;
}

/** How many records there are, at these places alone where they are given: read, not counted. */
export async function keptCount(
  read: Reader,
  org: number,
  table: string,
  places: readonly number[] | undefined,
): Promise<number> {
  const only = places === undefined ? sql`` : sql` AND place IN (${join(places)})`;
  const row = await read.get<{ total: number }>(
    sql`SELECT CAST(COALESCE(SUM(records), 0) AS BIGINT) AS total FROM record_counts
      WHERE org = ${org} AND table_name = ${table}${only}`,
  );
  return row?.total ?? 0;
}

/** A count of a table's records at a place, as it is kept or as it should be. */
export interface PlaceCount {
  readonly org: number;
  readonly place: number;
  readonly records: number;
}

/** The statement that reads the counts of a table as they are kept. */
export function keptPlaces({ table }: Layout): Sql {
  return sql`SELECT org, place, records FROM record_counts WHERE table_name = ${table}`;
}

/** The statement that counts the records of a table by organization and place; of one organization where it is given. */
export function countedPlaces({ table, place }: Layout, org?: number): Sql {
  const only = org === undefined ? sql`` : sql` WHERE org = ${org}`;
  return sql`SELECT org, ${placeColumn(place?.name)} AS place, COUNT(*) AS records FROM ${raw(table)}${only} GROUP BY 1, 2`;
}

/** Counts the records of a table anew, those of one organization where it is given. Nobody may write them meanwhile. */
export async function recount(tx: Transaction, layout: Layout, org?: number): Promise<void> {
  const { table } = layout;
  const only = org === undefined ? sql`` : sql` AND org = ${org}`;
  await tx.run(sql`UPDATE record_counts SET records = 0 WHERE table_name = ${table}${only}`);
  await tx.run(sql`INSERT INTO record_counts (org, table_name, place, records)
    SELECT c.org, CAST(${table} AS TEXT), c.place, c.records FROM (${countedPlaces(layout, org)}) AS c WHERE true
    ON CONFLICT (org, table_name, place) DO UPDATE SET records = excluded.records`);
}

function placeColumn(column: string | undefined): Sql {
  return raw(column === undefined ? String(EVERYWHERE) : `COALESCE(${column}, ${EVERYWHERE})`);
}
