import { type Called, rowsOf } from '../../../support/calls.ts';
import type { TestService } from '../../../support/service.ts';
import { type Line, location, newPractice, patient } from '../support.ts';

export const PATH = '/scheduleopenings';

/** Location 5 is in Denver, 6 in New York, 7 has the organization's zone, Denver, 8 is on Kiritimati. Operatory 51 is in location 5. */
const PLACES: readonly Line[] = [
  location(5, 'America/Denver'),
  location(6, 'America/New_York'),
  location(7),
  location(8, 'Pacific/Kiritimati'),
  ...[51, 52, 61, 71, 81].map((id) => ({ type: 'Operatory', id, location: { id: Math.floor(id / 10) } })),
  { type: 'Provider', id: 3, lastName: 'A' },
  { type: 'Provider', id: 4, lastName: 'B' },
  ...[1, 2].map((id) => ({ type: 'ScheduleTemplateReasonV1', id, reason: `R${id}`, location: { id: 5 } })),
  patient(1),
];

/** Hours of provider 3 in operatory 51 on Tuesdays; 2026-03-10 is one, Denver then is at UTC-6. */
export function template(start: string, end: string, rest: Line = {}): Line {
  return {
    type: 'ScheduleTemplateV1',
    id: 1,
    location: { id: 5 },
    operatory: { id: 51 },
    provider: { id: 3 },
    dayOfWeek: 'TUESDAY',
    start,
    end,
    ...rest,
  };
}

/** `at`: hour of 2026-03-10 in Denver. */
export const instant = (at: number) => new Date(Date.UTC(2026, 2, 10, 6) + at * 3_600_000).toISOString();

export function appointment(at: number, duration: number, rest: Line = {}): Line {
  return {
    type: 'AppointmentV1',
    id: (at + 24) * 100,
    start: instant(at),
    duration,
    patient: { id: 1 },
    provider: { id: 3 },
    operatory: { id: 51 },
    ...rest,
  };
}

export function event(at: number, duration: number, rest: Line = {}): Line {
  return { type: 'EventV1', id: at * 100, title: 'Busy', start: instant(at), duration, location: { id: 5 }, ...rest };
}

/** A practice of those places and people, with hours and what takes time. */
export const practiceWith = (service: TestService, ...lines: Line[]) => newPractice(service, [...PLACES, ...lines]);
export const TUESDAY = 'location.id==5,startDate==2026-03-10,endDate==2026-03-10';

/** `provider/operatory day: from-to …`, in hours of 2026-03-10 in Denver. */
export function brief(called: Called): string[] {
  const hour = (text: string) => (Date.parse(text) - Date.UTC(2026, 2, 10, 6)) / 3_600_000;
  return rowsOf(called).map((row) => {
    const { provider, operatory, day, slots } = row as unknown as {
      provider: { id: number };
      operatory: { id: number };
      day: string;
      slots: { start: string; end: string }[];
    };
    const times = slots.map(({ start, end }) => `${hour(start)}-${hour(end)}`);
    return `${provider.id}/${operatory.id} ${day}: ${times.join(' ')}`;
  });
}
