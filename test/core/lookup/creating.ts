import { pathOf } from '../../../src/catalog/catalog.ts';
import type { Resource } from '../../../src/catalog/define.ts';
import { appointments } from '../../../src/catalog/resources/appointments.ts';
import { events } from '../../../src/catalog/resources/events.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { transactionTags } from '../../../src/catalog/resources/transactiontags.ts';
import { createdRecordLookups } from '../../../src/core/lookup/createdrecord.ts';
import type { OtherService } from './otherservice.ts';

export const PATIENT = {
  firstName: 'Ann',
  lastName: "O'Neil, Jr",
  dateOfBirth: '1990-04-12',
  gender: 'f',
  contactMethod: 'EMAIL ME',
  preferredLocation: { id: '5' },
  phones: [{ phoneType: 'HOME', number: '(555) 010-0100' }],
  title: null,
};
export const EVENT = { title: 'Lunch', start: '2026-03-02T12:00:00-07:00', location: { id: 5 }, duration: '30' };
export const TAG = { tagText: 'Refund', tagType: 'payment_tag', isPredefined: false };
export const VISIT = {
  start: '2026-03-02T19:00:00.000Z',
  patient: { id: 7 },
  provider: { id: 8 },
  operatory: { id: 9 },
};

/** A body of each resource, and another record of the same that must not be taken for it. */
export const CASES = [
  { name: 'patients', resource: patients, body: PATIENT, other: { ...PATIENT, firstName: 'Bob' } },
  { name: 'events', resource: events, body: EVENT, other: { ...EVENT, start: '2026-03-03T19:00:00Z' } },
  { name: 'tags', resource: transactionTags, body: TAG, other: { ...TAG, tagType: 'PAYMENT_TAG', tagText: 'Refunds' } },
  { name: 'appointments', resource: appointments, body: VISIT, other: { ...VISIT, operatory: { id: 10 } } },
] as const;

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** Those whose records tell when they were changed. */
export const DATED = CASES.filter(({ resource }) => 'lastModified' in resource.fields);

/** How the services of these tests write down what they are sent: in their own words. */
export const IN_OWN_WORDS: Readonly<Record<string, object>> = {
  patients: {
    firstName: 'ANN',
    gender: 'F',
    contactMethod: 'Email me',
    preferredLocation: { id: 5 },
    phones: [{ id: 1, phoneType: 'Home', number: '5550100100', sequence: 1 }],
    patientStatus: 'NEW',
  },
  events: { start: '2026-03-02T19:00:00Z', duration: 30, color: 'bbbbbb', operatory: null, groupId: null },
  transactiontags: { tagType: 'PAYMENT_TAG' },
  appointments: { start: '2026-03-02T12:00:00-07:00', patient: { id: '7' }, status: 'UNCONFIRMED' },
};

export const storing =
  ({ name }: Resource) =>
  (sent: object) => ({ ...sent, ...IN_OWN_WORDS[name] });

/** Sends a body as the commands do. */
export async function create(service: OtherService, resource: Resource, body: unknown): Promise<unknown> {
  const client = service.client();
  const path = pathOf(resource.operations.create!);
  const { data } = await client.request({
    method: 'POST',
    path,
    body,
    ...createdRecordLookups(client, resource, body),
  });
  return (data as { id: unknown }).id;
}
