import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idsOf, rowOf } from '../../support/calls.ts';
import { dump } from '../../support/dump.ts';
import { PDF } from '../../support/files.ts';
import {
  big,
  LOCATIONS,
  NOWHERE,
  OPERATORIES,
  ORGANIZATION,
  OTHER_ORGANIZATION,
  PATIENTS,
  PROVIDERS,
} from '../../support/ids.ts';
import { allRecords, bareRecords, line, organizationRecords } from '../../support/practice.ts';
import { sharedService, testService } from '../../support/service.ts';
import { places, refused } from './importing.ts';

const patient = (id: number, record: Readonly<Record<string, unknown>> = {}) =>
  line('PatientV1', { id, firstName: 'Imported', lastName: 'Patient', ...record });
const visit = (id: number, record: Readonly<Record<string, unknown>> = {}) =>
  line('AppointmentV1', {
    id,
    start: '2026-01-15T09:00:00',
    patient: { id: PATIENTS.ann },
    provider: { id: PROVIDERS.ann },
    operatory: { id: OPERATORIES.one },
    ...record,
  });

describe('an import', () => {
  it('gives the same result in any order of its lines (property)', async () => {
    const local = [
      visit(big(3001)),
      visit(big(3002), { operatory: { id: OPERATORIES.three } }),
      patient(big(3003), { firstVisitDate: '2026-01-15T09:00:00' }),
      patient(big(3004), { referredByPatient: { id: PATIENTS.ann }, primaryGuarantor: { id: big(3003) } }),
    ];
    // References to a location of another zone come with the other organization's own lines.
    const records = [...allRecords(), ...local];
    const first = await testService(records);
    const expected = await dump(first.service);
    await first.close();
    expect(expected.patients?.length).toBeGreaterThan(5);
    const orders = fc.shuffledSubarray(records, { minLength: records.length });
    await fc.assert(
      fc.asyncProperty(orders, async (shuffled) => {
        const service = await testService(shuffled);
        const found = await dump(service.service).finally(service.close);
        expect(found).toEqual(expected);
      }),
      { numRuns: 8, examples: [[records.toReversed()]], endOnFailure: true },
    );
  });

  it('gives the same result when it is done twice', async () => {
    const service = await testService();
    const once = await dump(service.service);
    await service.import(allRecords());
    expect(await dump(service.service)).toEqual(once);
    await service.close();
  });

  it('counts what it did', async () => {
    const service = await testService([]);
    const summary = await service.import([...bareRecords(), line('Referral', { id: 1, deleted: true })]);
    expect(summary).toEqual({
      imported: {
        Organization: 2,
        AccessToken: 8,
        Location: 5,
        Provider: 5,
        Operatory: 4,
        PatientV1: 4,
        PerioExam: 3,
        Referral: 3,
        DiscountPlan: 2,
        BillingType: 4,
        InsuranceClaim: 3,
      },
      deleted: 1,
    });
    await service.close();
  });
});

describe('a refused import', () => {
  const service = sharedService(bareRecords);

  it('leaves nothing behind: no record, no token, no file', async () => {
    const before = await dump(service.service);
    const document = line('DocumentV1', { id: 1, name: 'a', mimeType: 'PDF', file: { content: PDF } });
    const token = { type: 'AccessToken', token: 'new', organizations: [ORGANIZATION], scopes: ['model:read'] };
    const client = {
      type: 'ApiClient',
      clientId: 'new',
      clientSecret: 'secret',
      organizations: [ORGANIZATION],
      scopes: [],
    };
    const good = [document, token, client, patient(5), { type: 'Organization', id: 'new', timezone: 'UTC' }];
    expect(await places(service, [...good, patient(6, { firstName: '' })])).toEqual(['6 firstName']);
    expect(await dump(service.service)).toEqual(before);
    expect(await readdir(join(service.path, 'files', 'incoming'))).toEqual([]);
    expect((await service.call('GET', '/patients', { token: 'new' })).status).toBe(401);
  });

  it.each<[string, readonly Readonly<Record<string, unknown>>[], string[]]>([
    ['no type', [{ id: 1 }], ['1 type']],
    ['an unknown type', [{ type: 'Patient', organizationId: ORGANIZATION, id: 1 }], ['1 type']],
    ['a type that every object has', [{ type: 'toString', organizationId: ORGANIZATION, id: 1 }], ['1 type']],
    ['no id and no organization', [{ type: 'Referral' }], ['1 id', '1 organizationId']],
    [
      'an id that is none',
      [line('Referral', { id: 'x' }), line('Referral', { id: 0 }), line('Referral', { id: 2 ** 53 })],
      ['1 id', '2 id', '3 id'],
    ],
    ['an organization that no line tells of', [line('Referral', { id: 1 }, 'nosuch')], ['1 organizationId']],
    ['an unknown field', [patient(1, { surname: 'x' })], ['1 surname']],
    ['a field of another kind', [patient(1, { production: { amount: 5 } })], ['1 production']],
    [
      'several bad values of a line',
      [patient(1, { gender: 'X', postalCode: '1', phones: [{ phoneType: 'HOME' }] })],
      ['1 gender', '1 postalCode', '1 phones[0].number'],
    ],
    ['a missing name', [line('PatientV1', { id: 1, firstName: 'A' })], ['1 lastName']],
    ['a dangling link', [patient(1, { preferredLocation: { id: NOWHERE } })], ['1 preferredLocation.id']],
    [
      'a link into another organization',
      [patient(1, { preferredLocation: { id: big(905) } })],
      ['1 preferredLocation.id'],
    ],
    [
      'a dangling link in a list',
      [patient(1, { billingTypes: [{ id: big(61) }, { id: NOWHERE }] })],
      ['1 billingTypes[1].id'],
    ],
    ['a dangling link of a reference', [line('Operatory', { id: 1, location: { id: NOWHERE } })], ['1 location.id']],
    [
      'a phone sequence twice',
      [patient(1, { phones: [1, 1].map((sequence) => ({ phoneType: 'HOME', number: '1', sequence })) })],
      ['1 phones[1].sequence'],
    ],
    ['a discount without its plan', [patient(1, { discountType: 'BASIC' })], ['1 discountPlan']],
    [
      'a document without content',
      [line('DocumentV1', { id: 1, name: 'a', mimeType: 'PDF', file: {} })],
      ['1 file.content'],
    ],
    [
      'a document that is no base64',
      [line('DocumentV1', { id: 1, name: 'a', mimeType: 'PDF', file: { content: '!' } })],
      ['1 file.content'],
    ],
    [
      'a document of another organization',
      [
        line('DocumentV1', {
          id: 1,
          name: 'a',
          mimeType: 'PDF',
          file: { content: PDF },
          ownerOrganization: { id: OTHER_ORGANIZATION },
        }),
      ],
      ['1 ownerOrganization.id'],
    ],
    [
      'an image that is none',
      [line('DocumentV1', { id: 1, name: 'a', mimeType: 'PNG', file: { content: PDF } })],
      ['1 file.content'],
    ],
    ['an organization without a zone', [{ type: 'Organization', id: 'x' }], ['1 timezone']],
    [
      'an organization with a bad id and zone',
      [{ type: 'Organization', id: 'x y', timezone: 'Mars' }],
      ['1 id', '1 timezone'],
    ],
    [
      'a bad creation date',
      [{ type: 'Organization', id: 'x', timezone: 'UTC', createdDate: '2020-02-30' }],
      ['1 createdDate'],
    ],
    ['a token without scopes', [{ type: 'AccessToken', token: 'x', organizations: [] }], ['1 scopes']],
    [
      'a token with an unknown scope',
      [{ type: 'AccessToken', token: 'x', organizations: [], scopes: ['all'] }],
      ['1 scopes[0]'],
    ],
    ['a token with spaces', [{ type: 'AccessToken', token: 'x y', organizations: [], scopes: [] }], ['1 token']],
    [
      'a client without a secret',
      [{ type: 'ApiClient', clientId: 'x', organizations: [], scopes: [] }],
      ['1 clientSecret'],
    ],
    ['a deletion that is neither true nor false', [patient(1, { deleted: 'yes' })], ['1 deleted']],
    ['a deleted organization that has records', [{ type: 'Organization', id: ORGANIZATION, deleted: true }], ['1 id']],
  ])('names line and field: %s', async (_name, records, expected) => {
    expect(await places(service, records)).toEqual(expected);
  });

  it('counts lines from 1 and reports them in order of reading', async () => {
    const records = [
      patient(1),
      patient(2, { gender: 'X' }),
      patient(3),
      patient(4, { primaryContact: { id: NOWHERE } }),
    ];
    expect(await places(service, records)).toEqual(['2 gender', '4 primaryContact.id']);
  });

  it('never repeats a token or a secret', async () => {
    const problems = await refused(service, [
      { type: 'AccessToken', token: 'hush hush', organizations: 'x', scopes: ['hush'] },
      { type: 'ApiClient', clientId: 'x', clientSecret: ['hush'], organizations: [], scopes: [] },
    ]);
    expect(problems.length).toBeGreaterThan(2);
    expect(JSON.stringify(problems)).not.toContain('hush');
  });

  it('lists the first problems and counts all of them', async () => {
    const many = Array.from({ length: 200 }, (_, n) => patient(n + 1, { gender: 'X' }));
    await expect(service.import(many)).rejects.toMatchObject({
      total: 200,
      message: 'The import has 200 problems; nothing was imported.',
    });
    expect((await refused(service, many)).length).toBe(50);
  });
});

describe('upserts', () => {
  it('replace the whole record', async () => {
    const service = await testService();
    await service.import([patient(PATIENTS.bob)]);
    const row = rowOf(await service.call('GET', `/patients/${PATIENTS.bob}`));
    expect(row).toMatchObject({
      firstName: 'Imported',
      phones: [],
      chartNumber: null,
      primaryGuarantor: { id: PATIENTS.bob },
    });
    expect(row.lastModified).toBe(service.clock.text());
    expect(idsOf(await service.call('GET', '/patients', { query: { filter: 'phones.number==18015550101' } }))).toEqual(
      [],
    );
    await service.close();
  });

  it('keep the dates they bring, and otherwise take the time of import', async () => {
    const service = await testService(bareRecords());
    await service.import([
      patient(1, { lastModified: '2020-05-05T05:05:05Z', firstVisitDate: '2019-01-01T00:00:00Z' }),
      patient(2),
    ]);
    const [first, second] = [
      rowOf(await service.call('GET', '/patients/1')),
      rowOf(await service.call('GET', '/patients/2')),
    ];
    expect(first).toMatchObject({
      lastModified: '2020-05-05T05:05:05.000Z',
      firstVisitDate: '2019-01-01T00:00:00.000Z',
    });
    expect(second).toMatchObject({ lastModified: service.clock.text(), firstVisitDate: null });
    await service.close();
  });

  it('keep organizations apart', async () => {
    const service = await testService([...organizationRecords(), ...bareRecords()]);
    await service.import([
      line('PatientV1', { id: PATIENTS.ann, firstName: 'Other', lastName: 'One' }, OTHER_ORGANIZATION),
    ]);
    expect(rowOf(await service.call('GET', `/patients/${PATIENTS.ann}`))).toMatchObject({
      firstName: 'ann',
      preferredLocation: { id: LOCATIONS.east },
    });
    await service.close();
  });
});
