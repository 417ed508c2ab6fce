import sql from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { places } from '../server/import/importing.ts';
import { refusalOf, rowOf } from '../support/calls.ts';
import { LOCATIONS, ORGANIZATION, PATIENTS } from '../support/ids.ts';
import { bareRecords, line } from '../support/practice.ts';
import { sharedService } from '../support/service.ts';

const TOOTH = '\u{1f9b7}';
const patient = { firstName: 'Long', lastName: 'Names' };

/** Lines with one text each: field, the line with it, and what it may have. Ids are above those of the practice. */
const LINES: readonly (readonly [type: string, field: string, most: number, record: (text: string) => object])[] = [
  ['PatientV1', 'firstName', 25, (firstName) => ({ ...patient, firstName })],
  ['PatientV1', 'preferredName', 255, (preferredName) => ({ ...patient, preferredName })],
  ['PatientV1', 'address2', 255, (address2) => ({ ...patient, address2 })],
  ['PatientV1', 'emailAddress', 255, (emailAddress) => ({ ...patient, emailAddress })],
  ['PatientV1', 'phones[0].number', 40, (number) => ({ ...patient, phones: [{ phoneType: 'HOME', number }] })],
  ['Referral', 'name', 255, (name) => ({ name })],
  ['Provider', 'lastName', 255, (lastName) => ({ lastName })],
  ['EventV1', 'description', 10_000, (description) => ({ ...event, description })],
  ['MissedAppointmentV1', 'note', 10_000, (note) => ({ note })],
  ['AppointmentHistoryV1', 'note', 10_000, (note) => ({ note })],
];
const event = { title: 'T', start: '2026-03-02T17:00:00Z', location: { id: LOCATIONS.east } };

describe('texts of an import have the lengths of a POST (contract §8)', () => {
  const service = sharedService(bareRecords);

  it.each(LINES)('%s.%s', async (type, field, most, record) => {
    const imported = (text: string) => [line(type, { id: 77, ...record(text) })];
    await service.import(imported(TOOTH.repeat(most)));
    expect(await places(service, imported(TOOTH.repeat(most + 1)))).toEqual([`1 ${field}`]);
    for (const control of ['\x00', '\x0b', '\x1b', '\x7f', '\x9b']) {
      expect(await places(service, imported(`a${control}b`))).toEqual([`1 ${field}`]);
    }
  });

  it('the name of an organization too', async () => {
    const named = (name: string) => [{ type: 'Organization', id: 'new', timezone: 'UTC', name }];
    await service.import(named('x'.repeat(255)));
    expect(await places(service, named('x'.repeat(256)))).toEqual(['1 name']);
    expect(await places(service, named('a\x1bb'))).toEqual(['1 name']);
  });
});

describe('a server with a limit of its own', () => {
  const service = sharedService(bareRecords, { maxText: 20 });
  const post = (description: string) => service.call('POST', '/events', { body: { ...event, description } });

  it('applies it to free text, sent or imported, and to nothing else', async () => {
    expect((await post(TOOTH.repeat(20))).status).toBe(201);
    expect(refusalOf(await post(TOOTH.repeat(21)))).toMatchObject({
      status: 400,
      errors: ['field.length description'],
    });
    const imported = (description: string) => [line('EventV1', { id: 77, ...event, description })];
    await service.import(imported('x'.repeat(20)));
    expect(await places(service, imported('x'.repeat(21)))).toEqual(['1 description']);
    await service.import([line('PatientV1', { id: 77, ...patient, address2: 'x'.repeat(255) })]);
  });

  it('tells it in the description of the interface', async () => {
    const { text } = await service.call('GET', '//openapi.json', { token: null, organization: null });
    const { schemas } = JSON.parse(text).components;
    expect(schemas.EventCreateV1.properties.description.maxLength).toBe(20);
    expect(schemas.PatientCreateV1.properties.address2.maxLength).toBe(255);
    expect(schemas.PatientCreateV1.properties.firstName.maxLength).toBe(25);
  });
});

describe('a longer text that is stored already', () => {
  const service = sharedService(bareRecords);

  it('stays readable, and a PUT of another field leaves it', async () => {
    const long = `${'x'.repeat(300)}\u001b`;
    await service.service.store.write(async (tx) => {
      const row = await tx.get<{ json: string }>(sql`SELECT json FROM patients WHERE id = ${PATIENTS.ann}
        AND org = (SELECT org FROM organizations WHERE id = ${ORGANIZATION})`);
      const json = JSON.stringify({ ...JSON.parse(row?.json ?? ''), preferredName: long });
      await tx.run(sql`UPDATE patients SET json = ${json} WHERE id = ${PATIENTS.ann}
        AND org = (SELECT org FROM organizations WHERE id = ${ORGANIZATION})`);
    });
    const path = `/patients/${PATIENTS.ann}`;
    expect(rowOf(await service.call('GET', path)).preferredName).toBe(long);
    expect(rowOf(await service.call('PUT', path, { body: { city: 'Boulder' } }))).toMatchObject({
      city: 'Boulder',
      preferredName: long,
    });
    const longer = await service.call('PUT', path, { body: { preferredName: 'y'.repeat(256) } });
    expect(refusalOf(longer)).toMatchObject({ status: 400, errors: ['field.length preferredName'] });
  });
});
