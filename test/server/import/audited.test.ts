import { expect, it } from 'vitest';
import { patientPages } from '../../../src/server/audit/patienttrail.ts';
import { type Entry, entriesOf, storedEntries } from '../../contract/trail.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, PATIENTS } from '../../support/ids.ts';
import { bareRecords, line, organizationRecords } from '../../support/practice.ts';
import { sharedService, testService } from '../../support/service.ts';

const service = sharedService(bareRecords);

type Line = Readonly<Record<string, unknown>>;

const person = (id: number, organization?: string, more: Line = {}) =>
  line('PatientV1', { id, firstName: 'Imported', lastName: `P${id}`, ...more }, organization);

const claim = (id: number, patient: number) => line('InsuranceClaim', { id, patient: { id: patient } });

const missed = (id: number, patient: number) => line('MissedAppointmentV1', { id, patient: { id: patient } });

/** The entries of the import itself: one for each organization. */
async function imported(lines: readonly Line[]): Promise<Entry[]> {
  const entries = await entriesOf(service, () => service.import(lines));
  return entries.filter(({ operation }) => operation === 'server.import');
}

/** What `audit patient` finds for an organization, and who did it. */
async function found(patient: number, org: number): Promise<string[]> {
  const told: string[] = [];
  for await (const page of patientPages(service.service.store.read, patient, { org })) {
    told.push(...page.map(({ operation, who }) => `${operation} ${who.split(' ')[0]}`));
  }
  return told;
}

const IMPORTED = 'server.import command';

it('names the patients whose data it brought, of each organization by itself', async () => {
  const lines = [person(401), person(402), person(403), person(90_001), person(402, OTHER_ORGANIZATION)];
  const [near, far, ...more] = await imported(lines);
  expect(more).toEqual([]);
  expect(near).toMatchObject({ org: 1, ids: [], patients: [401, 402, 403, 90_001], record_count: 4, covers_all: null });
  expect(far).toMatchObject({ org: 2, patients: [402], record_count: 1 });
  // Another test's import to the other organization may have told of everybody there.
  const everybody = await found(404, 2);
  expect([await found(403, 1), await found(403, 2)]).toEqual([[IMPORTED], everybody]);
  expect([await found(402, 1), await found(402, 2)]).toEqual([[IMPORTED], [IMPORTED, ...everybody]]);
  expect(await found(404, 1)).toEqual([]);
});

it('names both patients when a record goes from one to another, and the one of what is deleted', async () => {
  const { ann, bob, cleo } = PATIENTS;
  const [first] = await imported([missed(71, ann), missed(72, bob)]);
  expect(first?.patients).toEqual([ann, bob].sort((a, b) => a - b));
  const [moved] = await imported([missed(71, cleo)]);
  expect(moved?.patients).toEqual([ann, cleo].sort((a, b) => a - b));
  const [gone] = await imported([line('MissedAppointmentV1', { id: 72, deleted: true })]);
  expect(gone?.patients).toEqual([bob]);
});

it('names the patient of a claim, which no list has', async () => {
  const { ann, bob } = PATIENTS;
  const [made] = await imported([claim(801, ann)]);
  expect(made?.patients).toEqual([ann]);
  const [moved] = await imported([claim(801, bob)]);
  expect(moved?.patients).toEqual([ann, bob].sort((a, b) => a - b));
  const [gone] = await imported([line('InsuranceClaim', { id: 801, deleted: true })]);
  expect(gone?.patients).toEqual([bob]);
});

it('names nobody when it changed nothing', async () => {
  const lines = [person(411)];
  await imported(lines);
  const [again] = await imported(lines);
  expect(again).toMatchObject({ patients: [], covers_all: null, record_count: 1 });
});

it('names very many that are neighbours, and everybody where they are too many to be named', async () => {
  // Long runs of new records are told of by the database itself.
  const row = Array.from({ length: 2500 }, (_, n) => person(500_001 + n));
  const [near] = await imported(row);
  expect(near?.covers_all).toBeNull();
  expect(near?.patients).toEqual(row.map(({ id }) => id));
  expect(await found(502_501, 1)).toEqual([]);
  const scattered = Array.from({ length: 2001 }, (_, n) => person(600_000 + n * 3, OTHER_ORGANIZATION));
  const [far] = await imported(scattered);
  expect(far).toMatchObject({ org: 2, patients: [], covers_all: 1, record_count: 2001 });
  expect(await found(600_001, 2)).toContain(IMPORTED);
  expect(await found(600_001, 1)).toEqual([]);
});

it('names the patients of each organization that comes with it into a store without any', async () => {
  const lines = [...organizationRecords(), person(5), person(9), person(5)];
  const more = [line('Location', { id: 3, name: 'Nobody' }), person(7, OTHER_ORGANIZATION)];
  const fresh = await testService([...lines, ...more]);
  const own = (await storedEntries(fresh)).filter(({ operation }) => operation === 'server.import');
  expect(own).toMatchObject([
    { org: 1, patients: [5, 9], record_count: 4 },
    { org: 2, patients: [7], record_count: 1 },
  ]);
  await fresh.close();
});

it('is one entry without an organization when no line is of one', async () => {
  const entries = await imported([{ type: 'Organization', id: ORGANIZATION, timezone: 'UTC' }]);
  expect(entries).toMatchObject([{ org: null, patients: [], record_count: 1 }]);
  // The first import of a store is one in a single transaction.
  const gone = { type: 'AccessToken', token: 'token-that-was-there', deleted: true };
  const fresh = await testService([{ type: 'Organization', id: ORGANIZATION, timezone: 'UTC' }, gone]);
  const own = (await storedEntries(fresh)).filter(({ operation }) => operation === 'server.import');
  expect(own).toMatchObject([{ org: null, patients: [], record_count: 2 }]);
  await fresh.close();
  expect((await storedEntries(service)).at(-1)?.operation).toBe('server.import');
});
