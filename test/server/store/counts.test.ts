import sql from 'sql-template-tag';
import { expect } from 'vitest';
import { checkFilter } from '../../../src/catalog/filter/check.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { blankRecord } from '../../../src/server/rendering.ts';
import { countRecords } from '../../../src/server/store/counting.ts';
import { putRecord, removeRecord } from '../../../src/server/store/records.ts';
import type { Store, Transaction } from '../../../src/server/store/store.ts';
import { preparedSchema } from '../../support/preparedschemas.ts';
import { type Home, makeOlder, onBothStores, ROWS } from './schema/olderpractice.ts';

const patient = (id: number, location: number | null) => ({
  ...blankRecord(patients),
  id,
  preferredLocation: location === null ? null : { id: location },
});

async function withOrganizations({ open }: Home, orgs: readonly number[]): Promise<Store> {
  const store = await open();
  for (const org of orgs) {
    await store.write((tx) =>
      tx.run(sql`INSERT INTO organizations (org, id, timezone, created_date)
        VALUES (${org}, ${`o${org}`}, 'UTC', '2020-01-01T00:00:00.000Z')`),
    );
  }
  return store;
}

/** What counts say, against what rows there are, whatever has been written and undone. */
async function expectTrue(store: Store, orgs: readonly number[]): Promise<void> {
  for (const org of orgs) {
    const rows = await store.read.all<{ location: number | null }>(
      sql`SELECT preferred_location_id AS location FROM patients WHERE org = ${org}`,
    );
    const count = (filter: string) =>
      countRecords(store.read, { org }, patients, filter === '' ? [] : checkFilter(filter, patients.filters));
    const at = (...wanted: number[]) => rows.filter(({ location }) => wanted.includes(location ?? -1)).length;
    expect(await count('')).toBe(rows.length);
    expect(await count('preferredLocation.id==ALL')).toBe(rows.length);
    expect(await count('preferredLocation.id==1')).toBe(at(1));
    expect(await count('preferredLocation.id==9')).toBe(0);
    expect(await count('preferredLocation.id->[1,2,2]')).toBe(at(1, 2));
    expect(await count('preferredLocation.id!=1')).toBe(rows.length - at(1));
    expect(await count('preferredLocation.id==1,preferredLocation.id==2')).toBe(0);
  }
}

const below = (bound: number) => Math.floor(Math.random() * bound);

/** A write of one patient, known or not; one in five fails after it. */
async function anyWrite(tx: Transaction, org: number): Promise<void> {
  const id = 1 + below(12);
  const location = [null, 1, 2, 3][below(4)] ?? null;
  if (below(4) === 0) await removeRecord(tx, org, patients, id);
  else await putRecord(tx, org, patients, patient(id, location));
  if (below(5) === 0) throw new Error('refused');
}

onBothStores(
  'Counts are those of the rows after writes of several organizations at once, failed ones included',
  async (home) => {
    const orgs = [1, 2];
    const store = await withOrganizations(home, orgs);
    try {
      for (let round = 0; round < 15; round++) {
        const writes = Array.from({ length: 20 }, (_, at) => {
          const org = orgs[at % 2] as number;
          return store.write((tx) => anyWrite(tx, org), org);
        });
        const outcomes = await Promise.allSettled(writes);
        const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
        for (const { reason } of failures) expect(String(reason)).toBe('Error: refused');
        await expectTrue(store, orgs);
      }
    } finally {
      await store.close();
    }
  },
  preparedSchema,
);

onBothStores('A bulk load counts what it writes beside others, and nothing when it fails', async (home) => {
  const orgs = [1, 2];
  const store = await withOrganizations(home, orgs);
  const load = (end: () => void) =>
    store.write(async (tx) => {
      const indexes = await tx.beginBulkLoad(['patients']);
      // At more locations than one statement can count.
      for (let id = 100; id < 700; id++)
        await putRecord(tx, 1 + (id % 2), patients, patient(id, [1, 2, 1000 + id][id % 3] ?? null), {}, undefined);
      for (let id = 100; id < 200; id++) await removeRecord(tx, 1 + (id % 2), patients, id);
      await indexes.restore();
      end();
    });
  try {
    const refuse = () => {
      throw new Error('refused');
    };
    await expect(load(refuse)).rejects.toThrow('refused');
    await expectTrue(store, orgs);
    const others = orgs.map((org) => store.write((tx) => putRecord(tx, org, patients, patient(1, 1)), org));
    await Promise.all([load(() => {}), ...others]);
    await expectTrue(store, orgs);
  } finally {
    await store.close();
  }
});

onBothStores('A practice of an earlier molar is counted when it is opened, and not again', async (home) => {
  await makeOlder(home);
  const uncount = 'UPDATE record_counts SET records = records + 1';
  const forget = `DELETE FROM record_counts; DELETE FROM schema_state WHERE name = 'fingerprint';
    UPDATE schema_state SET value = replace(value, '"place":"preferred_location_id",', '') WHERE name = 'table patients'`;
  await home.script(forget);
  const first = await home.open();
  await expectTrue(first, [1, 2]);
  await first.close();
  await home.script(uncount);
  const second = await home.open();
  expect(await countRecords(second.read, { org: 1 }, patients, [])).toBe(ROWS + 1);
  await second.close();
});
