import { expect, it } from 'vitest';
import { writeCommand } from '../../src/server/audit/commands.ts';
import { patientPages } from '../../src/server/audit/patienttrail.ts';
import { deleteOldEntries } from '../../src/server/audit/retention.ts';
import { OTHER_ORGANIZATION, PATIENTS, TOKENS } from '../support/ids.ts';
import { bareRecords, line } from '../support/practice.ts';
import { type TestService, testService } from '../support/service.ts';
import { cases } from '../support/store.ts';
import { some } from './probes.ts';
import { type Entry, storedEntries } from './trail.ts';

type Range = Parameters<typeof patientPages>[2];

/** What `audit patient` finds. */
async function found({ service }: TestService, patient: number, range: Range = {}): Promise<number[]> {
  const ids: number[] = [];
  await service.store.sequenceEntries();
  for await (const page of patientPages(service.store.read, patient, range)) ids.push(...page.map(({ id }) => id));
  return ids;
}

/** The same from the whole log: the entries that name the patient, and those of everything. */
function expected(all: readonly Entry[], patient: number, { org, from = '', to = '9' }: Range = {}) {
  return all
    .filter((entry) => org === undefined || entry.org === org || (entry.org === null && entry.covers_all !== null))
    .filter(({ at }) => at >= from && at < to)
    .filter(
      ({ patients, ids, operation, covers_all }) =>
        covers_all !== null ||
        patients.includes(patient) ||
        (operation.startsWith('patients.') && ids.includes(patient)),
    )
    .map(({ id }) => id);
}

/** Ids that share blocks of 64 with others, at their edges and across them. */
const CROWD = [1, 2, 63, 64, 65, 127, 128, 129, 1000, 1001, ...Array.from({ length: 80 }, (_, n) => 5000 + n * 3)];

function crowd(): Readonly<Record<string, unknown>>[] {
  const of = (organization: string) =>
    CROWD.map((id) => line('PatientV1', { id, firstName: `P${id}`, lastName: 'Crowd' }, organization));
  return [...bareRecords(), ...of('5f0c1e2d3a4b5c6d7e8f9a0b'), ...of(OTHER_ORGANIZATION)];
}

it('finds by an index what the whole log tells of a patient', async () => {
  const service = await testService(crowd());
  const get = (path: string, query = {}, token: string = TOKENS.full) => service.call('GET', path, { query, token });
  const there = { token: TOKENS.other, organization: OTHER_ORGANIZATION };
  await get('/patients', { pageSize: 500, lastId: 0 });
  await get('/patients', { pageSize: 3, lastId: 0 });
  await get('/patients', { filter: 'id->[1,64,5003]' });
  for (const id of [1, 64, 65, 5003]) await get(`/patients/${id}`);
  service.clock.advance(60_000);
  const noon = service.clock.text();
  await service.call('GET', '/patients/64', there);
  await service.call('GET', '/patients', { ...there, query: { pageSize: 500, lastId: 0 } });
  await service.call('PUT', '/patients/64', { body: { firstName: 'New' } });
  await writeCommand(service.service, { operation: 'server.backup', all: true });
  await writeCommand(service.service, { operation: 'audit.export', org: 2, all: true });
  // Not of a patient, though the number is the same.
  await writeCommand(service.service, { operation: 'audit.patient', ids: [64] });
  const all = await storedEntries(service);
  let total = 0;
  const asked = [...CROWD.slice(0, 10), ...some(CROWD.slice(10), cases(CROWD.length, 8))];
  for (const patient of [...asked, PATIENTS.ann, 3, 66, 5001, 999_999_999]) {
    for (const range of [{}, { org: 1 }, { org: 2 }, { from: noon }, { org: 1, to: noon }]) {
      const entries = await found(service, patient, range);
      expect(entries, `${patient} ${JSON.stringify(range)}`).toEqual(expected(all, patient, range));
      total += entries.length;
    }
  }
  expect(total).toBeGreaterThan(asked.length * 10);
  await service.close();
});

it('has no row left of entries that retention has deleted', async () => {
  const service = await testService(crowd());
  const rows = async () => {
    const text = 'SELECT DISTINCT entry FROM audit_patients ORDER BY entry';
    const all = await service.service.store.read.all<{ entry: number }>({ sql: text, text, values: [] });
    return all.map(({ entry }) => entry);
  };
  await service.call('GET', '/patients', { query: { pageSize: 500, lastId: 0 } });
  await service.call('GET', '/patients/64');
  service.clock.advance(10 * 86_400_000);
  await service.call('GET', '/patients/65');
  const last = (await storedEntries(service)).at(-1)?.id;
  expect((await rows()).length).toBeGreaterThan(2);
  await deleteOldEntries(service.service.store, service.keeper, service.clock.now, 5);
  expect(await rows()).toEqual([last]);
  await service.close();
});
