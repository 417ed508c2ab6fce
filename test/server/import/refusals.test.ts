import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dump } from '../../support/dump.ts';
import { PDF, PNG } from '../../support/files.ts';
import { big, NOWHERE, ORGANIZATION, OTHER_ORGANIZATION, PATIENTS, PROVIDERS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { sharedService } from '../../support/service.ts';
import { places, placesAtOnce, refused } from './importing.ts';

const patient = (id: number, record: Readonly<Record<string, unknown>> = {}) =>
  line('PatientV1', { id, firstName: 'Imported', lastName: 'Patient', ...record });

const tag = (id: number, tagText: string, tagType = 'PAYMENT_TAG') =>
  line('TransactionTagV1', { id, tagText, tagType });

describe('a refused import', () => {
  const service = sharedService(bareRecords);

  it('leaves nothing behind: no record, no token, no file', async () => {
    const before = await dump(service.service);
    const document = line('DocumentV1', { id: 1, name: 'a', mimeType: 'PDF', file: { content: PDF } });
    const token = {
      type: 'AccessToken',
      token: 'token-that-is-new',
      organizations: [ORGANIZATION],
      scopes: ['model:read'],
    };
    const client = {
      type: 'ApiClient',
      clientId: 'new',
      clientSecret: 'secret of sixteen',
      organizations: [ORGANIZATION],
      scopes: [],
    };
    const good = [document, token, client, patient(5), { type: 'Organization', id: 'new', timezone: 'UTC' }];
    expect(await places(service, [...good, patient(6, { firstName: '' })])).toEqual(['6 firstName']);
    expect(await dump(service.service)).toEqual(before);
    expect(await readdir(join(service.path, 'files', 'incoming'))).toEqual([]);
    expect((await service.call('GET', '/patients', { token: 'token-that-is-new' })).status).toBe(401);
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
    [
      'an organization that no line tells of',
      [patient(1), line('Referral', { id: 1 }, 'nosuch'), line('Referral', { id: 2 }, 'nosuch')],
      ['2 organizationId'],
    ],
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
      'a link to what only another organization has, in the same file',
      [
        line('Location', { id: 1, name: 'Here' }),
        line('PatientV1', { id: 1, firstName: 'A', lastName: 'B', preferredLocation: { id: 1 } }, OTHER_ORGANIZATION),
      ],
      ['2 preferredLocation.id'],
    ],
    [
      'a link to what an earlier line has deleted',
      [patient(1), line('PatientV1', { id: 1, deleted: true }), patient(2, { primaryContact: { id: 1 } })],
      ['3 primaryContact.id', '2 id'],
    ],
    [
      'dangling links of several lines',
      [patient(1, { primaryContact: { id: NOWHERE + 1 } }), patient(2, { primaryContact: { id: NOWHERE } })],
      ['1 primaryContact.id', '2 primaryContact.id'],
    ],
    [
      'a dangling link in a list',
      [patient(1, { billingTypes: [{ id: big(61) }, { id: NOWHERE }] })],
      ['1 billingTypes[1].id'],
    ],
    [
      'a local time at a place that there is not',
      [
        line('EventV1', { id: 1, title: 'x', start: '2026-01-15T09:00:00', duration: 5, location: { id: NOWHERE } }),
        line('AppointmentV1', {
          ...{ id: 1, start: '2026-01-15T09:00:00', operatory: { id: NOWHERE } },
          ...{ patient: { id: PATIENTS.ann }, provider: { id: PROVIDERS.ann } },
        }),
      ],
      ['1 location.id', '2 operatory.id'],
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
    [
      'a part of an image that is not in it',
      [
        line('DocumentV1', {
          ...{ id: 1, name: 'a', mimeType: 'PNG' },
          file: { content: PNG, fromX: 0, fromY: 0, width: 2, height: 1, ratio: 1 },
        }),
      ],
      ['1 file.width'],
    ],
    ['an organization without an id', [{ type: 'Organization', timezone: 'UTC' }], ['1 id']],
    ['an organization without a zone', [{ type: 'Organization', id: 'x' }], ['1 timezone']],
    [
      'an organization with a bad id and zone',
      [{ type: 'Organization', id: 'x y', timezone: 'Mars' }],
      ['1 id', '1 timezone'],
    ],
    [
      'an organization with two ids',
      [{ type: 'Organization', id: 'x', organizationId: 'y', timezone: 'UTC' }],
      ['1 organizationId'],
    ],
    [
      'a bad creation date',
      [{ type: 'Organization', id: 'x', timezone: 'UTC', createdDate: '2020-02-30' }],
      ['1 createdDate'],
    ],
    ['a token without scopes', [{ type: 'AccessToken', token: 'x'.repeat(16), organizations: [] }], ['1 scopes']],
    [
      'a token with an unknown scope',
      [{ type: 'AccessToken', token: 'x'.repeat(16), organizations: [], scopes: ['all'] }],
      ['1 scopes[0]'],
    ],
    [
      'a token with spaces',
      [{ type: 'AccessToken', token: 'x and some more of it', organizations: [], scopes: [] }],
      ['1 token'],
    ],
    [
      'a client without a secret',
      [{ type: 'ApiClient', clientId: 'x', organizations: [], scopes: [] }],
      ['1 clientSecret'],
    ],
    [
      'two tags of one type with the same text, beside another problem',
      [tag(1, 'Same'), tag(2, ' same'), patient(1, { gender: 'X' }), tag(3, 'Same', 'ADJUSTMENT_TAG')],
      ['2 tagText', '3 gender'],
    ],
    ['a deletion that is neither true nor false', [patient(1, { deleted: 'yes' })], ['1 deleted']],
    ['a deleted organization that has records', [{ type: 'Organization', id: ORGANIZATION, deleted: true }], ['1 id']],
  ])('names line and field: %s', async (_name, records, expected) => {
    expect(await places(service, records)).toEqual(expected);
    expect(await placesAtOnce(service, records)).toEqual(expected);
  });

  it.each([
    ['PatientV1', ['firstName', 'lastName']],
    ['DocumentV1', ['name', 'mimeType', 'file']],
    ['TransactionTagV1', ['tagText', 'tagType']],
    ['AppointmentV1', ['start', 'patient', 'provider', 'operatory']],
    ['Transaction', ['ledgerType', 'amount', 'transactionDate', 'patient']],
    ['Location', ['name']],
    ['Operatory', ['location']],
    ['PerioExam', ['patient']],
    ['BillingType', ['name']],
    ['InsuranceClaim', ['patient']],
    ['ScheduleTemplateV1', ['location', 'operatory', 'provider', 'dayOfWeek', 'start', 'end']],
  ])('names all that a %s must have', async (type, fields) => {
    const found = await places(service, [line(type, { id: 1 })]);
    expect(found.toSorted()).toEqual(fields.map((field) => `1 ${field}`).toSorted());
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

  it('finds every link that leads nowhere, however many there are', async () => {
    // To a kind with a table of its own and to one without, in turn: they are looked up together.
    const many = Array.from({ length: 130 }, (_, n) =>
      patient(
        n + 1,
        n % 3 === 0 ? { preferredLocation: { id: NOWHERE + n } } : { primaryContact: { id: NOWHERE + n } },
      ),
    );
    await expect(service.import(many)).rejects.toMatchObject({ total: 130 });
    const last = line('Location', { id: NOWHERE, name: 'Late' });
    await expect(service.import([...many, last])).rejects.toMatchObject({ total: 129 });
  });

  it('tells a line without a type from one whose type there is not', async () => {
    const problems = await refused(service, [{ id: 1 }, { type: 7 }, { type: 'Patient' }]);
    expect(problems.map(({ message }) => message.replace(/ Types: .*$/, ''))).toEqual([
      'The line has no type.',
      'The line has no type.',
      'Patient is not a type.',
    ]);
  });

  it('tells an organization that is not named from one that cannot be', async () => {
    const problems = await refused(service, [{ type: 'Referral', id: 1 }, line('Referral', { id: 1 }, 'x y')]);
    expect(problems.map(({ message }) => message)).toEqual([
      'organizationId is required.',
      'organizationId must be 1 to 64 letters, digits, _ and -.',
    ]);
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
