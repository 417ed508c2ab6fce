import type { Maker } from './maker.ts';
import { APPOINTMENT_STATUSES, TITLES } from './words.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;

/** Adds events that do not recur. */
export function makeEvents(maker: Maker, count: number): void {
  const { draws } = maker;
  for (let index = 0; index < count; index++) {
    const location = maker.location();
    const start = quarter(maker.instant(-12 * 365 * DAY, 200 * DAY));
    const duration = 5 * draws.whole(1, 24);
    maker.add('events', {
      type: 'EventV1',
      title: `${draws.one(TITLES)} ${index}`,
      description: maker.maybe('Made up'),
      start: new Date(start).toISOString(),
      end: new Date(start + duration * MINUTE).toISOString(),
      duration,
      allDay: false,
      color: 'bbbbbb',
      lastModified: maker.modifiedOrNever(),
      groupId: null,
      location,
      operatory: maker.maybe(maker.operatory(location.id)),
      provider: maker.maybe(maker.provider()),
      ...NOT_RECURRING,
    });
  }
}

export const NOT_RECURRING = {
  recurrenceType: null,
  recurrenceStart: null,
  recurrenceEnd: null,
  recurrenceFrequency: null,
  recurrenceDays: null,
  recurrenceWeek: null,
  recurrenceDay: null,
} as const;

/** Adds appointments, a third of them in the next month. */
export function makeAppointments(maker: Maker, count: number): void {
  const { draws } = maker;
  for (let index = 0; index < count; index++) {
    const location = maker.location();
    const soon = draws.chance(0.33);
    const start = quarter(soon ? maker.instant(0, 30 * DAY) : maker.past());
    maker.add('appointments', {
      status: maker.listed(APPOINTMENT_STATUSES, 'ON_HOLD'),
      start: new Date(start).toISOString(),
      duration: 15 * draws.whole(1, 8),
      patient: maker.linkTo('patients'),
      operatory: maker.operatory(location.id),
      location,
      provider: maker.provider(),
      asap: draws.chance(0.2),
      needsFollowUp: draws.chance(0.2),
      lastModified: maker.modified(),
      scheduledAmount: draws.whole(0, 90_000),
    });
  }
}

/** Adds missed appointments. */
export function makeMissed(maker: Maker, count: number): void {
  for (let index = 0; index < count; index++) {
    const link = maker.linkTo('appointments');
    const appointment = link ? maker.practice.shelves.appointments.get(link.id)?.record : undefined;
    if (!appointment) return;
    maker.add('missedappointments', {
      appointment: link,
      start: new Date(quarter(maker.past())).toISOString(),
      duration: appointment.duration,
      status: maker.listed(['NO_SHOW', 'BROKEN'], 'LATE_CANCEL'),
      operatory: appointment.operatory,
      provider: appointment.provider,
      patient: appointment.patient,
      location: appointment.location,
      other: null,
      procedures: maker.maybe('D0120'),
      cancelledOn: maker.maybe(maker.past()),
      reasonCancelled: maker.maybe('Ill'),
      rescheduledOn: null,
      note: null,
    });
  }
}

/** Adds histories of appointments. */
export function makeHistories(maker: Maker, count: number): void {
  for (let index = 0; index < count; index++) {
    const appointment = maker.linkTo('appointments');
    if (!appointment) return;
    maker.add('appointmenthistories', {
      appointment,
      change: maker.draws.one(['CREATED', 'MOVED', 'STATUS']),
      lastModified: maker.modified(),
    });
  }
}

/** Adds reasons that templates of a schedule name; each belongs to one location. */
export function makeReasons(maker: Maker, count: number): void {
  for (let index = 0; index < count; index++) {
    maker.add('scheduletemplatereasons', { name: `Reason ${index}`, location: maker.location() });
  }
}

function quarter(instant: string): number {
  return Math.floor(Date.parse(instant) / QUARTER) * QUARTER;
}
