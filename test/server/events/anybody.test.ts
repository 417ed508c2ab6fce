import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOCATIONS, NOWHERE, OPERATORIES, PROVIDERS } from '../../support/ids.ts';
import { sharedService } from '../../support/service.ts';
import { allEvents, calendarRecords, create, meeting, mondays, post, put } from './calendar.ts';

const service = sharedService(calendarRecords);

const strange = fc.constantFrom<unknown>(null, undefined, '', 'x', 0, -1, 1e300, true, [], {}, [null], { id: null });
const of = (...values: readonly unknown[]) => fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...values) }, strange);

/** Values right and wrong for every writable property. */
const bodies = fc.record(
  {
    title: of('Any', 'x'.repeat(61)),
    description: of('Any'),
    start: of(
      '2026-03-08T02:30',
      '2026-03-02T23:30',
      '2026-11-01T00:00',
      '0001-01-01T00:00:00+14:00',
      '9999-12-31T23:59:59Z',
    ),
    duration: of(5, 60, 1440, 1441, '30', 5.5),
    allDay: of(true, false),
    color: of('abcdef', '#abcde'),
    location: of({ id: LOCATIONS.east }, { id: LOCATIONS.west }, { id: NOWHERE }),
    operatory: of({ id: OPERATORIES.one }, { id: OPERATORIES.three }, { id: NOWHERE }),
    provider: of({ id: PROVIDERS.ann }, { id: PROVIDERS.gone }, { id: PROVIDERS.lab }),
    recurrenceType: of('WEEKLY', 'MONTHLY', 'weekly'),
    recurrenceStart: of('2026-03-01', '0001-01-01', '9999-12-31', '2026-02-30'),
    recurrenceEnd: of('2026-04-30', '2028-03-01', '0001-01-07', '9999-12-31'),
    recurrenceFrequency: of(1, 52, 53),
    recurrenceDays: of(['MONDAY'], ['SUNDAY', 'SATURDAY'], ['monday', 'MONDAY'], ['MONDAY', 'x'], 'MONDAY'),
    recurrenceWeek: of('FIRST', 'LAST', 'FIFTH'),
    recurrenceDay: of('MONDAY', 'SUNDAY'),
  },
  { requiredKeys: [] },
);

const EVERY_ERROR = {
  code: expect.any(String),
  title: expect.any(String),
  description: expect.any(String),
  source: expect.any(String),
};

describe('a body of any values', () => {
  it('is taken or refused with what is wrong, each property once, by POST', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, fc.boolean(), async (body, complete) => {
        const called = await post(service, complete ? meeting(body) : body);
        expect([201, 400]).toContain(called.status);
        for (const error of called.body.errors) expect(error).toEqual(EVERY_ERROR);
        const told = called.body.errors.map(({ code, source }) => `${code} ${source}`);
        expect(told).toEqual([...new Set(told)]);
      }),
      { numRuns: 70 },
    );
  });

  it('is taken or refused as a whole by PUT', async () => {
    const events = [await create(service), await create(service, { allDay: true }), ...(await mondays(service))];
    await fc.assert(
      fc.asyncProperty(bodies, fc.constantFrom('SERIES', 'OCCURRENCE'), fc.nat(), async (body, target, at) => {
        const { id } = events[at % events.length]!;
        const before = await allEvents(service);
        const called = await put(service, id, body, target);
        expect([200, 400, 404]).toContain(called.status);
        if (called.status === 400) expect(await allEvents(service)).toEqual(before);
        else if (called.status === 404) expect(before.map((event) => event.id)).not.toContain(id);
      }),
      { numRuns: 40 },
    );
  });
});
