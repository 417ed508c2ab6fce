import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { expect, it } from 'vitest';
import { STORED_RESOURCES } from '../../../../src/catalog/catalog.ts';
import type { Resource } from '../../../../src/catalog/define.ts';
import { checkFilter } from '../../../../src/catalog/filter/check.ts';
import { patients } from '../../../../src/catalog/resources/patients.ts';
import { blankRecord } from '../../../../src/server/rendering.ts';
import { countRecords } from '../../../../src/server/store/counting.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import { listRecords, putRecord } from '../../../../src/server/store/records.ts';
import { schemaOf } from '../../../../src/server/store/schema/schema.ts';
import type { UpgradeOptions } from '../../../../src/server/store/schema/upgradework.ts';
import { openSqliteStore } from '../../../../src/server/store/sqlite/store.ts';
import type { Store, Transaction } from '../../../../src/server/store/store.ts';
import { type Connection, openConnection } from '../../../../src/sqlite/open.ts';
import { onPostgres, postgresTest, testDatabase } from '../../../support/postgres.ts';

/** Where a practice is: a folder with a SQLite database, or a database of PostgreSQL. */
export interface Home {
  readonly dialect: 'sqlite' | 'postgres';
  readonly data?: string;
  readonly database?: string;
  open(options?: UpgradeOptions): Promise<Store>;
  /** Runs statements past everything that guards the database. */
  script(texts: string | Readonly<Record<'sqlite' | 'postgres', string>>): Promise<void>;
  /** Rows of patients that an upgrade has brought to its form so far; 0 while none is under way. */
  rowsDone(): Promise<number>;
}

/** A test on SQLite, and the same on PostgreSQL: in an empty database, or what `make` makes. */
export function onBothStores(name: string, run: (home: Home) => Promise<void>, make = testDatabase): void {
  onSqlite(name, run);
  postgresTest(`${name} (PostgreSQL)`, ({ url }) => run(postgresHome(url)), make);
}

/** A test on SQLite alone. */
export function onSqlite(name: string, run: (home: Home) => Promise<void>): void {
  it(`${name} (SQLite)`, async () => {
    const data = await mkdtemp(join(tmpdir(), 'molar-older-'));
    try {
      await run(sqliteHome(data));
    } finally {
      await rm(data, { recursive: true });
    }
  });
}

/** A practice in a folder, which is made. */
export function sqliteHome(data: string): Home {
  mkdirSync(data, { recursive: true });
  const use = <T>(work: (connection: Connection) => T): T => {
    const connection = openConnection(join(data, 'molar.sqlite'));
    try {
      return work(connection);
    } finally {
      connection.close();
    }
  };
  return {
    dialect: 'sqlite',
    data,
    open: (options = {}) => openSqliteStore(data, { serving: false, ...options }),
    script: async (texts) =>
      void use((connection) => connection.exec(typeof texts === 'string' ? texts : texts.sqlite)),
    rowsDone: async () =>
      use((connection) => (connection.prepare(DONE).get() as { done: number } | undefined)?.done ?? 0),
  };
}

/** A practice in a database of PostgreSQL. */
export function postgresHome(url: string): Home {
  return {
    dialect: 'postgres',
    database: url,
    // What was opened before was closed: nobody has to be waited for.
    open: (options = {}) => openPostgresStore(url, { quietMs: 0, ...options }),
    script: (texts) =>
      onPostgres(async (client) => void (await client.query(typeof texts === 'string' ? texts : texts.postgres)), url),
    rowsDone: () => onPostgres(async (client) => Number((await client.query(DONE)).rows[0]?.done ?? 0), url),
  };
}

const DONE = "SELECT done FROM schema_backfills WHERE table_name = 'patients'";

function without<T>(parts: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(parts).filter(([name]) => !names.includes(name)));
}

/** Patients as an earlier molar had them: without a key of each kind, and without some fields. */
export const OLDER_PATIENTS: Resource = {
  ...patients,
  filters: without(patients.filters, [
    'lastName',
    'dateOfBirth',
    'phones.number',
    'primaryGuarantor.id',
    'chartNumber',
  ]),
  fields: without(patients.fields, ['nameSuffix', 'referredPatients', 'lastModified']),
};

const OLDER_RESOURCES = STORED_RESOURCES.filter(({ name }) => name !== 'events' && name !== 'patients');

/** A schema without a resource, without keys and fields of another. */
export const OLDER = schemaOf([...OLDER_RESOURCES, OLDER_PATIENTS]);

export const ROWS = 25;

/** A patient as an earlier molar stored it. */
export function olderPatient(id: number): Record<string, unknown> & { id: number } {
  return {
    ...blankRecord(OLDER_PATIENTS),
    id,
    firstName: 'Ann',
    lastName: id % 2 === 0 ? 'Ångström' : `Smith ${id}`,
    dateOfBirth: `19${String(50 + (id % 3))}-01-31`,
    gender: 'FEMALE',
    phones: id % 5 === 0 ? [] : [phone(1, `(303) 555-00${id}`), phone(2, `303.555.99${id}`)],
    chartNumber: id === 7 ? 'C-7' : null,
    preferredLocation: { id: 1 },
    primaryGuarantor: { id: id % 4 === 0 ? 4 : id },
  };
}

const phone = (id: number, number: string) => ({ id, phoneType: 'HOME', number, extension: null, sequence: id });

/** Fills a practice of two organizations with the store of an earlier molar. */
export async function makeOlder({ open }: Home, rows = ROWS): Promise<void> {
  const store = await open({ schema: OLDER });
  await store.write(async (tx: Transaction) => {
    for (const [index, id] of ['near', 'far'].entries()) {
      await tx.run(sql`INSERT INTO organizations (org, id, timezone, created_date)
        VALUES (${index + 1}, ${id}, 'UTC', '2020-01-01T00:00:00.000Z')`);
    }
    for (let id = 1; id <= rows; id++) await putRecord(tx, 1, OLDER_PATIENTS, olderPatient(id));
    for (let id = 1; id <= 3; id++) await putRecord(tx, 2, OLDER_PATIENTS, olderPatient(id));
  });
  await store.close();
}

/** Ids that a filter finds in an organization. */
export async function found(store: Store, filter: string, org = 1): Promise<number[]> {
  const terms = checkFilter(filter, patients.filters);
  const slice = { lastId: 0, offset: 0, limit: 1000 };
  const rows = await listRecords(store.read, { org }, patients, terms, slice);
  expect(await countRecords(store.read, { org }, patients, terms)).toBe(rows.length);
  return rows.map(({ id }) => id);
}

const ids = (test: (id: number) => boolean) => Array.from({ length: ROWS }, (_, at) => at + 1).filter(test);

/** Everything that an earlier molar could not filter by finds what it should. */
export async function expectFiltersToFind(store: Store): Promise<void> {
  expect(await found(store, 'lastName~=ångs')).toEqual(ids((id) => id % 2 === 0));
  expect(await found(store, 'lastName==Smith 7')).toEqual([7]);
  expect(await found(store, 'dateOfBirth==1951-01-31')).toEqual(ids((id) => id % 3 === 1));
  expect(await found(store, 'phones.number==3035550011')).toEqual([11]);
  expect(await found(store, 'phones.number!=3035550011')).toEqual(ids((id) => id !== 11));
  expect(await found(store, 'primaryGuarantor.id==4')).toEqual(ids((id) => id % 4 === 0));
  expect(await found(store, 'chartNumber.present')).toEqual([7]);
  expect(await found(store, 'chartNumber.absent', 2)).toEqual([1, 2, 3]);
}
