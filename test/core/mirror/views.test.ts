import { describe, expect, it } from 'vitest';
import { databasePlace } from '../../../src/core/mirror/place.ts';
import { connect } from '../../../src/core/mirror/postgres/connection.ts';
import { MIRROR_PARSERS, PostgresDatabase } from '../../../src/core/mirror/postgres/database.ts';
import { recordOf } from '../../../src/core/mirror/records.ts';
import type { MirrorDatabase } from '../../../src/core/mirror/sql/database.ts';
import { SqlMirror } from '../../../src/core/mirror/sql/sqlmirror.ts';
import { SqliteDatabase } from '../../../src/core/mirror/sqlite/database.ts';
import { findTable, type MirrorTable } from '../../../src/core/mirror/tables.ts';
import { Draws } from '../../faithful/random.ts';
import { postgresTest } from '../../support/postgres.ts';
import { mirrorFolder } from './mirroring.ts';
import { queried } from './oracle.ts';
import { readPostgres } from './postgresoracle.ts';
import { type Practice, VIEWS } from './viewsoracle.ts';

type Rows = readonly Readonly<Record<string, unknown>>[];

const NOW = Date.now();
const DAY = 86_400_000;

/** Zones whose clocks change by an hour, by half of one, in the other half of the year, and never. */
const LOCATIONS = { 1: 'America/Denver', 2: 'Australia/Lord_Howe', 3: 'Asia/Kathmandu' } as const;
const ELSEWHERE = 'Europe/Berlin';
const zoneOf = (location: number | null) => LOCATIONS[location as 1] ?? ELSEWHERE;

/** Instants around which clocks change: to the hour that is left out, and to that which comes twice; and others long ago. */
const CHANGES = [
  ...['2026-03-08T09:00Z', '2026-11-01T08:00Z', '2026-04-04T15:00Z', '2026-10-03T15:30Z', '2026-10-25T01:00Z'],
  ...['1985-04-28T09:00Z', '1975-01-01T00:00Z', '2068-06-01T00:00Z'],
];

/** A small practice in which everything happens often: the same patients, amounts that cancel out, links to nobody. */
function practiceOf(draws: Draws): Practice {
  const ids = (count: number, first: number) => Array.from({ length: count }, (_, index) => first + index);
  const maybe = <T>(value: T) => (draws.chance(0.8) ? value : null);
  const patients = ids(5, 1);
  const patient = () => maybe(draws.one([...patients, 99]));
  const location = () => maybe(draws.one([1, 2, 3, 4]));
  const instant = () => {
    const near = Date.parse(draws.one(CHANGES)) + draws.one([-3_600_000, -1, 0, 1, 1_800_000, 3_599_999]);
    return new Date(draws.chance(0.5) ? near : NOW + draws.whole(-9, 9) * DAY + draws.whole(1, 20)).toISOString();
  };
  const day = () => new Date(NOW + draws.whole(-20, 20) * DAY).toISOString().slice(0, 10);
  const cents = () => draws.one([-1, 1]) * draws.one([1, 5, 10, 999, 1050, 100_000]);
  const charges = ids(14, 300);
  return {
    patients: patients.map((id) => ({
      ...{
        id,
        firstName: draws.one(['Ann', 'Bo']),
        lastName: maybe('Lee'),
        primaryGuarantor: maybe(draws.one(patients)),
      },
      ...{ preferredLocation: location(), lastModified: instant() },
    })),
    transactions: charges.map((id) => ({
      ...{ id, amount: cents(), patient: patient(), location: location(), isActive: draws.chance(0.8) },
      ...{ ledgerType: draws.one(['PatientProcedureLedger', 'PatientProcedurePayment']), transactionDate: day() },
      distributions: Array.from({ length: draws.whole(0, 2) }, () => ({
        ...{ charge: draws.one([...charges, 999]), applied: Math.abs(cents()), isActive: draws.chance(0.8) },
      })),
    })),
    appointments: ids(30, 200).map((id) => ({
      ...{ id, start: instant(), end: instant(), patient: patient(), location: location(), note: maybe('note') },
      status: draws.one(['COMPLETED', 'CHECKOUT', 'BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE', 'CONFIRMED', null]),
    })),
    events: ids(4, 400).map((id) => ({ id, start: instant(), end: instant(), location: location(), title: 'Closed' })),
  };
}

const linkTo = (id: number | null) => (id === null ? null : { id });
const dollars = (cents: number) => Number((cents / 100).toFixed(2));

/** The same as the service sends it. */
function recordsOf({ patients, transactions, appointments, events }: Practice): Record<string, object[]> {
  return {
    patients: patients.map(({ primaryGuarantor, preferredLocation, ...others }) => ({
      ...others,
      ...{ primaryGuarantor: linkTo(primaryGuarantor), preferredLocation: linkTo(preferredLocation) },
    })),
    transactions: transactions.map(({ amount, patient, location, distributions, ...others }) => ({
      ...{ ...others, amount: dollars(amount), patient: linkTo(patient), location: linkTo(location) },
      distributions: distributions.map(({ charge, applied, isActive }) => {
        return { chargeId: charge, appliedAmount: dollars(applied), isActive };
      }),
    })),
    appointments: appointments.map(({ patient, location, ...others }) => {
      return { ...others, patient: linkTo(patient), location: linkTo(location) };
    }),
    events: events.map(({ location, ...others }) => ({ ...others, location: linkTo(location) })),
  };
}

/** Fills a mirror, and compares each view with what the oracle makes of the same practice. */
async function compare(seed: string, database: MirrorDatabase, read: (query: string) => Promise<Rows>): Promise<void> {
  const practice = practiceOf(new Draws(`views ${seed}`));
  const locations = Object.entries(LOCATIONS).map(([id, zone]) => [id, zone] as const);
  const mirror = await SqlMirror.open(
    database,
    { organization: 'o', url: 'u', history: false, columns: {}, timezone: null },
    { zones: { locations, zone: ELSEWHERE, isComputers: false }, instantOf: () => Number.NaN, now: () => NOW },
  );
  const published = { state: {}, found: null, missing: 0, border: 1 };
  const tables = new Map<MirrorTable, typeof published>();
  for (const [name, records] of Object.entries(recordsOf(practice))) {
    const table = findTable(name) as MirrorTable;
    await mirror.stage(
      table,
      records.map((record) => recordOf(JSON.stringify(record))),
    );
    tables.set(table, published);
  }
  await mirror.publish({ tables, locations: undefined, at: new Date(NOW).toISOString() });
  for (const [name, { columns, rows }] of Object.entries(VIEWS)) {
    const there = (await read(`SELECT ${columns.map((column) => `"${column}"`).join(', ')} FROM ${name}`)).map((row) =>
      columns.map((column) => shown(row[column])),
    );
    const wanted = rows(practice, { zoneOf, now: NOW }).map((row) => row.map(shown));
    expect({ [name]: there.map(String).toSorted() }).toEqual({ [name]: wanted.map(String).toSorted() });
  }
  await mirror.close();
}

/** A value as it is told by either database. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'boolean' ? String(Number(value)) : String(value);
}

describe('the views', () => {
  it.each(['1', '2', '3', '4', '5', '6'])('seed %s: in a file, tell what the records come to', async (seed) => {
    const { file } = await mirrorFolder();
    await compare(seed, await SqliteDatabase.open(file), async (query) => queried(file, query));
  });

  postgresTest('in PostgreSQL tell what the records come to', async ({ url }) => {
    const { client, schema = '' } = await connect(databasePlace(url, '--to', {}), MIRROR_PARSERS);
    try {
      await compare('1', new PostgresDatabase('NAME', client, schema), (query) => readPostgres(url, query));
    } finally {
      await client.end();
    }
  });
});
