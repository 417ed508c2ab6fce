import { instantText, utcStart, type ZoneClock } from '../calendar.ts';
import type { Household } from '../households.ts';
import type { Home, Person, Visit } from '../people.ts';
import type { DemoRecord, OperatoryPlan, Practice } from '../practice.ts';
import type { Random } from '../random.ts';
import type { Coverages } from './coverage.ts';
import { sumOf } from './ledger.ts';
import { type Procedure, proceduresAt } from './procedures.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const NOTES = [
  'Prefers mornings',
  'Bring new insurance card',
  'Nervous, take time',
  'Needs interpreter',
  'Premedication',
];

const CANCEL_REASONS = ['Ill', 'Work conflict', 'No transport', 'Forgot', 'Moving to another practice', 'Weather'];

/** A visit with what is done or planned at it. */
export interface Appointment {
  readonly person: Person;
  readonly visit: Visit;
  readonly operatory: OperatoryPlan;
  /** Procedures with this location's fees. */
  readonly procedures: readonly Procedure[];
  /** Whether it took place before today. */
  readonly completed: boolean;
  /** Whether it is the person's first visit ever. */
  readonly first: boolean;
  /** Cents: all fees, and what a plan's agreement takes off them. */
  readonly amount: number;
  readonly writeOff: number;
}

/** The visits of a household with their procedures, by date. */
export function appointmentsOf(
  { home: { location }, members }: Household,
  coverages: Coverages,
  today: number,
  random: Random,
): Appointment[] {
  const appointments = members.flatMap((person) =>
    person.visits.map((visit): Appointment => {
      const { day, start, operatory: index } = visit.slot;
      const operatory = location.operatories[index] as OperatoryPlan;
      const completed = day < today && visit.status === 'COMPLETED';
      const first = person.firstVisit === location.clock.at(day, start);
      const usual = proceduresAt(operatory.provider.role, person, first || person.status === 'NEW', random);
      const procedures = usual.map((procedure) => ({
        ...procedure,
        fee: Math.round((procedure.fee * location.feePercent) / 10_000) * 100,
      }));
      const coverage = coverages.get(person);
      const writeOffs = procedures.map(({ category, fee }) =>
        coverage?.covers(day, category) ? coverage.writeOff(fee) : 0,
      );
      const [amount, writeOff] = [sumOf(procedures.map(({ fee }) => fee)), sumOf(writeOffs)];
      return { person, visit, operatory, procedures, completed, first, amount, writeOff };
    }),
  );
  return appointments.sort((a, b) => a.visit.slot.day - b.visit.slot.day || a.visit.slot.start - b.visit.slot.start);
}

/** One state of an appointment: since when, and when it was to start, in UTC milliseconds. */
interface Step {
  readonly status: string;
  readonly at: number;
  readonly start: number;
}

/** An appointment as records: itself (D27), its history (D26) and its missed occurrence (D28). */
export function* appointmentRecords(
  practice: Practice,
  { home }: Household,
  appointment: Appointment,
  random: Random,
): Generator<DemoRecord> {
  const { person, visit, operatory, procedures } = appointment;
  const { slot } = visit;
  const start = home.location.clock.at(slot.day, slot.start);
  const steps = stepsOf(practice, home.location.clock, appointment, random);
  const id = practice.nextId('AppointmentV1');
  const note = random.chance(0.15) ? random.pick(NOTES) : null;
  const common = {
    organizationId: practice.organizationId,
    duration: slot.duration,
    patient: { id: person.id },
    provider: { id: operatory.provider.id },
    operatory: { id: operatory.id },
    location: { id: home.location.id },
  };
  const end = instantText(start + slot.duration * MINUTE_MS);
  const details = detailsOf(home, appointment, steps, note, random);
  yield { type: 'AppointmentV1', id, ...common, start: instantText(start), end, ...details };
  for (const [index, step] of steps.entries()) {
    yield {
      type: 'AppointmentHistoryV1',
      id: practice.nextId('AppointmentHistoryV1'),
      ...common,
      appointment: { id },
      start: instantText(step.start),
      status: step.status,
      note,
      action: index === 0 ? 'CREATE' : 'UPDATE',
      created: instantText(step.at),
      lastModified: instantText(step.at),
    };
  }
  const at = steps.findIndex(({ status }) => status === 'NO_SHOW' || status === 'BROKEN');
  const [missed, rescheduled] = [steps[at], steps[at + 1]];
  if (missed === undefined) return;
  yield {
    type: 'MissedAppointmentV1',
    id: practice.nextId('MissedAppointmentV1'),
    ...common,
    appointment: { id },
    start: instantText(missed.start),
    status: missed.status,
    other: null,
    procedures: procedures.map(({ name }) => name).join('; '),
    cancelledOn: missed.status === 'BROKEN' || random.chance(0.5) ? instantText(missed.at) : null,
    reasonCancelled: random.chance(0.6) ? random.pick(CANCEL_REASONS) : null,
    rescheduledOn: rescheduled === undefined ? null : instantText(rescheduled.at),
    note: null,
  };
}

function detailsOf(
  { location }: Home,
  { person, visit: { status }, operatory, completed, first, amount, writeOff }: Appointment,
  steps: readonly [Step, ...Step[]],
  note: string | null,
  random: Random,
) {
  const isNew = first || person.status === 'NEW';
  const usual = operatory.provider.role === 'hygienist' ? 'RECARE' : 'TREATMENT';
  const reason = location.reasons.find(({ isFor }) => isFor === (isNew ? 'NEW_PATIENT' : usual));
  const confirmed = steps.find((step) => step.status === 'CONFIRMED');
  const missed = ['NO_SHOW', 'BROKEN', 'UNREACHABLE'].includes(status);
  return {
    status,
    asap: random.chance(0.06),
    needsFollowUp: random.chance(missed ? 0.7 : 0.04),
    note,
    other: random.chance(0.03) ? 'Lab case' : null,
    bookedOnline: random.chance(isNew ? 0.4 : 0.12),
    bookingType: isNew ? 'NEW_PATIENT' : random.chance(0.1) ? 'EXISTING_PATIENT' : usual,
    reason: reason !== undefined && random.chance(0.8) ? { id: reason.id } : null,
    created: instantText(steps[0].at),
    confirmed: confirmed === undefined ? null : instantText(confirmed.at),
    lastModified: instantText(lastOf(steps).at),
    ...((completed || random.chance(0.93)) && { production: { amount: amount / 100, writeOff: writeOff / 100 } }),
  };
}

/**
 * The life of an appointment from the booking to its present state, every step before the start of today: booked,
 * perhaps broken and moved, confirmed, and how it ended.
 */
function stepsOf(
  practice: Practice,
  clock: ZoneClock,
  { visit: { slot, status }, completed, first }: Appointment,
  random: Random,
): readonly [Step, ...Step[]] {
  const now = utcStart(practice.today) - 1;
  const start = clock.at(slot.day, slot.start);
  const end = start + slot.duration * MINUTE_MS;
  const moved = completed && !first && random.chance(0.05);
  const firstStart = moved ? clock.at(slot.day - 14, slot.start) : start;
  const booked = Math.min(firstStart, now) - Math.floor((2 + random.next() * 120) * DAY_MS);
  const steps: [Step, ...Step[]] = [{ status: 'UNCONFIRMED', at: booked, start: firstStart }];
  if (moved) {
    const broken = firstStart - Math.floor((1 + random.next() * 20) * HOUR_MS);
    const rebooked = broken + Math.floor((1 + random.next() * 40) * HOUR_MS);
    steps.push({ status: 'BROKEN', at: broken, start: firstStart }, { status: 'UNCONFIRMED', at: rebooked, start });
  }
  /** A moment between the last step and the start, from `low` to below `low + width` of the time between them. */
  const before = (low: number, width: number) => {
    const since = lastOf(steps).at;
    return Math.floor(since + (Math.min(start, now) - since) * (low + random.next() * width));
  };
  if (status === 'CONFIRMED' || (status !== 'UNCONFIRMED' && end <= now && random.chance(0.75))) {
    steps.push({ status: 'CONFIRMED', at: before(0.5, 0.4), start });
  }
  if (lastOf(steps).status !== status) {
    const at =
      status === 'COMPLETED'
        ? Math.min(end, now)
        : status === 'NO_SHOW'
          ? Math.min(start + 20 * MINUTE_MS, now)
          : before(0.2, 0.75);
    steps.push({ status, at, start });
  }
  return steps;
}

function lastOf(steps: readonly [Step, ...Step[]]): Step {
  return steps[steps.length - 1] as Step;
}
