import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rowOf, type WireRecord } from '../../support/calls.ts';
import { BILLING_TYPES, LOCATIONS, OPERATORIES, ORGANIZATION, PATIENTS, PROVIDERS, TOKENS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { post as postDocument } from '../resources/documentsof.ts';
import { messagesOf, told } from './told.ts';

const { east, west } = LOCATIONS;
const { ann, bob } = PATIENTS;

let service: TestService;
let now: string;
beforeEach(async () => {
  service = await testService(bareRecords());
  service.clock.advance(60_000);
  now = service.clock.text();
});
afterEach(() => service.close());

async function call(method: string, path: string, body?: unknown): Promise<WireRecord> {
  const called = await service.call(method, path, body === undefined ? {} : { body });
  if (called.status >= 300) throw new Error(called.text);
  return called.body.data as WireRecord;
}

const TAG = { tagText: 'Prepaid', isPredefined: false, tagType: 'PAYMENT_TAG' };

describe('a message', () => {
  it('has its number, when it was sent, and for whom (D40)', async () => {
    const [first, second] = await messagesOf(service, async () => {
      await call('POST', '/transactiontags', TAG);
      await call('POST', '/transactiontags', { ...TAG, tagText: 'Other' });
    });
    expect(first).toEqual({
      id: expect.any(Number),
      routingKey: `${ORGANIZATION}.*.TransactionTagV1.CREATE`,
      organizationId: ORGANIZATION,
      locationId: '*',
      domainType: 'TransactionTagV1',
      operation: 'CREATE',
      sendTime: now,
      correlationId: null,
      payload: { id: 1, ...TAG },
    });
    expect(second?.id).toBe((first?.id ?? 0) + 1);
  });

  it('comes with its record or not at all', async () => {
    const organization = { org: 1, id: ORGANIZATION };
    const failing = () =>
      service.service.store.write(async (tx) => {
        const { recordChange } = await import('../../../src/server/engine/writing.ts');
        const { transactionTags } = await import('../../../src/catalog/resources/transactiontags.ts');
        await recordChange(tx, {
          organization,
          actor: undefined,
          resource: transactionTags,
          before: undefined,
          after: { id: 1, ...TAG },
          at: now,
        });
        throw new Error('the disk is full');
      });
    expect(await told(service, () => expect(failing()).rejects.toThrow('the disk is full'))).toEqual([]);
    expect(
      await told(service, () => service.call('POST', '/transactiontags', { body: { tagText: '', tagType: 'X' } })),
    ).toEqual([]);
  });
});

describe('transaction tags', () => {
  it('are told of when they come, change and go', async () => {
    const { id } = await call('POST', '/transactiontags', TAG);
    const path = `/transactiontags/${id}`;
    expect(await told(service, () => call('PUT', path, { tagText: 'Paid' }))).toEqual([
      ['*.TransactionTagV1.UPDATE', { id, tagText: 'Paid' }],
    ]);
    expect(await told(service, () => call('PUT', path, { tagText: 'Paid' }))).toEqual([]);
    expect(await told(service, () => call('DELETE', path))).toEqual([['*.TransactionTagV1.DELETE', { id }]]);
  });
});

describe('patients', () => {
  it('are told of where they prefer to be', async () => {
    const body = { firstName: 'Dee', lastName: 'Dean', preferredLocation: { id: west } };
    let made: WireRecord = {};
    const [message, ...others] = await told(service, async () => {
      made = await call('POST', '/patients', await patientBody(body));
    });
    expect(message).toEqual([`${west}.PatientV1.CREATE`, made]);
    expect(others).toEqual([]);
  });

  it('tell what changed, and nothing of what did not (D44)', async () => {
    const path = `/patients/${ann}`;
    expect(await told(service, () => call('PUT', path, { city: 'Boulder', firstName: 'ann' }))).toEqual([
      [`${east}.PatientV1.UPDATE`, { id: ann, city: 'Boulder', lastModified: now }],
    ]);
    expect(await told(service, () => call('PUT', path, { city: 'Boulder' }))).toEqual([]);
    expect(await told(service, () => call('PUT', path, { preferredLocation: { id: west } }))).toEqual([
      [`${west}.PatientV1.UPDATE`, { id: ann, preferredLocation: { id: west }, lastModified: now }],
    ]);
  });

  it('tell of their billing types, when they change', async () => {
    const path = `/patients/${ann}/billingtypes`;
    const links = [{ id: BILLING_TYPES.cash }, { id: BILLING_TYPES.card }];
    expect(await told(service, () => call('POST', path, links))).toEqual([
      [`${east}.PatientV1.UPDATE`, { id: ann, billingTypes: links, lastModified: now }],
    ]);
    expect(await told(service, () => call('POST', path, links.toReversed()))).toEqual([]);
  });

  it('tell of those they referred, too', async () => {
    expect(await told(service, () => call('PUT', `/patients/${bob}`, { referredByPatient: { id: ann } }))).toEqual([
      [`${east}.PatientV1.UPDATE`, { id: bob, referredByPatient: { id: ann }, lastModified: now }],
      [`${east}.PatientV1.UPDATE`, { id: ann, referredPatients: [{ id: bob }] }],
    ]);
  });
});

/** A body that has every required field (specification, Patients). */
async function patientBody(body: WireRecord): Promise<WireRecord> {
  const { patientFixture } = await import('../../support/resources/patients.ts');
  return { ...patientFixture.create?.(1), ...body };
}

describe('documents', () => {
  it('are told of without links that would not last, and when name or tags change', async () => {
    let made: WireRecord = {};
    const created = await told(service, async () => {
      made = rowOf(await postDocument(service, { tags: ['X-Ray'] }));
    });
    const { storage: _, ...kept } = made;
    expect(created).toEqual([['*.DocumentV1.CREATE', kept]]);
    const path = `/documents/${made.id}`;
    const { id, type } = made;
    expect(await told(service, () => call('PUT', path, { name: 'letter' }))).toEqual([
      ['*.DocumentV1.UPDATE', { id, type, name: 'letter.pdf' }],
    ]);
    expect(await told(service, () => call('PUT', path, { tags: ['X-Ray', 'New'] }))).toEqual([
      ['*.DocumentV1.UPDATE', { id, type, tags: ['X-Ray', 'New'] }],
    ]);
    expect(await told(service, () => call('PUT', path, { name: 'letter.pdf' }))).toEqual([]);
    expect(await told(service, () => call('DELETE', path))).toEqual([['*.DocumentV1.DELETE', { id }]]);
  });
});

describe('appointments', () => {
  const BODY = {
    start: '2026-03-10T15:00:00Z',
    patient: { id: ann },
    provider: { id: PROVIDERS.ann },
    operatory: { id: OPERATORIES.one },
  };
  const history = (id: number, action: string, changes: WireRecord = {}) =>
    expect.objectContaining({ id, type: 'AppointmentHistoryV1', appointment: { id: 1 }, action, ...changes });

  it('are told of with the history of each change, and with what was missed (D26, D28)', async () => {
    let made: WireRecord = {};
    const created = await told(service, async () => {
      made = await call('POST', '/appointments', BODY);
    });
    expect(created).toEqual([
      [`${east}.AppointmentV1.CREATE`, made],
      [`${east}.AppointmentHistoryV1.CREATE`, history(1, 'CREATE')],
    ]);
    const set = (body: WireRecord) => told(service, () => call('PUT', '/appointments/1', body));
    expect(await set({ status: 'BROKEN' })).toEqual([
      [`${east}.AppointmentV1.UPDATE`, { id: 1, type: 'AppointmentV1', status: 'BROKEN', lastModified: now }],
      [`${east}.AppointmentHistoryV1.CREATE`, history(2, 'UPDATE', { status: 'BROKEN' })],
      [
        `${east}.MissedAppointmentV1.CREATE`,
        expect.objectContaining({ id: 1, status: 'BROKEN', appointment: { id: 1 }, rescheduledOn: null }),
      ],
    ]);
    expect((await set({ status: 'NO_SHOW' })).slice(2)).toEqual([
      [`${east}.MissedAppointmentV1.UPDATE`, missed({ status: 'NO_SHOW' })],
    ]);
    expect(await set({ status: 'NO_SHOW' })).toEqual([]);
    expect((await set({ status: 'CONFIRMED' })).slice(2)).toEqual([
      [`${east}.MissedAppointmentV1.UPDATE`, missed({ rescheduledOn: now })],
    ]);
    expect(await set({ operatory: { id: OPERATORIES.three } })).toEqual([
      [
        `${west}.AppointmentV1.UPDATE`,
        {
          id: 1,
          type: 'AppointmentV1',
          operatory: { id: OPERATORIES.three },
          location: { id: west },
          lastModified: now,
        },
      ],
      [`${west}.AppointmentHistoryV1.CREATE`, history(5, 'UPDATE')],
    ]);
    expect(await told(service, () => call('DELETE', '/appointments/1'))).toEqual([
      [`${west}.AppointmentHistoryV1.CREATE`, history(6, 'DELETE')],
      [`${west}.AppointmentV1.DELETE`, { id: 1 }],
    ]);
    expect(await told(service, () => call('PUT', '/missedappointments/1', { reasonCancelled: 'Snow' }))).toEqual([
      [`${east}.MissedAppointmentV1.UPDATE`, missed({ reasonCancelled: 'Snow' })],
    ]);
    expect(await told(service, () => call('DELETE', '/missedappointments/1'))).toEqual([
      [`${east}.MissedAppointmentV1.DELETE`, { id: 1 }],
    ]);
  });

  /** Missed appointments have neither type nor lastModified (specification). */
  function missed(changes: WireRecord): WireRecord {
    return { id: 1, ...changes };
  }
});

describe('requests that are repeated', () => {
  it('are told of once (D46)', async () => {
    const options = { body: TAG, headers: { 'idempotency-key': 'k' } };
    const twice = async () => {
      for (const _ of [1, 2]) await service.call('POST', '/transactiontags', options);
    };
    expect(await told(service, twice)).toHaveLength(1);
  });
});

describe('another organization', () => {
  it('has messages of its own', async () => {
    const options = { body: TAG, token: TOKENS.other, organization: 'other_practice-2' };
    const messages = await messagesOf(service, () => service.call('POST', '/transactiontags', options));
    expect(messages.map(({ routingKey }) => routingKey)).toEqual(['other_practice-2.*.TransactionTagV1.CREATE']);
  });
});
