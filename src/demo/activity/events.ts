import { dateText, instantText, utcStart, WEEKDAYS, weekdayOf } from '../calendar.ts';
import type { DemoRecord, LocationPlan, Practice } from '../practice.ts';
import { HALF_DAY } from '../schedule.ts';

/** What an event needs; the rest is empty. `start` in local minutes, null for all day. */
interface EventDraft {
  readonly title: string;
  readonly start: number | null;
  readonly duration: number;
  readonly color: string;
  readonly description?: string;
  readonly provider?: { readonly id: number };
  readonly operatory?: { readonly id: number } | undefined;
  readonly group?: string;
  readonly rule?: Rule;
}

/** The rule of a series; `first` and `last` day are both included. */
export type Rule = { readonly first: number; readonly last: number } & (
  | {
      readonly type: 'WEEKLY';
      /** In weeks. */
      readonly frequency: number;
      /** 0 for Sunday to 6 for Saturday. */
      readonly days: readonly number[];
    }
  | {
      /** The nth weekday of each month; only a frequency of 1. */
      readonly type: 'MONTHLY';
      readonly frequency: 1;
      /** 1 to 4. */
      readonly week: number;
      readonly day: number;
    }
);

const SERIES_BEFORE = 182;
const SERIES_DAYS = 364;
const ALL_DAY = { start: null, duration: 1_439 };
const WEEKS = ['FIRST', 'SECOND', 'THIRD', 'FOURTH'];

/** The calendar of a location: closures, its people's days off, and series of meetings (specification, Event; D39). */
export function* eventRecords(practice: Practice, location: LocationPlan): Generator<DemoRecord> {
  for (const { day, name } of practice.holidays) {
    yield event(practice, location, day, { ...ALL_DAY, title: `Closed: ${name}`, color: 'd9534f' });
  }
  for (const { provider } of location.operatories) {
    const title = `${provider.firstName} ${provider.lastName} away`;
    for (const day of provider.away.filter((day) => location.weekdays.includes(weekdayOf(day)))) {
      yield event(practice, location, day, { ...ALL_DAY, title, color: 'f0ad4e', provider: { id: provider.id } });
    }
  }
  const first = practice.today - SERIES_BEFORE;
  const last = first + SERIES_DAYS;
  const meetings = meetingsOf(location, first, last);
  for (let day = first; day <= last; day++) {
    for (const meeting of meetings) if (fallsOn(meeting.rule, day)) yield event(practice, location, day, meeting);
  }
}

function meetingsOf({ id, hours, weekdays, operatories: [room] }: LocationPlan, first: number, last: number) {
  const lunch = hours.morning + HALF_DAY;
  const [weekday = 1, second = 2] = weekdays;
  const meetings: (EventDraft & { rule: Rule })[] = [
    {
      title: 'Staff meeting',
      ...{ start: lunch + 10, duration: 40, color: '5bc0de', group: `staff-${id}` },
      rule: { type: 'WEEKLY', first, last, frequency: 1, days: [weekday] },
    },
    {
      title: 'Morning huddle',
      ...{ start: hours.morning - 15, duration: 15, color: '5cb85c', group: `huddle-${id}` },
      rule: { type: 'WEEKLY', first, last, frequency: 2, days: [weekday, second] },
    },
    {
      title: 'Equipment maintenance',
      description: 'Sterilizer and compressor',
      ...{ start: lunch + 5, duration: 50, color: 'bbbbbb', group: `maintenance-${id}` },
      operatory: room && { id: room.id },
      rule: { type: 'MONTHLY', first, last, frequency: 1, week: 2, day: 2 },
    },
  ];
  return meetings;
}

function event(practice: Practice, { id, clock }: LocationPlan, day: number, draft: EventDraft): DemoRecord {
  const { title, start, duration, color } = draft;
  const from = start === null ? clock.midnight(day) : clock.at(day, start);
  return {
    type: 'EventV1',
    organizationId: practice.organizationId,
    id: practice.nextId('EventV1'),
    title,
    description: draft.description ?? null,
    start: instantText(from),
    end: instantText(from + duration * 60_000),
    duration,
    allDay: start === null,
    color,
    lastModified: instantText(Math.min(from, utcStart(practice.today)) - 20 * 86_400_000),
    groupId: draft.group ?? null,
    location: { id },
    operatory: draft.operatory ?? null,
    provider: draft.provider ?? null,
    ...seriesFields(draft.rule ?? null),
  };
}

/** Whether a day within its span belongs to a series; weeks start on Monday (D39). */
export function fallsOn(rule: Rule, day: number): boolean {
  if (rule.type === 'WEEKLY') {
    const weeks = (mondayOf(day) - mondayOf(rule.first)) / 7;
    return weeks % rule.frequency === 0 && rule.days.includes(weekdayOf(day));
  }
  const inMonth = new Date(utcStart(day)).getUTCDate();
  return weekdayOf(day) === rule.day && Math.ceil(inMonth / 7) === rule.week;
}

function mondayOf(day: number): number {
  return day - ((weekdayOf(day) + 6) % 7);
}

/** The wire fields of a rule, all null for a single event. */
export function seriesFields(rule: Rule | null): Record<string, unknown> {
  const weekly = rule?.type === 'WEEKLY' ? rule : null;
  const monthly = rule?.type === 'MONTHLY' ? rule : null;
  return {
    recurrenceType: rule?.type ?? null,
    recurrenceStart: rule && dateText(rule.first),
    recurrenceEnd: rule && dateText(rule.last),
    recurrenceFrequency: rule?.frequency ?? null,
    recurrenceDays: weekly?.days.map((day) => WEEKDAYS[day]) ?? null,
    recurrenceWeek: monthly && WEEKS[monthly.week - 1],
    recurrenceDay: monthly && WEEKDAYS[monthly.day],
  };
}
