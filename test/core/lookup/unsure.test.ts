import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../src/catalog/define.ts';
import { appointments } from '../../../src/catalog/resources/appointments.ts';
import { events } from '../../../src/catalog/resources/events.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { transactionTags } from '../../../src/catalog/resources/transactiontags.ts';
import { failureOf } from '../transport/script.ts';
import { create, DATED, EVENT, HOUR, MINUTE, PATIENT, storing, TAG, VISIT } from './creating.ts';
import { OtherService } from './otherservice.ts';

/** A body, and what of it a service may store otherwise. */
const CHANGED: readonly [string, Resource, object, object][] = [
  ['the seconds of a start', events, { ...EVENT, start: '2026-03-02T19:00:42Z' }, { start: '2026-03-02T19:00:00Z' }],
  [
    'the seconds of a visit',
    appointments,
    { ...VISIT, start: '2026-03-02T19:00:42Z' },
    { start: '2026-03-02T19:00:00Z' },
  ],
  ['a duration', events, EVENT, { duration: 35 }],
  [
    'the last day of a series',
    events,
    { ...EVENT, recurrenceType: 'WEEKLY', recurrenceEnd: '2026-03-31' },
    { recurrenceEnd: '2026-03-30' },
  ],
  ['a note', appointments, { ...VISIT, note: 'a  very long note' }, { note: 'a very' }],
  [
    'an address',
    patients,
    { ...PATIENT, preferredLocation: { id: 5 }, address1: '1 Main Street' },
    { address1: '1 Main St' },
  ],
  ['a tag', transactionTags, { ...TAG, tagType: 'PAYMENT_TAG' }, { isPredefined: true }],
];

describe('a record that may be the one whose POST ended in doubt', () => {
  it.each(DATED)('is not taken for one of the minutes before: $name', async ({ resource, body }) => {
    for (const done of [true, false]) {
      const service = new OtherService({ store: storing(resource) });
      const before = service.add(body, service.now() - MINUTE);
      service.faults = [{ end: 'cut', done }];
      const made = create(service, resource, body);
      if (done) expect(await made).toBe(service.records[1]?.id);
      else expect((await failureOf(made)).message).toContain(`${before.id} may be it, which cannot be decided.`);
      expect(service.posts).toBe(1);
    }
  });

  it.each(DATED)('is made when the one before is older: $name', async ({ resource, body }) => {
    const service = new OtherService({ store: storing(resource) });
    service.add(body, service.now() - 3 * MINUTE);
    service.faults = [{ end: 'cut', done: false }];
    expect(await create(service, resource, body)).toBe(service.records[1]?.id);
    expect(service.posts).toBe(2);
  });

  it('is told from one before it however long the list takes to come', async () => {
    const service = new OtherService({ listTakes: MINUTE });
    service.add(PATIENT, service.now() - 10_000);
    service.faults = [{ end: 'cut', done: false }];
    const made = create(service, patients, { ...PATIENT, preferredLocation: { id: 5 } });
    expect(await failureOf(made)).toMatchObject({ code: 'network.outcome_unknown' });
    expect(service.posts).toBe(1);
  });

  it.each(CHANGED)('stays unknown when the service changes on storing %s', async (_name, resource, body, stored) => {
    const service = new OtherService({ store: (sent) => ({ ...sent, ...stored }) });
    service.faults = [{ end: 'cut', done: true }];
    const failure = await failureOf(create(service, resource, body));
    expect(failure).toMatchObject({ code: 'network.outcome_unknown', exitCode: 8 });
    expect(failure.message).toContain('900 may be it, which cannot be decided.');
    expect(service.posts).toBe(1);
  });

  it.each<[string, Resource, object, object]>([
    ['the event of a colleague at another time', events, EVENT, { start: '2026-03-02T20:00:00Z' }],
    [
      'the event of a colleague in another operatory',
      events,
      { ...EVENT, operatory: { id: 3 } },
      { operatory: { id: 4 } },
    ],
    ['the event of another provider', events, { ...EVENT, provider: { id: 3 } }, { provider: { id: 4 } }],
    ['an event of the whole day', events, { ...EVENT, allDay: false }, { allDay: true }],
    ['a patient of another name', patients, PATIENT, { lastName: 'Other' }],
    ['a visit in another operatory', appointments, VISIT, { operatory: { id: 10 } }],
  ])('is not %s', async (_name, resource, body, otherwise) => {
    const service = new OtherService();
    service.add({ ...body, ...otherwise });
    service.faults = [{ end: 'cut', done: false }];
    expect(await create(service, resource, body)).toBe(service.records[1]?.id);
    expect(service.posts).toBe(2);
  });

  it('is made for all that when an older record differs from it', async () => {
    const service = new OtherService();
    service.add({ ...PATIENT, address1: '2 Main St' }, service.now() - HOUR);
    service.faults = [{ end: 'cut', done: false }];
    await create(service, patients, { ...PATIENT, address1: '1 Main St' });
    expect(service.posts).toBe(2);
  });
});
