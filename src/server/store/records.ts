import sql, { empty, raw, type Sql } from 'sql-template-tag';
import type { Resource } from '../../catalog/define.ts';
import type { Term } from '../../catalog/filter/check.ts';
import { conditionsOf, isRange } from './conditions.ts';
import { placeOf, storedPlace } from './counts.ts';
import { FEW_FOR_DEEP, isDeep, readerFor } from './heavy.ts';
import { columnName, type JsonRecord, type Layout, layoutOf, type OwnValues, tableOf } from './layout.ts';
import { patientColumn } from './patientof.ts';
import { type Reach, seenBy } from './reach.ts';
import { alongIds, among, fewOf, firstIds, isFoundAtOnce, PACES, type Paces, type RecordQuery } from './roads.ts';
import { bound, manyRows, type Texts } from './statement.ts';
import type { Reader, Transaction } from './store.ts';

/** A stored record: its id, its wire JSON as text, and the columns that are read with it (`OwnColumn`). */
export interface StoredRecord {
  readonly id: number;
  readonly json: string;
  /** Whose data it is; read with it, and not needed to render it. */
  readonly patient?: number | null;
}

/** Which records a page holds: after `lastId`, or after `offset` records; at most `limit`. */
export interface Slice {
  readonly lastId: number;
  readonly offset: number;
  readonly limit: number;
  /** Ascending id (D15) unless descending, or newest first by a date key, ties by descending id (D16). */
  readonly order?: 'descending' | { readonly newestBy: string };
}

export async function listRecords<T extends StoredRecord>(
  read: Reader,
  reach: Reach,
  resource: Resource,
  terms: readonly Term[],
  slice: Slice,
): Promise<T[]> {
  const columns = readColumns(resource);
  const query = { reach, resource, terms };
  const from = await readerFor(read, query, slice);
  return readPage(
    from,
    query,
    slice,
    (page) => from.all<T>(selectPage(query, columns, page)),
    (rows) => rows.length,
  );
}

/** What the statement of a page says after its table: the conditions besides the organization, the order, and how many. */
interface Page extends Pick<Slice, 'offset' | 'limit'> {
  readonly where: Sql;
  readonly order: Sql;
}

function selectPage({ reach, resource }: RecordQuery, columns: string, { where, order, limit, offset }: Page): Sql {
  return sql`SELECT ${raw(columns)} FROM ${raw(tableOf(resource))} r WHERE r.org = ${reach.org}${where} ORDER BY ${order} LIMIT ${limit}${skipped(offset)}`;
}

function skipped(offset: number): Sql {
  return offset > 0 ? sql` OFFSET ${offset}` : empty;
}

/**
 * Reads a page in whichever way is short: by one index; by that of a range, where it selects few; along the ids, where the
 * first ones fill the page; otherwise the ids are found first, in parts.
 */
async function readPage<T>(
  read: Reader,
  query: RecordQuery,
  slice: Slice,
  select: (page: Page) => Promise<T>,
  countOf: (result: T) => number,
  paces: Paces = PACES,
): Promise<T> {
  const { reach, resource, terms } = query;
  const { lastId, offset, limit } = slice;
  const order = orderOf(slice);
  const above = sql` AND r.id > ${lastId}`;
  const atOnce = (isAlongIds: boolean) => {
    const way = typeof slice.order !== 'object' && isAlongIds ? 'ids' : 'indexes';
    return select({ where: sql`${above}${conditionsOf(reach, resource, terms, way)}`, order, limit, offset });
  };
  // Those of some locations are many: to find them all and sort them would cost that for each page.
  if (isFoundAtOnce(query) || slice.order !== undefined)
    return atOnce(reach.locations !== undefined || terms.some(isRange));
  // The primary key cannot be taken for an id in this form, nor for its order; only the records of the page are read.
  const sorted = (few: Sql) => {
    const ids = sql`SELECT r.id FROM ${raw(tableOf(resource))} r WHERE r.org = ${reach.org} AND r.id + 0 > ${lastId}${few}
      ORDER BY r.id + 0 LIMIT ${limit}${skipped(offset)}`;
    return select({ where: sql` AND r.id IN (${ids})`, order, limit, offset: 0 });
  };
  const few = await fewOf(read, query, isDeep(offset) ? FEW_FOR_DEEP : paces.few);
  if (few !== undefined) return sorted(few);
  if (isDeep(offset)) return atOnce(true);
  const { where, isLast } = await alongIds(read, query, lastId).next(paces.first);
  const page = await select({ where, order, limit, offset });
  if (isLast || countOf(page) === limit) return page;
  const more = await fewOf(read, query, paces.more);
  if (more !== undefined) return sorted(more);
  for (;;) {
    const ids = (await firstIds(read, query, lastId, offset + limit, paces)).slice(offset);
    if (ids.length === 0) return page;
    const found = await select({ where: among(ids, query), order, limit, offset: 0 });
    // A record that was changed in between would be missing from a full page, which says that there is none after it.
    if (countOf(found) === ids.length) return found;
  }
}

/** A page as one JSON text, joined by the store itself: what a whole record costs is no more than its bytes. */
export interface PageText {
  /** Bytes in UTF-8 where the store has them so: text would be decoded only to be encoded again. */
  readonly data: string | Buffer | null;
  readonly last_id: number | null;
  readonly found: number;
  /** Ids of the records, and of the patients whose data they are unless these are patients themselves; joined by commas. */
  readonly ids: string | null;
  readonly patients?: string | null;
}

/** The records of a slice in ascending id order, as `listRecords` finds them, joined to the text of a JSON array's inside. */
export async function readPageText(
  read: Reader,
  reach: Reach,
  resource: Resource,
  terms: readonly Term[],
  slice: Slice,
  paces?: Paces,
): Promise<PageText> {
  // Patients are their own: their ids need not be joined twice.
  const own = resource.name === 'patients';
  const columns = own ? 'r.id, r.json' : `r.id, r.json, ${patientColumn(resource)} AS patient`;
  const patients = own ? '' : ", string_agg(CAST(p.patient AS TEXT), ',') AS patients";
  const query = { reach, resource, terms };
  const reader = await readerFor(read, query, slice);
  const joined = (data: string, from: string) =>
    `SELECT ${data} AS data, MAX(p.id) AS last_id, COUNT(*) AS found, string_agg(CAST(p.id AS TEXT), ',') AS ids${patients} FROM (${from}) AS p`;
  const select = async (page: Page) => {
    const { sql: plain, text, values } = selectPage(query, columns, page);
    return reader.get<PageText>({
      sql: joined("CAST(string_agg(p.json, ',') AS BLOB)", plain),
      text: joined("string_agg(p.json, ',')", text),
      values,
    });
  };
  const row = await readPage(reader, query, slice, select, (page) => page?.found ?? 0, paces);
  // Text is encoded once: each further step would go through all of it again, to know its length or to send it.
  if (typeof row?.data === 'string') return { ...row, data: Buffer.from(row.data) };
  return row ?? { data: null, last_id: null, found: 0, ids: null };
}

export function findRecord<T extends StoredRecord>(
  read: Reader,
  reach: Reach,
  resource: Resource,
  id: number,
): Promise<T | undefined> {
  if (reach.locations === undefined) return read.get<T>(bound(findText(resource), [reach.org, id]));
  return read.get<T>(
    sql`SELECT ${raw(readColumns(resource))} FROM ${raw(tableOf(resource))} r
      WHERE r.org = ${reach.org} AND r.id = ${id}${seenBy(reach, resource.type)}`,
  );
}

/** The wire JSON of a record, in bytes where the store has it so, and whose data it is. */
export function readRecordText(
  read: Reader,
  reach: Reach,
  resource: Resource,
  id: number,
): Promise<{ readonly json: string | Buffer; readonly patient?: number | null } | undefined> {
  if (reach.locations !== undefined) return findRecord(read, reach, resource, id);
  return read.get(bound(readText(resource), [reach.org, id]));
}

const reads = new Map<Resource, Texts>();

/** Text of the statement that reads the JSON of a record, made once for a resource. */
function readText(resource: Resource): Texts {
  const known = reads.get(resource);
  if (known !== undefined) return known;
  const select = (json: string, org: string, id: string) =>
    `SELECT ${json} AS json, ${patientColumn(resource)} AS patient FROM ${tableOf(resource)} r
      WHERE r.org = ${org} AND r.id = ${id}`;
  const made = { sql: select('CAST(r.json AS BLOB)', '?', '?'), text: select('r.json', '$1', '$2') };
  reads.set(resource, made);
  return made;
}

const finds = new Map<Resource, Texts>();

/** Text of the statement that finds a record, made once for a resource. */
function findText(resource: Resource): Texts {
  const known = finds.get(resource);
  if (known !== undefined) return known;
  const { sql: plain, text } =
    sql`SELECT ${raw(readColumns(resource))} FROM ${raw(tableOf(resource))} r WHERE r.org = ${null} AND r.id = ${null}`;
  const texts = { sql: plain, text };
  finds.set(resource, texts);
  return texts;
}

function orderOf({ order }: Slice): Sql {
  if (order === undefined) return raw('r.id');
  return order === 'descending' ? raw('r.id DESC') : raw(`r.${columnName(order.newestBy)} DESC, r.id DESC`);
}

/** The columns of a `StoredRecord`. */
function readColumns(resource: Resource): string {
  const own = layoutOf(resource).columns.filter(({ of, read }) => of === undefined || read === true);
  return ['r.id', 'r.json', `${patientColumn(resource)} AS patient`, ...own.map(({ name }) => `r.${name}`)].join(', ');
}

/**
 * Inserts a record, or replaces the one with its id. `record` is the whole wire record, without computed parts.
 * `before`: the record that it replaces; null when no record ever had this id, so that nothing of it has to be cleared;
 * undefined when that is not known. `json`: the record's text, where it is known.
 */
export async function putRecord(
  tx: Transaction,
  org: number,
  resource: Resource,
  record: JsonRecord & { readonly id: number },
  own: OwnValues = {},
  before?: JsonRecord | null,
  json = JSON.stringify(record),
): Promise<void> {
  const layout = layoutOf(resource);
  await countChange(tx, org, layout, record.id, before, record);
  const values: (string | number | null)[] = [org, record.id];
  for (const { name, of } of layout.columns) values.push(of === undefined ? (own[name] ?? null) : of(record));
  values.push(json);
  await tx.queue(bound(upsertText(layout), values));
  for (const side of layout.sides) {
    if (before !== null) await tx.queue(sql`DELETE FROM ${raw(side.table)} WHERE org = ${org} AND id = ${record.id}`);
    for (const value of side.of(record)) {
      await tx.queue(bound(sideTexts(side.table), [org, value, record.id]));
    }
  }
}

const sideInserts = new Map<string, Texts>();

function sideTexts(table: string): Texts {
  const known = sideInserts.get(table);
  if (known !== undefined) return known;
  const made = manyRows(`INSERT INTO ${table} (org, value, id)`, 3, 1);
  sideInserts.set(table, made);
  return made;
}

const upserts = new Map<Layout, Texts>();

/** Text of the one statement that writes a record, made once for a table. */
function upsertText(layout: Layout): Texts {
  const known = upserts.get(layout);
  if (known !== undefined) return known;
  const names = ['org', 'id', ...layout.columns.map((column) => column.name), 'json'];
  const overwrite = names
    .slice(2)
    .map((name) => `${name} = excluded.${name}`)
    .join(', ');
  const end = ` ON CONFLICT (org, id) DO UPDATE SET ${overwrite}`;
  const texts = manyRows(`INSERT INTO ${layout.table} (${names.join(', ')})`, names.length, 1, end);
  upserts.set(layout, texts);
  return texts;
}

/** Removes a record, if there is one. `before`: the record, where it is known. */
export async function removeRecord(
  tx: Transaction,
  org: number,
  resource: Resource,
  id: number,
  before?: JsonRecord,
): Promise<void> {
  const layout = layoutOf(resource);
  await countChange(tx, org, layout, id, before, undefined);
  for (const side of layout.sides) {
    await tx.queue(sql`DELETE FROM ${raw(side.table)} WHERE org = ${org} AND id = ${id}`);
  }
  await tx.queue(sql`DELETE FROM ${raw(layout.table)} WHERE org = ${org} AND id = ${id}`);
}

/** Counts what a write changes. Call it before the write. */
async function countChange(
  tx: Transaction,
  org: number,
  layout: Layout,
  id: number,
  before: JsonRecord | null | undefined,
  after: JsonRecord | undefined,
): Promise<void> {
  const was = before ? placeOf(layout, before) : before === null ? undefined : await storedPlace(tx, layout, org, id);
  const is = after && placeOf(layout, after);
  if (was === is) return;
  const { table } = layout;
  if (was !== undefined) tx.count({ org, table, place: was, by: -1 });
  if (is !== undefined) tx.count({ org, table, place: is, by: 1 });
}
