import {
  asyncOperation,
  countOperation,
  createOperation,
  deleteOperation,
  filterKeys,
  getOperation,
  key,
  listOperation,
  resource,
  updateOperation,
} from '../define.ts';
import { link, list } from '../fields/composites.ts';
import { id, integer, yesNo } from '../fields/numbers.ts';
import { choice, freeText, text, typeName } from '../fields/text.ts';
import { date, dateTime } from '../fields/times.ts';
import { dateTimeValue, exactTextValue, idValue, locationValue, textValue } from '../filter/values.ts';
import { EQUALS, EQUALS_NOT_IN, IN, RANGE, TEXT } from '../operators.ts';
import { STANDARD_PAGING } from '../paging.ts';
import { optional, readOnly, required, requiredOnCreate } from '../record.ts';

export const WEEKDAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const;
export type Weekday = (typeof WEEKDAYS)[number];
export const WEEKS = ['FIRST', 'SECOND', 'THIRD', 'FOURTH', 'LAST'] as const;

const COLOR = /^[0-9a-fA-F]{6}$/;

/** Calendar event: a block that is no patient's (specification, Event; D39). Not a stream message. */
export const eventFields = {
  id: readOnly(id(), 'Event id'),
  type: readOnly(typeName('EventV1'), 'Always EventV1'),
  title: required(text({ min: 1, max: 60 }), 'Title'),
  description: optional(freeText(), 'Description'),
  start: required(dateTime(), 'Start'),
  end: readOnly(dateTime(), 'End: start and duration'),
  duration: optional(integer({ min: 5, max: 1440 }), 'Minutes, 60 when not given'),
  allDay: optional(yesNo(), 'From local midnight, 1439 minutes'),
  color: optional(
    text({ rule: (color) => (COLOR.test(color) ? undefined : 'must be exactly 6 hexadecimal digits without #.') }),
    'Six hexadecimal digits, bbbbbb when not given',
  ),
  lastModified: readOnly(dateTime(), 'Last change'),
  groupId: readOnly(text({ max: 50 }), 'Group of a recurring series'),
  location: requiredOnCreate(link('Location'), 'Location'),
  operatory: optional(link('Operatory'), 'Operatory of the same location'),
  provider: optional(link('Provider'), 'Active provider who is a person'),
  recurrenceType: optional(choice(['WEEKLY', 'MONTHLY']), 'How it recurs; null when it does not'),
  recurrenceStart: optional(date(), 'First day of the recurrence'),
  recurrenceEnd: optional(date(), 'Last day, at most 2 years later'),
  recurrenceFrequency: optional(integer({ min: 1, max: 52 }), 'Every so many weeks or months'),
  recurrenceDays: optional(weekdayList(), 'Days of the week, for WEEKLY'),
  recurrenceWeek: optional(choice(WEEKS), 'Week of the month, for MONTHLY'),
  recurrenceDay: optional(choice(WEEKDAYS), 'Day of the week, for MONTHLY'),
} as const;

/** `recurrenceDays` is null unless WEEKLY (D39), so no empty list stands for it. */
function weekdayList() {
  const { empty: _, ...kind } = list(choice(WEEKDAYS));
  return kind;
}

export const eventFilters = filterKeys({
  id: key(IN, idValue, 'Event ids', { flags: { id: '->' } }),
  title: key(TEXT, textValue, 'Title', { flags: { title: '~=' }, index: 'none' }),
  start: key(RANGE, dateTimeValue, 'Start', { flags: { from: '>=', to: '<=' } }),
  'operatory.id': key(EQUALS_NOT_IN, idValue, 'Operatory', {
    flags: { operatory: '->' },
    index: 'none',
    fewValues: true,
  }),
  'location.id': key(EQUALS_NOT_IN, locationValue, 'Location', {
    flags: { location: '->' },
    willBeRequired: true,
    index: 'none',
  }),
  'provider.id': key(EQUALS_NOT_IN, idValue, 'Provider', { flags: { provider: '->' }, index: 'none', fewValues: true }),
  lastModified: key(RANGE, dateTimeValue, 'Last change', { flags: { 'modified-since': '>=', 'modified-before': '<' } }),
  groupId: key(EQUALS, exactTextValue, 'Group of a series', { flags: { group: '==' } }),
});

/** Which of a series an operation is for: exact upper case (D8). */
const recurrenceTarget = (needed: boolean) => ({
  recurrenceTarget: {
    values: ['SERIES', 'OCCURRENCE'],
    required: needed,
    about: 'The event alone, or it and all later ones of its series',
  },
});

/** A service may leave out what was last changed over a year ago, unless the request has a bound on the start, which each event has. */
const dateLimit = { key: 'start', limiting: ['lastModified', 'start'] } as const;

export const events = resource({
  name: 'events',
  type: 'EventV1',
  one: 'calendar event',
  many: 'calendar events',
  about: 'Blocks of the calendar that are no patient visits: meetings, closures',
  fields: eventFields,
  locatedBy: ['location'],
  filters: eventFilters,
  tableColumns: ['id', 'start', 'duration', 'title', 'location.id', 'operatory.id', 'provider.id', 'groupId'],
  indexes: [
    { keys: ['location.id', 'start'] },
    { keys: ['operatory.id', 'start'], present: true },
    { keys: ['provider.id', 'start'], present: true },
  ],
  operations: {
    list: listOperation('/events', {
      summary: 'List calendar events',
      filters: eventFilters,
      paging: STANDARD_PAGING,
      dateLimit,
      fields: eventFields,
      newestFirst: ['start', 'lastModified'],
    }),
    count: countOperation('/events/totalcount', {
      summary: 'Count calendar events',
      filters: eventFilters,
      dateLimit,
      countNames: ['total'],
    }),
    async: asyncOperation('/events/async', {
      summary: 'First calendar events, all of them on the streaming channel',
      filters: eventFilters,
      dateLimit,
      fields: eventFields,
    }),
    get: getOperation('/events/{eventId}', {
      summary: 'Show one calendar event',
      fields: eventFields,
      rateLimited: true,
    }),
    create: createOperation('/events', {
      summary: 'Create a calendar event, or a series of them',
      fields: eventFields,
      body: eventFields,
      rateLimited: true,
    }),
    update: updateOperation('/events/{eventId}', {
      summary: 'Change a calendar event, or it and all later ones of its series',
      fields: eventFields,
      body: eventFields,
      parameters: recurrenceTarget(true),
      rateLimited: true,
    }),
    delete: deleteOperation('/events/{eventId}', {
      summary: 'Delete a calendar event, or it and all later ones of its series',
      parameters: recurrenceTarget(false),
      rateLimited: true,
    }),
  },
});
