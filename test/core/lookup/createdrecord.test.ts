import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../src/catalog/define.ts';
import { documents } from '../../../src/catalog/resources/documents.ts';
import { events } from '../../../src/catalog/resources/events.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { transactionTags } from '../../../src/catalog/resources/transactiontags.ts';
import { createdRecordLookups } from '../../../src/core/lookup/createdrecord.ts';
import { failureOf, success } from '../transport/script.ts';
import { CASES, create, DATED, EVENT, HOUR, IN_OWN_WORDS, PATIENT, storing, TAG } from './creating.ts';
import { ENDS, OtherService, type Stored } from './otherservice.ts';

const matrix = CASES.flatMap((each) => ENDS.map((end) => [each.name, end, each] as const));

describe('a record whose POST ended in doubt', () => {
  it.each(matrix)('is not made again when it was made: %s, %s', async (_name, end, { resource, body }) => {
    for (const done of [true, 'late'] as const) {
      const service = new OtherService({ store: storing(resource) });
      service.faults = [{ end, done }];
      expect(await create(service, resource, body), String(done)).toBe(service.records[0]?.id);
      expect([service.posts, service.records.length], String(done)).toEqual([1, 1]);
    }
  });

  it.each(matrix)('is made when it was not: %s, %s', async (_name, end, { resource, body, other }) => {
    const service = new OtherService();
    service.add(other);
    service.faults = [{ end, done: false }];
    expect(await create(service, resource, body)).toBe(service.records[1]?.id);
    expect([service.posts, service.records.length]).toEqual([2, 2]);
  });

  it.each(matrix)('is made once through one trouble after another: %s, %s', async (_name, end, { resource, body }) => {
    const service = new OtherService({ store: storing(resource) });
    service.faults = [
      { end: 500, done: false },
      { end: 'cut', done: false },
      { end, done: true },
    ];
    await create(service, resource, body);
    expect([service.posts, service.records.length]).toEqual([3, 1]);
  });

  const clocks = DATED.flatMap((each) => [-HOUR, HOUR].map((ahead) => [each.name, ahead, each] as const));

  it.each(clocks)('is found by the clock of the service: %s, %d ms', async (_name, ahead, { resource, body }) => {
    for (const done of [true, false]) {
      const service = new OtherService({ ahead, store: storing(resource) });
      // The same was made half an hour ago; whoever compared the two clocks would take it for the new one, or miss that.
      const before = service.add(body, service.now() - HOUR / 2);
      service.faults = [{ end: 'cut', done }];
      expect(await create(service, resource, body)).not.toBe(before.id);
      expect([service.posts, service.records.length]).toEqual([done ? 1 : 2, 2]);
    }
  });

  it.each(CASES)('is found however long the answer took that did not come: $name', async ({ resource, body }) => {
    const service = new OtherService({ takes: 600_000, store: storing(resource) });
    service.faults = [{ end: 504, done: true }];
    expect(await create(service, resource, body)).toBe(service.records[0]?.id);
    expect(service.posts).toBe(1);
  });

  it.each(CASES)('is found whatever the order of the ids: $name', async ({ resource, body, other }) => {
    let id = 1000;
    const service = new OtherService({ nextId: () => --id, pageSize: 1 });
    service.add(other);
    service.faults = [{ end: 504, done: true }];
    const canonical = { ...body, ...IN_OWN_WORDS[resource.name] };
    expect(await create(service, resource, canonical)).toBe(998);
    expect(service.posts).toBe(1);
  });

  it.each([400, 403, 404, 405])('stays unknown when the list answers %i', async (listStatus) => {
    for (const { resource, body } of CASES) {
      const service = new OtherService({ listStatus });
      service.faults = [{ end: 500, done: true }];
      expect(await failureOf(create(service, resource, body))).toMatchObject({
        code: 'network.outcome_unknown',
        exitCode: 8,
      });
      expect(service.posts).toBe(1);
    }
  });

  const undated: [string, ConstructorParameters<typeof OtherService>[0]][] = [
    ['records do not tell when they were changed', { show: ({ lastModified: _, ...rest }) => rest }],
    ['they tell it without a zone', { show: (record) => ({ ...record, lastModified: '2026-03-02 12:00' }) }],
    ['the service does not tell its time', { date: false }],
  ];

  it.each(undated)('stays unknown, and is named, when %s', async (_name, habits) => {
    for (const done of [true, false]) {
      const service = new OtherService(habits);
      const like = done ? undefined : service.add(PATIENT);
      service.faults = [{ end: 'cut', done }];
      const { message, hint, code } = await failureOf(
        create(service, patients, { ...PATIENT, preferredLocation: { id: 5 } }),
      );
      const id = like?.id ?? service.records[0]?.id;
      expect(code).toBe('network.outcome_unknown');
      expect(message).toContain(`Patient ${id} may be it, which cannot be decided.`);
      expect(hint).toContain(`molar patients get ${id}`);
      expect(service.posts).toBe(1);
    }
  });

  it.each(undated)('is made for all that when nothing looks like it and %s', async (_name, habits) => {
    const service = new OtherService(habits);
    service.faults = [{ end: 'cut', done: false }];
    await create(service, patients, PATIENT);
    expect(service.posts).toBe(2);
  });

  it('stays unknown where a list is not in the order of its ids, unless it is there', async () => {
    for (const done of [true, false]) {
      const service = new OtherService({ descending: true, store: storing(patients) });
      for (let before = 0; before < 3; before++) service.add(PATIENT, 0);
      service.faults = [{ end: 'cut', done }];
      const made = create(service, patients, PATIENT);
      if (done) expect(await made).toBe(service.records[3]?.id);
      else expect(await failureOf(made)).toMatchObject({ code: 'network.outcome_unknown' });
      expect(service.posts).toBe(1);
    }
  });

  it('stays unknown where records do not tell enough', async () => {
    const show = ({ id, tagType }: Stored) => ({ id, tagType });
    const service = new OtherService({ store: storing(transactionTags), show });
    service.faults = [{ end: 'cut', done: true }];
    expect(await failureOf(create(service, transactionTags, TAG))).toMatchObject({ code: 'network.outcome_unknown' });
    expect(service.posts).toBe(1);
  });

  it('stays unknown when only a zone that was not sent could tell', async () => {
    const service = new OtherService();
    service.add({ ...EVENT, start: '2026-03-02T19:00:00Z' });
    service.faults = [{ end: 'cut', done: false }];
    const body = { ...EVENT, start: '2026-03-02T12:00' };
    expect((await failureOf(create(service, events, body))).message).toContain('Calendar event 900 may be it');
    expect(service.posts).toBe(1);
  });

  it('is not one that has an operatory where none was sent', async () => {
    const service = new OtherService();
    service.add({ ...EVENT, operatory: { id: 3 } });
    service.faults = [{ end: 'cut', done: false }];
    await create(service, events, EVENT);
    expect(service.posts).toBe(2);
  });

  it('of two tags alike is the one that is there', async () => {
    const service = new OtherService({ store: storing(transactionTags) });
    const before = service.add({ ...TAG, tagText: 'REFUND' }, 0);
    service.faults = [{ end: 500, done: false }];
    expect(await create(service, transactionTags, TAG)).toBe(before.id);
  });
});

describe('a series of events', () => {
  const SERIES = {
    ...EVENT,
    recurrenceType: 'WEEKLY',
    recurrenceStart: '2026-03-02',
    recurrenceEnd: '2026-03-31',
    recurrenceFrequency: 1,
    recurrenceDays: ['FRIDAY', 'WEDNESDAY'],
  };
  const occurrence = (start: string, groupId: string) => ({
    ...SERIES,
    start,
    groupId,
    duration: 30,
    recurrenceDays: ['WEDNESDAY', 'FRIDAY'],
  });

  it('is taken as made by its first occurrence', async () => {
    const service = new OtherService();
    service.faults = [{ end: 'cut', done: false }];
    // The clocks change on the 8th: the ones after it are an hour earlier in UTC.
    service.add(occurrence('2026-03-11T18:00:00Z', 'g1'));
    const first = service.add(occurrence('2026-03-04T19:00:00Z', 'g1'));
    service.add(occurrence('2026-03-06T19:00:00Z', 'g1'));
    expect(await create(service, events, SERIES)).toBe(first.id);
    expect(service.posts).toBe(1);
  });

  it('is one, however many occurrences it has', async () => {
    const service = new OtherService();
    service.faults = [{ end: 'cut', done: false }];
    const send = service.send;
    const made = Object.assign(service, {
      send: (async (request) => {
        if (request.method === 'POST' && service.posts === 1) {
          service.add(occurrence('2026-03-04T19:00:00Z', 'g1'));
          service.add(occurrence('2026-03-06T19:00:00Z', 'g1'));
          service.posts++;
          return success({ id: 900 });
        }
        return send(request);
      }) satisfies typeof send,
    });
    expect(await create(made, events, SERIES)).toBe(900);
    expect([service.posts, service.warnings]).toEqual([2, []]);
  });

  it.each([
    ['at another time of day', { ...occurrence('2026-03-04T22:00:00Z', 'g1') }],
    ['on other days', { ...occurrence('2026-03-04T19:00:00Z', 'g1'), recurrenceDays: ['WEDNESDAY'] }],
    ['that is a single event', { ...EVENT, start: '2026-03-02T19:00:00Z', recurrenceType: null }],
  ])('is not one %s', async (_name, other) => {
    const service = new OtherService();
    service.add(other);
    service.faults = [{ end: 'cut', done: false }];
    await create(service, events, SERIES);
    expect(service.posts).toBe(2);
  });
});

describe('createdRecordLookups', () => {
  it('asks by what no service writes in other words', async () => {
    const asked = CASES.map(async ({ resource, body }) => {
      const service = new OtherService();
      service.faults = [{ end: 'cut', done: false }];
      await create(service, resource, body);
      return [...new Set(service.filters)];
    });
    expect(await Promise.all(asked)).toEqual([
      ['dateOfBirth==1990-04-12,preferredLocation.id==5'],
      ['title==Lunch,location.id==5'],
      ['tagType==PAYMENT_TAG'],
      ['patient.id==7'],
    ]);
  });

  it('leaves out what would have to stand in quotes', async () => {
    const service = new OtherService();
    service.faults = [{ end: 'cut', done: true }];
    await create(service, events, { ...EVENT, title: 'Lunch, "late"', start: '2026-03-02T19:00:00Z', duration: 30 });
    expect([...new Set(service.filters)]).toEqual(['location.id==5']);
    expect(service.posts).toBe(1);
  });

  it.each<[string, Resource, unknown]>([
    ['a resource without an identity', documents, { name: 'x' }],
    ['a body without what it would be looked up by', patients, { firstName: 'Ann' }],
    ['a body that is none', patients, null],
    ['a value that is none', patients, { ...PATIENT, dateOfBirth: '12 April' }],
  ])('are none for %s', (_name, resource, values) => {
    expect(createdRecordLookups(new OtherService().client(), resource, values)).toEqual({});
  });
});
