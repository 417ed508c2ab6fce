import { randomUUID } from 'node:crypto';
import sql from 'sql-template-tag';
import { expect, it } from 'vitest';
import { ImportResumer } from '../../../../src/server/import/staged/resumer.ts';
import { waitForClaim } from '../../../../src/server/import/staged/stagedimport.ts';
import type { Service } from '../../../../src/server/service.ts';
import type { Store } from '../../../../src/server/store/store.ts';
import type { WireRecord } from '../../../support/calls.ts';
import { big, LOCATIONS, PATIENTS } from '../../../support/ids.ts';
import { line } from '../../../support/practice.ts';
import { type TestService, testService } from '../../../support/service.ts';
import { cases } from '../../../support/store.ts';
import { everythingOf, importInParts, resume, triedTwice } from './stores.ts';

const NEW = 'a-new-practice';

/** Changes of what is there, new records, deletions, and a new organization. */
function records(): WireRecord[] {
  const people = [1, 2, 3, 4].map((n) =>
    line('PatientV1', {
      id: big(8000 + n),
      firstName: `P${n}`,
      lastName: 'New',
      referredByPatient: { id: PATIENTS.ann },
    }),
  );
  const charges = [1, 2, 3].map((n) =>
    line('Transaction', {
      id: big(8100 + n),
      ledgerType: 'PatientChargeAdjustment',
      amount: 10 * n,
      transactionDate: '2026-02-01',
      patient: { id: big(8000 + n) },
      location: { id: LOCATIONS.east },
      ...(n === 3 && { previousTransaction: { id: big(8101) } }),
    }),
  );
  const file = { content: Buffer.from('%PDF-1.4 killed').toString('base64') };
  return [
    { type: 'Organization', id: NEW, timezone: 'UTC' },
    ...people,
    line('PatientV1', { id: PATIENTS.bob, firstName: 'Robert', lastName: 'Smith' }),
    ...charges,
    line('TransactionTagV1', { id: big(8200), tagText: 'new', tagType: 'PAYMENT_TAG', isPredefined: false }),
    line('DocumentV1', { id: big(8300), name: 'paper', mimeType: 'PDF', ownerPatient: { id: big(8001) }, file }),
    line('MissedAppointmentV1', { id: big(8400), patient: { id: big(8002) } }),
    line('MissedAppointmentV1', { id: big(551), deleted: true }),
    line('PatientV1', { id: 1, firstName: 'Else', lastName: 'Where' }, NEW),
    line('Location', { id: 2, name: 'There' }, NEW),
  ];
}

/** A service whose process is dead to its store after so many writes: the last one is on disk, but nobody learns of it. */
function killedAfter(service: Service, writes: number): Service {
  let left = writes;
  const dead = () => Promise.reject(new Error('killed'));
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    if (left-- <= 0) return dead();
    const value = await work();
    return left <= 0 ? dead() : value;
  };
  const { store } = service;
  const dying: Store = {
    ...store,
    write: (work, org) => step(() => store.write(work, org)),
    async claimImports() {
      const claim = await store.claimImports();
      if (claim === undefined) return undefined;
      return {
        ...claim,
        async open(name) {
          const area = await claim.open(name);
          return { ...area, write: (statements) => step(() => area.write(statements)) };
        },
        names: () => (left <= 0 ? dead() : claim.names()),
        remove: (name) => (left <= 0 ? dead() : claim.remove(name)),
      };
    },
  };
  return { ...service, store: dying };
}

/** How many imports are decided and not published in full, and how many areas are left. */
async function leftOf({ service }: TestService): Promise<unknown> {
  const decided = await service.store.read.all(sql`SELECT name FROM imports`);
  const claim = await waitForClaim(service.store);
  const names = await claim.names();
  await claim.release();
  return { decided, names };
}

it('an import that is killed at any moment is there completely, once somebody comes, or not at all', async () => {
  const [before, after] = [await testService(), await testService()];
  after.clock.advance(60_000);
  before.clock.advance(60_000);
  await importInParts(after.service, records());
  const [nothing, all] = [await everythingOf(before), await everythingOf(after)];
  const outcomes = new Set<string>();
  await before.close();
  await after.close();
  // Moments that PostgreSQL could tell apart, SQLite could, too: on PostgreSQL some are enough.
  const step = cases(1, 4);
  let writes = 1;
  for (let isKilled = true; isKilled; writes += step) {
    const service = await testService();
    service.clock.advance(60_000);
    isKilled = await importInParts(killedAfter(service.service, writes), records()).then(
      () => false,
      (error: Error) => error.message === 'killed' || Promise.reject(error),
    );
    await resume(service.service);
    const found = await everythingOf(service);
    const outcome = JSON.stringify(found.patients) === JSON.stringify(nothing.patients) ? 'nothing' : 'all';
    outcomes.add(outcome);
    expect(found, `after ${writes} writes`).toEqual(outcome === 'nothing' ? nothing : all);
    expect(await leftOf(service)).toEqual({ decided: [], names: [] });
    await service.close();
  }
  expect([...outcomes]).toEqual(['nothing', 'all']);
  expect(writes).toBeGreaterThan(8);
});

it('an import whose transactions are all tried again leaves the same', async () => {
  const [again, once] = [await testService(), await testService()];
  // The key of an organization that is made in vain is not given again.
  const kept = records().filter(({ id, organizationId }) => ![id, organizationId].includes(NEW));
  await importInParts(triedTwice(again.service), kept);
  await importInParts(once.service, kept);
  expect(await everythingOf(again)).toEqual(await everythingOf(once));
  await again.close();
  await once.close();
});

it('a server goes on with an import whose process has ended, by itself', async () => {
  const service = await testService();
  await expect(importInParts(killedAfter(service.service, 5), records())).rejects.toThrow('killed');
  expect(await service.service.store.read.all(sql`SELECT name FROM imports`)).toHaveLength(1);
  await expect
    .poll(() => service.service.store.read.all(sql`SELECT name FROM imports`), { timeout: 60_000 })
    .toEqual([]);
  expect(await service.call('GET', `/patients/${big(8004)}`)).toMatchObject({ status: 200 });
  await service.close();
});

it('a server removes what a killed import had staged before its decision', async () => {
  const service = await testService();
  const claim = await waitForClaim(service.service.store);
  const name = randomUUID();
  const area = await claim.open(name);
  const row = sql`(${name}, 1, 'PatientV1', 1, 2, 1, 1)`;
  await area.write([sql`INSERT INTO import_lines (import, org, type, id, step, seq, line) VALUES ${row}`]);
  await area.close();
  expect(await claim.names()).toEqual([name]);
  await claim.release();
  const faults: unknown[] = [];
  const resumer = new ImportResumer(service.service, (error) => faults.push(error), 20);
  resumer.start();
  await expect.poll(() => leftOf(service), { timeout: 60_000 }).toEqual({ decided: [], names: [] });
  await resumer.close();
  expect(faults).toEqual([]);
  await service.close();
});

it('an import that is killed while it is gone on with leaves the same in the end', async () => {
  const [killed, expected] = [await testService(), await testService()];
  await importInParts(expected.service, records());
  await importInParts(killedAfter(killed.service, 6), records()).catch(() => undefined);
  for (const writes of [1, 2, 3]) await resume(killedAfter(killed.service, writes)).catch(() => undefined);
  await resume(killed.service);
  expect(await everythingOf(killed)).toEqual(await everythingOf(expected));
  await killed.close();
  await expected.close();
});
