import fc from 'fast-check';
import sql, { raw } from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { STORED_RESOURCES } from '../../../src/catalog/catalog.ts';
import type { WireRecord } from '../../support/calls.ts';
import { BILLING_TYPES, LOCATIONS, OPERATORIES, ORGANIZATION, PATIENTS, PROVIDERS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { patientFixture } from '../../support/resources/patients.ts';
import { type TestService, testService } from '../../support/service.ts';
import { cases } from '../../support/store.ts';
import { MONDAYS, meeting } from '../events/calendar.ts';
import { post as postDocument } from '../resources/documentsof.ts';
import { allMessages } from './told.ts';

/** Something that is done to the practice; many are refused, or change nothing. */
type Deed = (service: TestService) => Promise<unknown>;

const small = fc.integer({ min: 1, max: 6 });
const patient = fc.constantFrom(...Object.values(PATIENTS), 1, 2, 3);
const location = fc.constantFrom(...Object.values(LOCATIONS));
const word = fc.constantFrom('red', 'green', 'blue');

function deed<T extends object, R = Deed>(values: { [K in keyof T]: fc.Arbitrary<T[K]> }, make: (drawn: T) => R) {
  return fc.record(values).map((drawn) => make(drawn as T));
}

const call =
  (method: string, path: string, body?: unknown, query = {}): Deed =>
  (service) =>
    service.call(method, path, { ...(body !== undefined && { body }), query });

const TAG_TYPES = ['PAYMENT_TAG', 'ADJUSTMENT_TAG'];
const target = fc.constantFrom('SERIES', 'OCCURRENCE');

const tags = fc.oneof(
  deed({ word, type: fc.constantFrom(...TAG_TYPES) }, (tag) =>
    call('POST', '/transactiontags', { tagText: tag.word, tagType: tag.type, isPredefined: false }),
  ),
  deed({ id: small, word }, ({ id, word: tagText }) => call('PUT', `/transactiontags/${id}`, { tagText })),
  deed({ id: small }, ({ id }) => call('DELETE', `/transactiontags/${id}`)),
);

const patients = fc.oneof(
  deed({ location, referrer: fc.option(patient) }, ({ location: at, referrer }) =>
    call('POST', '/patients', {
      ...patientFixture.create?.(1),
      preferredLocation: { id: at },
      ...(referrer !== null && { referredByPatient: { id: referrer } }),
    }),
  ),
  deed({ id: patient, city: word, location }, ({ id, city, location: at }) =>
    call('PUT', `/patients/${id}`, { city, preferredLocation: { id: at } }),
  ),
  deed({ id: patient, referrer: fc.option(patient) }, ({ id, referrer }) =>
    call('PUT', `/patients/${id}`, { referredByPatient: referrer === null ? null : { id: referrer } }),
  ),
  deed({ id: patient, kinds: fc.subarray(Object.values(BILLING_TYPES)) }, ({ id, kinds }) =>
    call(
      'POST',
      `/patients/${id}/billingtypes`,
      kinds.map((kind) => ({ id: kind })),
    ),
  ),
);

const appointments = fc.oneof(
  deed({ who: patient, where: fc.constantFrom(...Object.values(OPERATORIES)) }, ({ who, where }) =>
    call('POST', '/appointments', {
      start: '2026-03-10T15:00:00Z',
      patient: { id: who },
      provider: { id: PROVIDERS.ann },
      operatory: { id: where },
    }),
  ),
  deed({ id: small, status: fc.constantFrom('BROKEN', 'NO_SHOW', 'CONFIRMED') }, ({ id, status }) =>
    call('PUT', `/appointments/${id}`, { status }),
  ),
  deed({ id: small, where: fc.constantFrom(...Object.values(OPERATORIES)) }, ({ id, where }) =>
    call('PUT', `/appointments/${id}`, { operatory: { id: where } }),
  ),
  deed({ id: small }, ({ id }) => call('DELETE', `/appointments/${id}`)),
  deed({ id: small, word }, ({ id, word: reasonCancelled }) =>
    call('PUT', `/missedappointments/${id}`, { reasonCancelled }),
  ),
  deed({ id: small }, ({ id }) => call('DELETE', `/missedappointments/${id}`)),
);

const events = fc.oneof(
  deed({ series: fc.boolean() }, ({ series }) => call('POST', '/events', meeting(series ? MONDAYS : {}))),
  deed({ id: small, title: word, target }, ({ id, title, target: recurrenceTarget }) =>
    call('PUT', `/events/${id}`, { title }, { recurrenceTarget }),
  ),
  deed({ id: small, day: fc.constantFrom('TUESDAY', 'FRIDAY') }, ({ id, day }) =>
    call('PUT', `/events/${id}`, { ...MONDAYS, recurrenceDays: [day] }, { recurrenceTarget: 'SERIES' }),
  ),
  deed({ id: small, target }, ({ id, target: recurrenceTarget }) =>
    call('DELETE', `/events/${id}`, undefined, { recurrenceTarget }),
  ),
);

const documents = fc.oneof(
  deed(
    { name: word, tags: fc.subarray(['a', 'b']) },
    (body): Deed =>
      (service) =>
        postDocument(service, body),
  ),
  deed({ id: small, name: word, tags: fc.subarray(['a', 'B', 'c']) }, ({ id, ...body }) =>
    call('PUT', `/documents/${id}`, body),
  ),
  deed({ id: small }, ({ id }) => call('DELETE', `/documents/${id}`)),
);

const imported = fc.oneof(
  deed({ id: small, lastName: word, referrer: patient }, ({ id, lastName, referrer }) => {
    const referredByPatient = referrer === id ? null : { id: referrer };
    return line('PatientV1', { id, firstName: 'I', lastName, referredByPatient });
  }),
  deed({ id: small, note: word }, ({ id, note }) =>
    line('Transaction', {
      id,
      ledgerType: 'PatientCreditAdjustment',
      amount: -1,
      transactionDate: '2026-03-01',
      patient: { id: PATIENTS.ann },
      note,
    }),
  ),
  deed({ id: small, type: fc.constantFrom('Transaction', 'PatientV1', 'EventV1', 'DocumentV1') }, ({ id, type }) =>
    line(type, { id, deleted: true }),
  ),
);

/** Many imports are refused: a patient whom another record links to cannot go. */
const imports = fc.array(imported, { minLength: 1, maxLength: 6 }).map(
  (lines): Deed =>
    (service) =>
      service.import(lines).catch(() => undefined),
);

/** The records that somebody has who only ever listened. */
async function replica(service: TestService): Promise<Map<string, WireRecord>> {
  const records = new Map<string, WireRecord>();
  for (const { domainType, operation, payload, organizationId, locationId } of await allMessages(service)) {
    if (organizationId !== ORGANIZATION) continue;
    const name = `${domainType} ${payload.id}`;
    const known = records.get(name);
    if ((operation === 'CREATE') !== (known === undefined)) throw new Error(`${operation} of ${name}`);
    const record = { ...known, ...payload } as WireRecord;
    const at = (record.preferredLocation ?? record.location ?? null) as { id: number } | null;
    if (String(at?.id ?? '*') !== locationId) throw new Error(`${operation} of ${name} at ${locationId}`);
    if (operation === 'DELETE') records.delete(name);
    else records.set(name, record);
  }
  return records;
}

/** The records that there are. */
async function stored({ service }: TestService): Promise<Map<string, WireRecord>> {
  const records = new Map<string, WireRecord>();
  for (const resource of STORED_RESOURCES) {
    const rows = await service.store.read.all<{ json: string }>(
      sql`SELECT r.json FROM ${raw(resource.name)} r JOIN organizations o ON o.org = r.org WHERE o.id = ${ORGANIZATION}`,
    );
    const domainType = resource.type === 'Transaction' ? 'TransactionV1' : resource.type;
    for (const { json } of rows) {
      const record = JSON.parse(json) as WireRecord;
      records.set(`${domainType} ${record.id}`, record);
    }
  }
  return records;
}

describe('whoever only listens', () => {
  it('knows every record as it is, whatever is done (property)', async () => {
    const deeds = fc.oneof(tags, patients, appointments, events, documents, imports);
    await fc.assert(
      fc.asyncProperty(fc.array(deeds, { minLength: 60, maxLength: 120, size: 'max' }), async (some) => {
        const service = await testService(bareRecords());
        try {
          for (const each of some) {
            await each(service);
            service.clock.advance(1);
          }
          expect(Object.fromEntries(await replica(service))).toEqual(Object.fromEntries(await stored(service)));
        } finally {
          await service.close();
        }
      }),
      { numRuns: cases(6, 3), endOnFailure: true },
    );
  });
});
