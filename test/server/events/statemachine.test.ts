import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventRecord } from '../../../src/server/resources/eventdrafts.ts';
import { rowOf, rowsOf } from '../../support/calls.ts';
import { sharedService } from '../../support/service.ts';
import { dayAfter, type WalkedRule } from '../recurrence/calendarwalk.ts';
import { DAY_NAMES } from '../recurrence/generatedrules.ts';
import { type Body, calendarRecords, PLACES, post, put } from './calendar.ts';
import { type ModelBody, ModelCalendar, type ModelEvent, type Target } from './model.ts';

const service = sharedService(calendarRecords);

type Operation =
  | { readonly verb: 'create'; readonly body: ModelBody & { readonly wall: string } }
  | { readonly verb: 'update'; readonly at: number; readonly target: Target; readonly body: ModelBody }
  | { readonly verb: 'remove'; readonly at: number; readonly target: Target };

/** Operations on the 60 days from a date on, in which the zone's clocks change. */
function operations(firstDay: string): fc.Arbitrary<Operation> {
  const date = fc.nat({ max: 60 }).map((days) => dayAfter(firstDay, days));
  const time = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 95 })).map((quarters) => {
    const minutes = quarters * 15;
    return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  });
  const wall = fc.tuple(date, time).map(([day, at]) => `${day}T${at}`);
  const span = { end: date, frequency: fc.integer({ min: 1, max: 3 }), start: date };
  const rule = fc.oneof(
    fc.record(
      {
        ...span,
        type: fc.constant('WEEKLY' as const),
        days: fc.subarray([...DAY_NAMES], { minLength: 1, maxLength: 2 }),
      },
      { requiredKeys: ['type', 'end', 'frequency', 'days'] },
    ),
    fc.record(
      {
        ...span,
        type: fc.constant('MONTHLY' as const),
        week: fc.constantFrom('FIRST', 'FOURTH', 'LAST'),
        day: fc.constantFrom(...DAY_NAMES),
      },
      { requiredKeys: ['type', 'end', 'frequency', 'week', 'day'] },
    ),
  );
  const values = {
    title: fc.constantFrom('A', 'B', 'C'),
    wall,
    duration: fc.oneof(fc.integer({ min: 5, max: 120 }), fc.integer({ min: 5, max: 1440 })),
    allDay: fc.boolean(),
  };
  const at = fc.nat();
  const target = fc.constantFrom<Target>('SERIES', 'OCCURRENCE');
  return fc.oneof(
    {
      weight: 2,
      arbitrary: fc.record({
        verb: fc.constant('create' as const),
        body: fc.record({ ...values, rule }, { requiredKeys: ['title', 'wall'] }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        verb: fc.constant('update' as const),
        at,
        target,
        body: fc.record(values, { requiredKeys: [] }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        verb: fc.constant('update' as const),
        at,
        target: fc.constant<Target>('SERIES'),
        body: fc.record({ ...values, rule: fc.option(rule, { freq: 4 }) }, { requiredKeys: ['rule'] }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ verb: fc.constant('remove' as const), at, target }) },
  ) as fc.Arbitrary<Operation>;
}

function wireBody({ wall, rule, ...rest }: ModelBody): Body {
  return {
    ...rest,
    ...(wall !== undefined && { start: wall }),
    ...(rule === null ? { recurrenceType: null } : wireRule(rule)),
  };
}

function wireRule(rule: Partial<WalkedRule> | undefined): Body {
  if (rule === undefined) return {};
  const { type, start, end, frequency, days, week, day } = rule;
  const own = type === 'WEEKLY' ? { recurrenceDays: days } : { recurrenceWeek: week, recurrenceDay: day };
  return { recurrenceType: type, recurrenceStart: start, recurrenceEnd: end, recurrenceFrequency: frequency, ...own };
}

/** An event of the model as the wire shows it; groups are compared by who shares one. */
function wireOf(event: ModelEvent, groupOf: (group: number | null) => unknown): Body {
  const none = {
    recurrenceStart: null,
    recurrenceEnd: null,
    recurrenceFrequency: null,
    recurrenceDays: null,
    recurrenceWeek: null,
    recurrenceDay: null,
  };
  const { id, title, start, duration, allDay, lastModified, rule } = event;
  const end = new Date(Date.parse(start) + duration * 60_000).toISOString();
  const recurrence = { recurrenceType: null, ...none, ...(rule ? wireRule(rule) : {}) };
  return { id, title, start, end, duration, allDay, lastModified, groupId: groupOf(event.group), ...recurrence };
}

/** Names groups by the lowest id of their members. */
function byLowest<T extends { readonly id: number }>(
  events: readonly T[],
  groupOf: (event: T) => unknown,
): (group: unknown) => unknown {
  return (group) =>
    group === null ? null : Math.min(...events.filter((event) => groupOf(event) === group).map(({ id }) => id));
}

async function expectSame(model: ModelCalendar, firstId: number): Promise<void> {
  const rows = rowsOf(
    await service.call('GET', '/events', { query: { lastId: firstId, pageSize: 500 } }),
  ) as unknown as EventRecord[];
  const wireGroup = byLowest(rows, ({ groupId }) => groupId);
  const modelGroup = byLowest(model.events, ({ group }) => group);
  const compared = ['id', 'title', 'start', 'end', 'duration', 'allDay', 'lastModified'] as const;
  const got = rows.map((row) => {
    const recurrence = Object.entries(row).filter(([name]) => name.startsWith('recurrence'));
    return {
      ...Object.fromEntries([...compared.map((name) => [name, row[name]]), ...recurrence]),
      groupId: wireGroup(row.groupId),
    };
  });
  const wanted = [...model.events].sort((a, b) => a.id - b.id).map((event) => wireOf(event, modelGroup));
  expect(got).toEqual(wanted);
}

async function run(model: ModelCalendar, place: number, operation: Operation): Promise<void> {
  service.clock.advance(1000);
  const now = service.clock.text();
  if (operation.verb === 'create') {
    const id = model.create(operation.body, now);
    const called = await post(service, { location: { id: place }, ...wireBody(operation.body) });
    expect(called.status, called.text).toBe(id === undefined ? 400 : 201);
    if (id !== undefined) expect(rowOf(called).id).toBe(id);
    return;
  }
  if (model.events.length === 0) return;
  const { id } = model.events[operation.at % model.events.length]!;
  if (operation.verb === 'remove') {
    model.remove(id, operation.target);
    const called = await service.call('DELETE', `/events/${id}`, { query: { recurrenceTarget: operation.target } });
    expect(called.body.data).toEqual({ id });
  } else {
    const done = model.update(id, operation.target, operation.body, now);
    const called = await put(service, id, wireBody(operation.body), operation.target);
    expect(called.status, called.text).toBe(done ? 200 : 400);
    if (done) expect(rowOf(called).id).toBe(id);
  }
}

describe('a calendar after any requests', () => {
  let highestId = 0;

  it.each([
    ['Denver, in spring', PLACES.denver, 'America/Denver', '2026-02-10'],
    ['Denver, in autumn', PLACES.denver, 'America/Denver', '2026-10-05'],
    ['Lord Howe', PLACES.lordHowe, 'Australia/Lord_Howe', '2026-09-10'],
    ['Sao Paulo, when clocks skipped a midnight', PLACES.saoPaulo, 'America/Sao_Paulo', '2018-10-10'],
  ])('is what the model says: %s', async (_name, place, zone, firstDay) => {
    await fc.assert(
      fc.asyncProperty(fc.array(operations(firstDay), { minLength: 3, maxLength: 9 }), async (sequence) => {
        const before = highestId;
        const model = new ModelCalendar(zone, before);
        try {
          for (const operation of sequence) {
            await run(model, place, operation);
            await expectSame(model, before);
          }
        } finally {
          const rows = rowsOf(await service.call('GET', '/events', { query: { lastId: before, pageSize: 500 } }));
          highestId = Math.max(model.highestId, ...rows.map(({ id }) => id as number));
        }
      }),
      { numRuns: 15 },
    );
  });
});
