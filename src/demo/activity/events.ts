import { instantText, utcStart, weekdayOf } from '../calendar.ts';
import type { LocationPlan } from '../locations.ts';
import type { Practice } from '../practice.ts';
import type { DemoRecord } from '../record.ts';
import { HALF_DAY } from '../schedule.ts';
import { isOnMonthly, isOnWeekly, type Rule, seriesFields } from './recurrence.ts';

/** What an event needs; the rest is empty. `start` in local minutes, null for the whole day. */
interface EventDraft {
  readonly title: string;
  readonly day: number;
  readonly start: number | null;
  readonly duration: number;
  readonly color: string;
  readonly description?: string;
  readonly provider?: number;
  readonly operatory?: number;
  readonly series?: { readonly groupId: string; readonly rule: Rule };
}

const SERIES_BEFORE = 182;
const SERIES_DAYS = 364;
const ALL_DAY = 1_439;

/** The calendar of a location: closures, its people's days off, and series of meetings (specification, Event; D39). */
export function* eventRecords(practice: Practice, location: LocationPlan): Generator<DemoRecord> {
  for (const { day, name } of practice.holidays) {
    yield event(practice, location, { title: `Closed: ${name}`, day, start: null, duration: ALL_DAY, color: 'd9534f' });
  }
  yield* daysOff(practice, location);
  yield* meetings(practice, location);
}

function* daysOff(practice: Practice, location: LocationPlan): Generator<DemoRecord> {
  for (const { provider } of location.operatories) {
    for (const day of provider.away) {
      if (!location.weekdays.includes(weekdayOf(day))) continue;
      const title = `${provider.firstName} ${provider.lastName} away`;
      yield event(practice, location, {
        title,
        day,
        start: null,
        duration: ALL_DAY,
        color: 'f0ad4e',
        provider: provider.id,
      });
    }
  }
}

function* meetings(practice: Practice, location: LocationPlan): Generator<DemoRecord> {
  const first = practice.today - SERIES_BEFORE;
  const last = first + SERIES_DAYS;
  const lunch = location.hours.morning + HALF_DAY;
  const [room] = location.operatories;
  const [weekday = 1, second = 2] = location.weekdays;
  const groups = ['staff', 'huddle', 'maintenance'].map((name) => `${name}-${location.id}`);
  const weekly: Rule = { type: 'WEEKLY', first, last, frequency: 1, days: [weekday] };
  const huddle: Rule = { type: 'WEEKLY', first, last, frequency: 2, days: [weekday, second] };
  const monthly: Rule = { type: 'MONTHLY', first, last, frequency: 1, week: 2, day: 2 };
  for (let day = first; day <= last; day++) {
    if (isOnWeekly(weekly, day)) {
      const series = { groupId: groups[0] ?? '', rule: weekly };
      yield event(practice, location, {
        title: 'Staff meeting',
        day,
        start: lunch + 10,
        duration: 40,
        color: '5bc0de',
        series,
      });
    }
    if (isOnWeekly(huddle, day)) {
      const series = { groupId: groups[1] ?? '', rule: huddle };
      const start = location.hours.morning - 15;
      yield event(practice, location, { title: 'Morning huddle', day, start, duration: 15, color: '5cb85c', series });
    }
    if (isOnMonthly(monthly, day) && room !== undefined) {
      const series = { groupId: groups[2] ?? '', rule: monthly };
      const draft = {
        title: 'Equipment maintenance',
        description: 'Sterilizer and compressor',
        start: lunch + 5,
        duration: 50,
      };
      yield event(practice, location, { ...draft, day, color: 'bbbbbb', operatory: room.id, series });
    }
  }
}

function event(practice: Practice, location: LocationPlan, draft: EventDraft): DemoRecord {
  const { title, day, start, duration, color, description, provider, operatory, series } = draft;
  const from = start === null ? location.clock.midnight(day) : location.clock.at(day, start);
  return {
    type: 'EventV1',
    organizationId: practice.organizationId,
    id: practice.ids.next('EventV1'),
    title,
    description: description ?? null,
    start: instantText(from),
    end: instantText(from + duration * 60_000),
    duration,
    allDay: start === null,
    color,
    lastModified: instantText(Math.min(from, utcStart(practice.today)) - 20 * 86_400_000),
    groupId: series?.groupId ?? null,
    location: { id: location.id },
    operatory: operatory === undefined ? null : { id: operatory },
    provider: provider === undefined ? null : { id: provider },
    ...seriesFields(series?.rule ?? null),
  };
}
