import { events } from '../../../src/catalog/resources/events.ts';
import type { WireRecord } from '../calls.ts';
import type { ResourceFixture } from '../fixture.ts';
import { big, ELSEWHERE, LOCATIONS, OPERATORIES, PROVIDERS } from '../ids.ts';

const link = (id: number) => ({ id });

function event(n: number, title: string, record: WireRecord): WireRecord {
  return {
    id: big(n),
    title,
    start: '2026-03-10T15:00:00.000Z',
    end: '2026-03-10T16:00:00.000Z',
    duration: 60,
    allDay: false,
    color: 'bbbbbb',
    lastModified: `2026-02-${String(n % 100).padStart(2, '0')}T08:00:00.000Z`,
    location: link(LOCATIONS.east),
    ...record,
  };
}

const WEEKLY = {
  groupId: 'group-1',
  recurrenceType: 'WEEKLY',
  recurrenceStart: '2026-03-12',
  recurrenceEnd: '2026-03-19',
  recurrenceFrequency: 1,
  recurrenceDays: ['THURSDAY'],
};

/** Calendar events (specification, Event, Limits; D16, D39). */
export const eventFixture: ResourceFixture = {
  resource: events,
  records: [
    event(801, 'Staff meeting', { description: 'All of us', provider: link(PROVIDERS.ann) }),
    event(802, 'staff LUNCH', {
      operatory: link(OPERATORIES.one),
      start: '2026-03-10T15:00:00.001Z',
      end: '2026-03-10T15:30:00.001Z',
      duration: 30,
    }),
    event(803, '100% closed', { location: link(LOCATIONS.west), operatory: link(OPERATORIES.three), color: 'FF00aa' }),
    event(804, 'Closed', {
      allDay: true,
      start: '2026-03-11T04:00:00.000Z',
      end: '2026-03-12T03:59:00.000Z',
      duration: 1439,
    }),
    event(805, 'R\u00e9union', {
      ...WEEKLY,
      provider: link(PROVIDERS.ben),
      start: '2026-03-12T13:00:00.000Z',
      end: '2026-03-12T14:00:00.000Z',
    }),
    event(806, 'RE\u0301UNION', { ...WEEKLY, start: '2026-03-19T13:00:00.000Z', end: '2026-03-19T14:00:00.000Z' }),
    event(807, 'Closed', {
      location: link(LOCATIONS.home),
      groupId: 'Group-1',
      lastModified: '2026-02-06T08:00:00.000Z',
    }),
  ],
  elsewhere: [
    event(801, 'Elsewhere', { location: link(ELSEWHERE.location) }),
    event(9801, 'Elsewhere', { location: link(ELSEWHERE.location) }),
  ],
  meta: 'others',
  countNames: ['total'],
  create: (n) => ({ title: `Event ${n}`, start: '2026-06-01T15:00:00.000Z', location: link(LOCATIONS.east) }),
  required: ['title', 'start', 'location'],
  update: (n) => ({ title: `Changed ${n}`, description: `Changed ${n}` }),
  lengths: [
    ['title', 1, 60],
    ['description', 0, 10_000],
  ],
  ranges: [['duration', 5, 1440]],
  links: [
    ['location', LOCATIONS.west, ELSEWHERE.location],
    ['operatory', OPERATORIES.two, ELSEWHERE.operatory],
    ['provider', PROVIDERS.ben, ELSEWHERE.provider],
  ],
  dateTimes: ['start'],
  booleans: ['allDay'],
  // Midnight in New York on the day that has 25 hours: the longest event ends on it still.
  companions: (name): Readonly<Record<string, unknown>> =>
    name === 'duration' ? { start: '2026-11-01T04:00:00Z' } : {},
  samples: {
    update: { query: { recurrenceTarget: 'OCCURRENCE' } },
    delete: { query: { recurrenceTarget: 'OCCURRENCE' } },
  },
};
