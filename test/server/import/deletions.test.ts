import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { idsOf, rowOf, type WireRecord } from '../../support/calls.ts';
import { dump } from '../../support/dump.ts';
import { PDF } from '../../support/files.ts';
import {
  EXAMS,
  LOCATIONS,
  OPERATORIES,
  ORGANIZATION,
  OTHER_ORGANIZATION,
  PATIENTS,
  PROVIDERS,
  TOKENS,
} from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { places, placesAtOnce, refused } from './importing.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords(), { fileRetentionDays: 0 });
});
afterEach(() => service.close());

const gone = (type: string, id: number) => line(type, { id, deleted: true });
const patient = (id: number, record: WireRecord = {}) =>
  line('PatientV1', { id, firstName: 'Imported', lastName: 'Patient', ...record });

describe('deletions', () => {
  it('take a record out, and deleting it again changes nothing', async () => {
    expect(await service.import([gone('PatientV1', PATIENTS.cleo)])).toEqual({ imported: {}, deleted: 1 });
    expect((await service.call('GET', `/patients/${PATIENTS.cleo}`)).status).toBe(404);
    await service.import([gone('PatientV1', PATIENTS.cleo)]);
    expect(idsOf(await service.call('GET', '/patients'))).toEqual([PATIENTS.ann, PATIENTS.bob]);
  });

  it('of tokens and clients are counted like those of records', async () => {
    const scopes = ['model:read'];
    const client = {
      type: 'ApiClient',
      clientId: 'a',
      clientSecret: 'b'.repeat(16),
      organizations: [ORGANIZATION],
      scopes,
    };
    expect(await service.import([client])).toEqual({ imported: { ApiClient: 1 }, deleted: 0 });
    const lines = [
      { type: 'ApiClient', clientId: 'a', deleted: true },
      { type: 'AccessToken', token: 'c', deleted: true },
    ];
    expect(await service.import(lines)).toEqual({ imported: {}, deleted: 2 });
  });

  it('are refused while another record links to what would go', async () => {
    const problems = await refused(service, [
      patient(1),
      gone('PatientV1', PATIENTS.ann),
      gone('Location', LOCATIONS.east),
    ]);
    const text = problems.map((problem) => `${problem.line} ${problem.field} ${problem.message}`).join('\n');
    expect(text).toContain(
      `2 id PatientV1 ${PATIENTS.ann} cannot be deleted: PerioExam ${EXAMS.one} links to it by patient.`,
    );
    expect(text).toContain(
      `3 id Location ${LOCATIONS.east} cannot be deleted: PatientV1 ${PATIENTS.bob} links to it by preferredLocation.`,
    );
    expect((await service.call('GET', '/patients/1')).status).toBe(404);
  });

  it('are refused for a link of the last of very many records', async () => {
    const own = line('Location', { id: 4, name: 'Fourth' });
    const many = Array.from({ length: 1001 }, (_, n) => patient(n + 1));
    const linked = (id: number) => patient(id, { preferredLocation: { id: 4 } });
    await service.import([own, ...many, linked(501), linked(1001)]);
    // Those that are there and those of the import are named in one order.
    const problems = await refused(service, [linked(700), linked(400), gone('Location', 4)]);
    expect(problems.map(({ message }) => message)).toEqual(
      [400, 501, 700, 1001].map(
        (id) => `Location 4 cannot be deleted: PatientV1 ${id} links to it by preferredLocation.`,
      ),
    );
  });

  it('are not refused for a link to a record of another kind with that id', async () => {
    await service.import([
      line('Provider', { id: 4, lastName: 'Four' }),
      patient(4),
      patient(5, { primaryProvider: { id: 4 } }),
    ]);
    for (const records of [[gone('PatientV1', 4)], [patient(4, { primaryProvider: { id: 4 } }), gone('Referral', 4)]])
      expect(await service.import(records)).toMatchObject({ deleted: 1 });
  });

  it('may come with the deletion of what links to it, in any order', async () => {
    await service.import([
      patient(1),
      patient(2, { primaryGuarantor: { id: 1 } }),
      patient(3, { primaryContact: { id: 2 } }),
    ]);
    await service.import([gone('PatientV1', 1), gone('PatientV1', 3), gone('PatientV1', 2)]);
    expect(idsOf(await service.call('GET', '/patients'))).toEqual(Object.values(PATIENTS));
  });

  it('may come with a line that ends the link', async () => {
    await service.import([patient(1), patient(2, { primaryGuarantor: { id: 1 } })]);
    await service.import([gone('PatientV1', 1), patient(2)]);
    expect(rowOf(await service.call('GET', '/patients/2'))).toMatchObject({ primaryGuarantor: { id: 2 } });
  });

  it('are refused when a line of the same import links to what goes', async () => {
    const [went, links] = [gone('PatientV1', PATIENTS.cleo), patient(2, { primaryContact: { id: PATIENTS.cleo } })];
    for (const [records, wrong] of [
      [
        [went, links],
        ['1 id', '2 primaryContact.id'],
      ],
      // The link led somewhere when it was read.
      [[links, went], ['2 id']],
    ] as const) {
      expect((await places(service, records)).toSorted()).toEqual(wrong);
      expect((await placesAtOnce(service, records)).toSorted()).toEqual(wrong);
      expect((await service.call('GET', '/patients/2')).status).toBe(404);
    }
  });

  it('may be taken back by a later line, or be of what a record has outlived', async () => {
    const visit = line('AppointmentV1', {
      ...{ id: 7, start: '2026-01-15T09:00:00Z', operatory: { id: OPERATORIES.one } },
      ...{ patient: { id: PATIENTS.ann }, provider: { id: PROVIDERS.ann } },
    });
    const missed = line('MissedAppointmentV1', { id: 8, patient: { id: PATIENTS.ann }, appointment: { id: 7 } });
    await service.import([visit, missed]);
    const east = line('Location', { id: LOCATIONS.east, name: 'East' });
    await service.import([gone('AppointmentV1', 7), gone('Location', LOCATIONS.east), east]);
    expect(rowOf(await service.call('GET', '/missedappointments/8'))).toMatchObject({ appointment: { id: 7 } });
  });

  it('do not touch the other organization', async () => {
    const shared = { id: 77, firstName: 'Shared', lastName: 'Id' };
    await service.import([line('PatientV1', shared), line('PatientV1', shared, OTHER_ORGANIZATION)]);
    await service.import([gone('PatientV1', 77)]);
    const other = await service.call('GET', '/patients/77', { organization: OTHER_ORGANIZATION, token: TOKENS.other });
    expect(other.status).toBe(200);
  });

  it('are refused in the organization that has a link, though another deletes its record of that id', async () => {
    const both = [ORGANIZATION, OTHER_ORGANIZATION];
    await service.import(both.map((id) => line('Location', { id: 4, name: 'Fourth' }, id)));
    await service.import([patient(1, { preferredLocation: { id: 4 } })]);
    for (const order of [both, both.toReversed()]) {
      const records = order.map((id) => line('Location', { id: 4, deleted: true }, id));
      const wrong = [`${order.indexOf(ORGANIZATION) + 1} id`];
      expect(await places(service, records)).toEqual(wrong);
      expect(await placesAtOnce(service, records)).toEqual(wrong);
    }
  });

  it('take the file of a document with it', async () => {
    await service.import([
      line('DocumentV1', { id: 9, name: 'a', mimeType: 'PDF', tags: ['T'], file: { content: PDF } }),
    ]);
    const { guidName } = rowOf(await service.call('GET', '/documents/9'));
    const file = join(service.path, 'files', String(guidName).slice(0, 2), `${guidName}-original`);
    await access(file);
    await service.import([gone('DocumentV1', 9)]);
    await expect(access(file)).rejects.toThrow('ENOENT');
    expect((await dump(service.service)).document_tags).toEqual([]);
  });
});

describe('referred patients', () => {
  const referredBy = async (id: number) => rowOf(await service.call('GET', `/patients/${id}`)).referredPatients;
  const link = (id: number) => ({ referredByPatient: { id } });

  it('follow imports, whichever of the two comes first or comes again', async () => {
    await service.import([patient(2, link(1)), patient(1), patient(3, link(1))]);
    expect(await referredBy(1)).toEqual([{ id: 2 }, { id: 3 }]);
    await service.import([patient(1)]);
    expect(await referredBy(1)).toEqual([{ id: 2 }, { id: 3 }]);
    await service.import([patient(2, link(3))]);
    expect([await referredBy(1), await referredBy(3)]).toEqual([[{ id: 3 }], [{ id: 2 }]]);
    await service.import([patient(2)]);
    expect(await referredBy(3)).toEqual([]);
  });

  it.each<[string, readonly WireRecord[], readonly number[]]>([
    ['what the referrals say, not what a line says', [patient(1, { referredPatients: [{ id: PATIENTS.bob }] })], []],
    ['those whose last line says so', [patient(2, link(1)), patient(1), patient(2), patient(3, link(1))], [3]],
    ['none that is deleted', [patient(1), patient(2, link(1)), patient(3, link(1)), gone('PatientV1', 2)], [3]],
  ])('are %s, at once and in parts', async (_name, lines, expected) => {
    const fresh = await testService([...bareRecords(), ...lines]);
    await service.import(lines);
    for (const each of [fresh, service]) {
      const { referredPatients } = rowOf(await each.call('GET', '/patients/1'));
      expect(referredPatients).toEqual(expected.map((id) => ({ id })));
    }
    await fresh.close();
  });

  it('do not keep a patient from being deleted', async () => {
    await service.import([patient(1), patient(2, link(1))]);
    await service.import([gone('PatientV1', 2)]);
    expect(await referredBy(1)).toEqual([]);
    await service.import([patient(2, link(1))]);
    expect(await places(service, [gone('PatientV1', 1)])).toEqual(['1 id']);
  });
});
