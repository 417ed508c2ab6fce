import { type Called, rowsOf } from '../../../support/calls.ts';
import type { TestService } from '../../../support/service.ts';
import { type Line, location, newPractice, patient } from '../support.ts';

export const PATH = '/locationproductionnetschedule';

export const ZONES = new Map([
  [5, 'America/Denver'],
  [6, 'America/New_York'],
  [7, 'Pacific/Kiritimati'],
]);
/** Location 8 has no zone: the organization's, America/Denver. Operatory n0 is in location n. */
const PLACES = [...ZONES.keys(), 8].flatMap((id) => [
  location(id, ZONES.get(id)),
  { type: 'Operatory', id: id * 10, location: { id } },
]);
const PEOPLE = [
  patient(1),
  patient(2),
  { type: 'Provider', id: 3, lastName: 'A' },
  { type: 'Provider', id: 4, lastName: 'B' },
];

export function appointment(id: number, start: string, amount?: number, rest: Line = {}): Line {
  return {
    type: 'AppointmentV1',
    id,
    start,
    patient: { id: 1 },
    provider: { id: 3 },
    operatory: { id: 50 },
    ...(amount !== undefined && { production: { amount, writeOff: 0 } }),
    ...rest,
  };
}

/** A practice of those places and people, with appointments. */
export const practiceWith = (service: TestService, ...lines: Line[]) =>
  newPractice(service, [...PLACES, ...PEOPLE, ...lines]);
export const amounts = (called: Called) => rowsOf(called).map(({ scheduledAmount }) => scheduledAmount);
export const DAY = 'fromDate==2026-03-10';

/** Appointments of 2026-03-10 in Denver (UTC-6) and elsewhere; the amount of each is its id, in cents. */
export const PRACTICE: readonly Line[] = [
  appointment(1, '2026-03-10T05:59:59.999Z', 0.01),
  appointment(2, '2026-03-10T06:00:00Z', 0.02),
  appointment(4, '2026-03-11T05:59:00Z', 0.04, { provider: { id: 4 } }),
  appointment(8, '2026-03-11T06:00:00Z', 0.08, { patient: { id: 2 } }),
  appointment(16, '2026-03-10T04:30:00Z', 0.16, { operatory: { id: 60 } }),
  appointment(32, '2026-03-09T10:30:00Z', 0.32, { operatory: { id: 70 }, patient: { id: 2 } }),
  appointment(64, '2026-03-10T20:00:00Z', 0.64, { operatory: { id: 80 } }),
];
