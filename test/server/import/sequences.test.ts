import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rowOf, type WireRecord } from '../../support/calls.ts';
import { PDF } from '../../support/files.ts';
import { big, LOCATIONS, PATIENTS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { refused } from './importing.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords());
});
afterEach(() => service.close());

const gone = (type: string, id: number) => line(type, { id, deleted: true });
const patient = (id: number, record: WireRecord = {}) =>
  line('PatientV1', { id, firstName: 'Imported', lastName: 'Patient', ...record });

describe('sequences', () => {
  const body = {
    firstName: 'New',
    lastName: 'Patient',
    contactMethod: 'Call me',
    languageType: 'English',
    patientStatus: 'NEW',
    gender: 'O',
    dateOfBirth: '2000-01-01',
    preferredLocation: { id: LOCATIONS.east },
    address1: '1 Main St',
    city: 'Denver',
    state: 'CO',
    postalCode: '80014',
  };
  const created = async () => rowOf(await service.call('POST', '/patients', { body })).id;

  it('are above every id that ever was, deleted ones too (D15)', async () => {
    await service.import([patient(big(5000))]);
    expect(await created()).toBe(big(5001));
    await service.import([gone('PatientV1', big(5001)), gone('PatientV1', big(5000))]);
    expect(await created()).toBe(big(5002));
    await service.import([patient(12), gone('PatientV1', big(6000))]);
    expect(await created()).toBe(big(6001));
    await service.import([patient(13)]);
    expect(await created()).toBe(big(6002));
  });

  it('are above the ids of a first import, too, and of an organization that another one brings', async () => {
    const there = [
      { type: 'Organization', id: 'next', timezone: 'UTC' },
      { type: 'AccessToken', token: 'token-of-the-next', organizations: ['next'], scopes: ['model:write'] },
      line('Location', { id: LOCATIONS.east, name: 'There' }, 'next'),
      line('PatientV1', { id: 5000, deleted: true }, 'next'),
      line('PatientV1', { id: 12, firstName: 'A', lastName: 'B' }, 'next'),
    ];
    const fresh = await testService([...bareRecords(), ...there]);
    await service.import(there);
    for (const each of [fresh, service]) {
      const call = { body, organization: 'next', token: 'token-of-the-next' };
      expect(rowOf(await each.call('POST', '/patients', call)).id).toBe(5001);
    }
    await fresh.close();
  });

  it('are not moved by an import that is refused', async () => {
    const first = Number(await created());
    await refused(service, [patient(big(70_000)), patient(1, { gender: 'X' })]);
    expect(await created()).toBe(first + 1);
  });

  it('start at 1, and each organization and type has its own', async () => {
    const made = rowOf(
      await service.call('POST', '/documents', {
        body: { name: 'a', mimeType: 'PDF', file: { content: PDF }, ownerPatient: { id: PATIENTS.ann } },
      }),
    );
    expect(made.id).toBe(1);
  });
});
