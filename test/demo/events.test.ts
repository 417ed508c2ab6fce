import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import { fallsOn, seriesFields } from '../../src/demo/activity/events.ts';
import { dayOf } from '../../src/demo/calendar.ts';
import type { DemoRecord } from '../../src/demo/practice.ts';
import { groups, idOf, smallPractice } from './smallpractice.ts';

const { of } = smallPractice();
const events = of('EventV1');
const zones = new Map(of('Location').map(({ id, timezone }) => [id, timezone as string]));
const local = (event: DemoRecord, field = 'start') =>
  DateTime.fromISO(event[field] as string, { zone: zones.get(idOf(event.location))! });
const series = groups(
  events.filter(({ groupId }) => groupId !== null),
  ({ groupId }) => groupId as string,
);

/** The dates a rule names, walked day by day (D39). */
function datesOf(rule: DemoRecord): string[] {
  const first = DateTime.fromISO(rule.recurrenceStart as string, { zone: 'utc' });
  const last = DateTime.fromISO(rule.recurrenceEnd as string, { zone: 'utc' });
  const dates: string[] = [];
  for (let day = first; day <= last; day = day.plus({ days: 1 })) {
    const name = day.toFormat('cccc').toUpperCase();
    if (rule.recurrenceType === 'WEEKLY') {
      const weeks = day.startOf('week').diff(first.startOf('week'), 'weeks').weeks;
      if (weeks % (rule.recurrenceFrequency as number) === 0 && (rule.recurrenceDays as string[]).includes(name))
        dates.push(day.toISODate()!);
    } else if (rule.recurrenceWeek === 'SECOND' && name === rule.recurrenceDay && day.day > 7 && day.day <= 14) {
      dates.push(day.toISODate()!);
    }
  }
  return dates;
}

describe('events', () => {
  it('have a title, a colour and an end that follows from start and duration', () => {
    for (const event of events) {
      expect((event.title as string).length).toBeLessThanOrEqual(60);
      expect(event.color).toMatch(/^[0-9a-f]{6}$/);
      expect(local(event, 'end').diff(local(event)).as('minutes')).toBe(event.duration);
      expect(local(event, 'end').hasSame(local(event), 'day')).toBe(true);
      if (event.allDay) expect([local(event).toFormat('HH:mm'), event.duration]).toEqual(['00:00', 1_439]);
    }
  });

  it('of a series share group and rule, fall on its dates, and keep local time across DST', () => {
    expect(series.size).toBe(6);
    for (const [groupId, occurrences] of series) {
      expect(groupId.length).toBeLessThanOrEqual(50);
      const rules = occurrences.map(({ id: _, start: __, end: ___, lastModified: ____, ...rest }) =>
        JSON.stringify(rest),
      );
      expect(new Set(rules).size).toBe(1);
      expect(occurrences.map((event) => local(event).toISODate())).toEqual(datesOf(occurrences[0]!));
      expect(new Set(occurrences.map((event) => local(event).toFormat('HH:mm'))).size).toBe(1);
      const offsets = new Set(occurrences.map((event) => local(event).offset));
      expect(offsets.size, 'a year has both offsets').toBe(2);
    }
  });

  it('without a series have no recurrence', () => {
    const single = events.filter(({ groupId }) => groupId === null);
    expect(single.length).toBeGreaterThan(40);
    for (const event of single)
      expect([event.recurrenceType, event.recurrenceStart, event.recurrenceDays]).toEqual([null, null, null]);
  });

  it('use operatories of their location and providers who are people and active', () => {
    const operatories = new Map(of('Operatory').map(({ id, location }) => [id, idOf(location)]));
    const providers = new Map(of('Provider').map((provider) => [provider.id, provider]));
    for (const { operatory, provider, location } of events) {
      if (operatory !== null) expect(operatories.get(idOf(operatory))).toBe(idOf(location));
      if (provider !== null)
        expect(providers.get(idOf(provider))).toMatchObject({ isActive: true, isNonPersonEntity: false });
    }
    expect(events.some(({ operatory }) => operatory !== null) && events.some(({ provider }) => provider !== null)).toBe(
      true,
    );
  });
});

const first = fc.integer({ min: dayOf('2023-01-01'), max: dayOf('2028-12-31') });
const dateOf = (day: number) => DateTime.fromMillis(day * 86_400_000, { zone: 'utc' });

describe('recurrence', () => {
  it('counts weeks from Monday', () => {
    fc.assert(
      fc.property(
        first,
        fc.nat(400),
        fc.integer({ min: 1, max: 5 }),
        fc.subarray([0, 1, 2, 3, 4, 5, 6]),
        (start, after, frequency, days) => {
          const rule = { type: 'WEEKLY', first: start, last: start + 400, frequency, days } as const;
          const date = dateOf(start + after);
          const weeks = date.startOf('week').diff(dateOf(start).startOf('week'), 'weeks').weeks;
          expect(fallsOn(rule, start + after)).toBe(weeks % frequency === 0 && days.includes(date.weekday % 7));
        },
      ),
    );
  });

  it.each([
    ['2026-03-10', 2, 2, true],
    ['2026-03-03', 2, 2, false],
    ['2026-03-17', 2, 2, false],
    ['2026-03-11', 2, 2, false],
    ['2026-03-01', 1, 0, true],
    ['2026-03-28', 4, 6, true],
  ])('finds whether %s is weekday %i of the month’s week %i', (date, week, day, expected) => {
    const rule = {
      type: 'MONTHLY',
      first: dayOf('2026-01-01'),
      last: dayOf('2026-12-31'),
      frequency: 1,
      week,
      day,
    } as const;
    expect(fallsOn(rule, dayOf(date))).toBe(expected);
  });

  it('writes the fields of each kind of rule, null where they do not apply', () => {
    const span = { first: dayOf('2026-01-05'), last: dayOf('2026-12-31') };
    expect(seriesFields({ type: 'WEEKLY', ...span, frequency: 2, days: [1, 0] })).toEqual({
      recurrenceType: 'WEEKLY',
      recurrenceStart: '2026-01-05',
      recurrenceEnd: '2026-12-31',
      recurrenceFrequency: 2,
      recurrenceDays: ['MONDAY', 'SUNDAY'],
      recurrenceWeek: null,
      recurrenceDay: null,
    });
    expect(seriesFields({ type: 'MONTHLY', ...span, frequency: 1, week: 2, day: 2 })).toMatchObject({
      recurrenceType: 'MONTHLY',
      recurrenceDays: null,
      recurrenceWeek: 'SECOND',
      recurrenceDay: 'TUESDAY',
    });
    expect(new Set(Object.values(seriesFields(null)))).toEqual(new Set([null]));
  });
});
