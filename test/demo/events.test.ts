import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import type { DemoRecord } from '../../src/demo/record.ts';
import { groups } from './reading.ts';
import { idOf, smallPractice } from './smallpractice.ts';

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
