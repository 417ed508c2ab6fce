import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idsOf, rowOf, rowsOf, type WireRecord } from '../../support/calls.ts';
import {
  LOCATIONS,
  OPERATORIES,
  ORGANIZATION,
  OTHER_ORGANIZATION,
  PATIENTS,
  PROVIDERS,
  TOKENS,
} from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { patientFixture } from '../../support/resources/patients.ts';
import { type TestService, testService } from '../../support/service.ts';
import { post } from './documentsof.ts';

const PRACTICES = [ORGANIZATION, OTHER_ORGANIZATION] as const;

let service: TestService;

/** Gives a group of tests a service of its own. */
function ownService(): void {
  beforeAll(async () => {
    const there = (type: string, record: WireRecord) => line(type, record, OTHER_ORGANIZATION);
    service = await testService([
      ...bareRecords(),
      ...Object.values(PATIENTS).map((id) => there('PatientV1', { id, firstName: 'Same', lastName: 'Id' })),
      there('Provider', { id: PROVIDERS.ann, firstName: 'Same', lastName: 'Id' }),
      there('Operatory', { id: OPERATORIES.one, name: 'Same', location: { id: LOCATIONS.east } }),
    ]);
  });
  afterAll(() => service.close());
}

/** Calls the API for one of the practices. */
const calling = (organization: string) => (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token: TOKENS.both, organization, ...(body !== undefined && { body }) });
const [here, there] = [calling(ORGANIZATION), calling(OTHER_ORGANIZATION)];

/** The service as documents are posted to it for one of the practices. */
const of = (organization: string): TestService => ({
  ...service,
  call: (method, path, options) => service.call(method, path, { ...options, token: TOKENS.both, organization }),
});

describe.each([
  ['the first', ORGANIZATION, OTHER_ORGANIZATION],
  ['the second', OTHER_ORGANIZATION, ORGANIZATION],
])('of two practices with the same ids %s', (_name, own, other) => {
  ownService();

  it.each([{}, { ownerPatient: { id: PATIENTS.ann } }])(
    'numbers no document for those of the other: %j',
    async (owner) => {
      // There it has another id than here.
      await post(of(other), { ...owner, name: 'first' });
      for (const each of [other, own]) expect(rowOf(await post(of(each), owner)).name).toBe('paper.pdf');
    },
  );

  it('writes tags in its own letter case, and keeps and drops them by its own documents', async () => {
    const tagged = async (organization: string, tag: string) =>
      rowOf(await post(of(organization), { name: 'tagged', tags: [tag] }));
    await tagged(other, 'XRAY');
    const kept = await tagged(other, 'Kept');
    await calling(other)('PUT', `/documents/${kept.id}`, { tags: [] });
    const { id, tags } = await tagged(own, 'xRay');
    expect(tags).toEqual(['xRay']);
    await calling(own)('DELETE', `/documents/${id}`);
    expect((await tagged(own, 'Xray')).tags).toEqual(['Xray']);
    // Nothing uses it there, and nobody has deleted a document there.
    expect((await tagged(other, 'KEPT')).tags).toEqual(['Kept']);
  });

  it('has referrals of its own', async () => {
    let id: unknown;
    for (const each of [other, own]) {
      const make = async (n: number, more: WireRecord = {}) =>
        rowOf(await calling(each)('POST', '/patients', { ...patientFixture.create?.(n), ...more }));
      // Of the other practice two, so that their ids differ.
      if (each === other) await make(1);
      ({ id } = await make(2, { referredByPatient: { id: PATIENTS.ann } }));
    }
    const { referredPatients } = rowOf(await calling(own)('GET', `/patients/${PATIENTS.ann}`));
    expect(referredPatients).toEqual([{ id }]);
  });

  it('knows the last visits of its own patients, on its own days', async () => {
    const visit = (organization: string, id: number, start: string) =>
      line(
        'AppointmentV1',
        {
          ...{ id, start, status: 'COMPLETED', patient: { id: PATIENTS.ann }, provider: { id: PROVIDERS.ann } },
          operatory: { id: OPERATORIES.one },
        },
        organization,
      );
    const procedure = (organization: string, patient: number, transactionDate: string) =>
      line(
        'Transaction',
        { id: 1, ledgerType: 'PatientProcedureLedger', amount: 1, transactionDate, patient: { id: patient } },
        organization,
      );
    await service.import([
      // 02:00 UTC is the day before in New York, and not in Berlin.
      visit(own, 1, '2026-01-15T02:00:00Z'),
      visit(other, 2, '2026-02-20T12:00:00Z'),
      procedure(own, PATIENTS.bob, '2026-01-05'),
      procedure(other, PATIENTS.bob, '2026-02-20'),
    ]);
    const called = await service.call('GET', '/patients/calculated', {
      ...{ token: TOKENS.both, organization: own },
      query: { filter: `patient.id->[${PATIENTS.ann},${PATIENTS.bob}]`, responseFields: 'ALL' },
    });
    expect(called.body.data).toEqual([
      { id: PATIENTS.ann, lastVisitDate: own === ORGANIZATION ? '2026-01-14' : '2026-01-15' },
      { id: PATIENTS.bob, lastVisitDate: '2026-01-05' },
    ]);
  });
});

const occurrence = (organization: string, id: number, start: string, groupId: string | null = 'the same group') =>
  line(
    'EventV1',
    { id, start, duration: 60, title: 'Meeting', location: { id: LOCATIONS.east }, groupId },
    organization,
  );

describe('of two practices', () => {
  ownService();

  it('a visit that takes place after all closes no missed appointment of another practice', async () => {
    const booking = (status: string) => ({
      start: '2026-03-10T15:00:00Z',
      ...{ patient: { id: PATIENTS.ann }, provider: { id: PROVIDERS.ann }, operatory: { id: OPERATORIES.one }, status },
    });
    const missed = async (call: typeof here) =>
      rowsOf(await call('GET', '/missedappointments?lastId=0')).map(({ id, rescheduledOn }) => [id, rescheduledOn]);
    // There the record of the same appointment has a later id.
    await there('POST', '/appointments', booking('CONFIRMED'));
    await there('POST', '/appointments', booking('BROKEN'));
    await there('PUT', '/appointments/1', { status: 'BROKEN' });
    await here('POST', '/appointments', booking('BROKEN'));
    await here('PUT', '/appointments/1', { status: 'HERE' });
    expect(await missed(here)).toEqual([[1, service.clock.text()]]);
    expect(await missed(there)).toEqual([
      [1, null],
      [2, null],
    ]);
  });

  it('a series of events ends without events that another practice has in a group of the same name', async () => {
    await service.import([
      occurrence(ORGANIZATION, 1, '2026-03-10T15:00:00Z'),
      occurrence(ORGANIZATION, 2, '2026-03-17T15:00:00Z'),
      occurrence(ORGANIZATION, 3, '2026-03-24T15:00:00Z', null),
      ...[1, 2, 3].map((id) => occurrence(OTHER_ORGANIZATION, id, `2026-03-2${id}T15:00:00Z`)),
    ]);
    expect((await here('DELETE', '/events/1?recurrenceTarget=SERIES')).status).toBe(200);
    const ids = async (call: typeof here) => idsOf(await call('GET', '/events?lastId=0'));
    expect([await ids(here), await ids(there)]).toEqual([[3], [1, 2, 3]]);
  });

  it('a token works for no practice whose id has other letter cases', async () => {
    const token = 'token-of-the-lower-case';
    await service.import([
      ...['mixed', 'Mixed'].map((id) => ({ type: 'Organization', id, timezone: 'UTC' })),
      { type: 'AccessToken', token, organizations: ['mixed'], scopes: ['model:read'] },
    ]);
    const status = async (organization: string) =>
      (await service.call('GET', '/patients', { token, organization })).status;
    expect([await status('mixed'), await status('Mixed'), await status('mixe')]).toEqual([200, 403, 403]);
  });
});

describe('a series of events', () => {
  ownService();

  it('begins where it is to, though another practice has an earlier event in a group of the same name', async () => {
    for (const each of PRACTICES) {
      const start = each === ORGANIZATION ? '2026-03-10T15:00:00Z' : '2026-02-10T15:00:00Z';
      await service.import([occurrence(each, 1, start)]);
    }
    const rule = { recurrenceType: 'WEEKLY', recurrenceFrequency: 1, recurrenceDays: ['TUESDAY'] };
    const dates = { recurrenceStart: '2026-03-03', recurrenceEnd: '2026-03-17' };
    expect((await here('PUT', '/events/1?recurrenceTarget=SERIES', { ...rule, ...dates })).status).toBe(200);
    const starts = rowsOf(await here('GET', '/events?lastId=0')).map(({ start }) => String(start).slice(0, 10));
    expect(starts.sort()).toEqual(['2026-03-03', '2026-03-10', '2026-03-17']);
  });
});
