import { expect } from 'vitest';
import { recordOf } from '../../../src/core/mirror/records.ts';
import { SqlMirror } from '../../../src/core/mirror/sql/sqlmirror.ts';
import { SqliteDatabase } from '../../../src/core/mirror/sqlite/database.ts';
import { MIRROR_TABLES, type MirrorTable } from '../../../src/core/mirror/tables.ts';
import type { OfficeColumn } from '../../../src/core/office/report.ts';
import { SqliteQuery } from '../../../src/core/query/sqlitequery.ts';
import type { Connection } from '../../../src/sqlite/open.ts';
import type { Fields, Row } from './records.ts';

/** Resources that reports read. */
export const RESOURCES = [
  'patients',
  'appointments',
  'missedappointments',
  'transactions',
  'transactiontags',
  'documents',
] as const;

function tableOf(resource: string): MirrorTable {
  return MIRROR_TABLES.find((table) => table.resource.name === resource) as MirrorTable;
}

/** A mirror that a test writes to: what is loaded, changed or removed is published at once, a minute later each time. */
export class Mirrored {
  private now = Date.parse('2026-01-01T00:00:00Z');
  private readonly store: Promise<SqlMirror>;

  constructor(
    readonly file: string,
    history: boolean,
  ) {
    const facts = { organization: 'o', url: 'http://localhost', history, columns: {}, timezone: null };
    const zones = { locations: [], zone: 'Asia/Tokyo', isComputers: false };
    const options = { zones, instantOf: () => Number.NaN, now: () => this.now };
    this.store = SqliteDatabase.open(file).then((database) => SqlMirror.open(database, facts, options));
  }

  /** Records of the API, by resource, as the first load brings them. */
  async load(records: Readonly<Record<string, readonly Fields[]>>): Promise<void> {
    const progress = { since: '', lastId: '0', number: 1 } as never;
    const store = await this.store;
    for (const [name, of] of Object.entries(records)) await store.load(tableOf(name), textsOf(of), progress);
    await this.publish(Object.keys(records));
  }

  /** Records of a resource as they are from now on, and the ids of those that are gone. */
  async change(resource: string, changed: readonly Fields[], gone: readonly string[]): Promise<void> {
    const table = tableOf(resource);
    const store = await this.store;
    await store.stage(table, textsOf(changed));
    const at = new Date(this.now).toISOString();
    await store.receive(gone.map((id) => ({ table, id, operation: 'DELETE', message: 1, at, payload: '{}' })));
    await this.publish([resource]);
  }

  async close(): Promise<void> {
    await (await this.store).close();
  }

  private async publish(resources: readonly string[]): Promise<void> {
    const published = { state: { complete: true }, found: null, missing: 0, border: 1 };
    const tables = new Map(resources.map((name) => [tableOf(name), published]));
    await (await this.store).publish({ tables, locations: undefined, at: new Date(this.now).toISOString() });
    this.now += 60_000;
  }
}

function textsOf(records: readonly Fields[]) {
  return records.map((record) => recordOf(JSON.stringify(record)));
}

/** The rows of a statement as `molar query` reads them, by the names of a report's columns. */
export function queried(connection: Connection, sql: string, columns: readonly OfficeColumn[]): Row[] {
  const query = new SqliteQuery(connection, { sql, parameters: {}, partial: false });
  const own = columns.filter(({ name }) => !/^(location|provider|operatory)\.name$/.test(name));
  const names = own.map(({ name }) =>
    name
      .replace('.', '_')
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase(),
  );
  expect(query.names).toEqual(names);
  const rows: (readonly unknown[])[] = [];
  for (let part = query.next(1000); part.length > 0; part = query.next(1000)) rows.push(...part);
  return rows.map((row) =>
    Object.fromEntries(own.map(({ name, kind }, at) => [name, plainValue(kind, row[at] ?? null)])),
  );
}

function plainValue(kind: OfficeColumn['kind'], value: unknown): string | number | boolean | null {
  if (value === null) return null;
  if (kind === 'boolean') return [false, true][Number(value)] ?? null;
  return kind === 'id' ? String(value) : (value as string | number);
}
