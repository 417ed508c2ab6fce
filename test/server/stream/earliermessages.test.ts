import sql from 'sql-template-tag';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { whoseOf } from '../../../src/server/stream/earliermessages.ts';
import { readMessages } from '../../../src/server/stream/outbox.ts';
import { OPERATORIES, ORGANIZATION, PATIENTS, PROVIDERS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { ownPositions } from './told.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords());
});
afterEach(() => service.close());

/** Of each message after a number: what it tells of, and whose data that is. */
async function whose(after: number) {
  const { read } = service.service.store;
  const found = await read.get<{ org: number }>(sql`SELECT org FROM organizations WHERE id = ${ORGANIZATION}`);
  const messages = await readMessages(read, { org: found?.org ?? 0 }, after, 100);
  return messages.map(({ routingKey, recordId, patientId }) => {
    return [routingKey.split('.').slice(2).join('.'), recordId, patientId];
  });
}

it('messages that were stored before they said whose they are name their record and its patient', async () => {
  const { newest: before } = await ownPositions(service);
  const { ann } = PATIENTS;
  const appointment = {
    ...{ patient: { id: ann }, provider: { id: PROVIDERS.ann }, operatory: { id: OPERATORIES.one } },
    ...{ start: '2031-03-03T16:00:00.000Z', end: '2031-03-03T17:00:00.000Z', status: 'CONFIRMED' },
  };
  const tag = { tagText: 'Paid', isPredefined: false, tagType: 'PAYMENT_TAG' };
  const called = [
    await service.call('PUT', `/patients/${ann}`, { body: { city: 'Boulder' } }),
    await service.call('POST', '/appointments', { body: appointment }),
    await service.call('PUT', '/appointments/1', { body: { status: 'BROKEN' } }),
    await service.call('POST', '/transactiontags', { body: tag }),
  ];
  expect(called.map(({ text, status }) => (status < 300 ? status : text))).toEqual([200, 201, 200, 201]);
  await service.service.store.write((tx) =>
    tx.run(sql`UPDATE stream_messages SET record_id = NULL, patient_id = NULL, places = NULL`),
  );
  expect(await whose(before)).toEqual([
    ['PatientV1.UPDATE', ann, ann],
    ['AppointmentV1.CREATE', 1, ann],
    ['AppointmentHistoryV1.CREATE', 1, ann],
    ['AppointmentV1.UPDATE', 1, ann],
    ['AppointmentHistoryV1.CREATE', 2, ann],
    ['MissedAppointmentV1.CREATE', 1, ann],
    ['TransactionTagV1.CREATE', expect.any(Number), null],
  ]);
});

it('messages that tell of no record, or of a kind that there is no more, name none', async () => {
  const { read } = service.service.store;
  for (const [domainType, payload] of [
    ['PatientV1', '{"total":3}'],
    ['NoSuchV1', '{"id":3}'],
    ['*', '{"requested":1}'],
  ] as const) {
    expect(await whoseOf(read, 1, domainType, payload)).toEqual({ recordId: null, patientId: null });
  }
});

it("a record of another organization that has the same number is nobody's here", async () => {
  const { newest: before } = await ownPositions(service);
  const { ann } = PATIENTS;
  const body = {
    ...{ patient: { id: ann }, provider: { id: PROVIDERS.ann }, operatory: { id: OPERATORIES.one } },
    ...{ start: '2031-03-03T16:00:00.000Z', end: '2031-03-03T17:00:00.000Z' },
  };
  await service.call('POST', '/appointments', { body });
  await service.call('PUT', '/appointments/1', { body: { status: 'BROKEN' } });
  await service.service.store.write(async (tx) => {
    await tx.run(sql`UPDATE stream_messages SET record_id = NULL, patient_id = NULL, places = NULL`);
    await tx.run(sql`UPDATE appointments SET org = 99`);
  });
  const own = (await whose(before)).filter(([name]) => name === 'AppointmentV1.UPDATE');
  expect(own).toEqual([['AppointmentV1.UPDATE', 1, null]]);
});

it('of a record that is gone by now, the message that has all of it names its patient alone', async () => {
  const { newest: before } = await ownPositions(service);
  const { ann } = PATIENTS;
  const body = {
    ...{ patient: { id: ann }, provider: { id: PROVIDERS.ann }, operatory: { id: OPERATORIES.one } },
    ...{ start: '2031-03-03T16:00:00.000Z', end: '2031-03-03T17:00:00.000Z' },
  };
  const called = [
    await service.call('POST', '/appointments', { body }),
    await service.call('DELETE', '/appointments/1', {}),
  ];
  expect(called.map(({ text, status }) => (status < 300 ? 'done' : text))).toEqual(['done', 'done']);
  await service.service.store.write((tx) =>
    tx.run(sql`UPDATE stream_messages SET record_id = NULL, patient_id = NULL, places = NULL`),
  );
  const own = (await whose(before)).filter(([name]) => String(name).startsWith('AppointmentV1'));
  expect(own).toEqual([
    ['AppointmentV1.CREATE', 1, ann],
    ['AppointmentV1.DELETE', 1, null],
  ]);
});
