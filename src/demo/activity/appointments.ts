import { instantText } from '../calendar.ts';
import type { Household } from '../people.ts';
import type { Practice } from '../practice.ts';
import type { Random } from '../random.ts';
import type { DemoRecord } from '../record.ts';
import { missedIn, type Step, type Timeline, timelineOf } from './timeline.ts';
import type { Work } from './works.ts';

const NOTES = [
  'Prefers mornings',
  'Bring new insurance card',
  'Nervous, take time',
  'Needs interpreter',
  'Premedication',
];

const CANCEL_REASONS = ['Ill', 'Work conflict', 'No transport', 'Forgot', 'Moving to another practice', 'Weather'];

/** A visit as an appointment (D27), with its history (D26) and the record of a missed occurrence (D28). */
export function* appointmentRecords(
  practice: Practice,
  household: Household,
  work: Work,
  random: Random,
): Generator<DemoRecord> {
  const timeline = timelineOf(practice, household, work, random);
  const id = practice.ids.next('AppointmentV1');
  const note = random.chance(0.15) ? random.pick(NOTES) : null;
  yield appointment(practice, household, work, timeline, id, note, random);
  for (const [index, step] of timeline.steps.entries()) yield history(practice, household, work, step, index, id, note);
  const missed = missedIn(timeline);
  if (missed !== null) yield missedRecord(practice, household, work, id, missed.missed, missed.rescheduled, random);
}

function common(practice: Practice, { home }: Household, { person, visit, operatory }: Work) {
  return {
    organizationId: practice.organizationId,
    duration: visit.slot.duration,
    patient: { id: person.id },
    provider: { id: operatory.provider.id },
    operatory: { id: operatory.id },
    location: { id: home.location.id },
  };
}

function appointment(
  practice: Practice,
  household: Household,
  work: Work,
  { start, end, steps, confirmed }: Timeline,
  id: number,
  note: string | null,
  random: Random,
): DemoRecord {
  const { person, visit, operatory } = work;
  const hygiene = operatory.provider.role === 'hygienist';
  const isNew = work.first || person.status === 'NEW';
  const usual = hygiene ? 'RECARE' : 'TREATMENT';
  const reason = household.home.location.reasons.find(({ isFor }) => isFor === (isNew ? 'NEW_PATIENT' : usual));
  return {
    type: 'AppointmentV1',
    id,
    ...common(practice, household, work),
    start: instantText(start),
    end: instantText(end),
    status: visit.status,
    asap: random.chance(0.06),
    needsFollowUp: ['NO_SHOW', 'BROKEN', 'UNREACHABLE'].includes(visit.status)
      ? random.chance(0.7)
      : random.chance(0.04),
    note,
    other: random.chance(0.03) ? 'Lab case' : null,
    bookedOnline: random.chance(isNew ? 0.4 : 0.12),
    bookingType: isNew ? 'NEW_PATIENT' : random.chance(0.1) ? 'EXISTING_PATIENT' : usual,
    reason: reason !== undefined && random.chance(0.8) ? { id: reason.id } : null,
    created: instantText(steps[0].at),
    confirmed: confirmed === null ? null : instantText(confirmed),
    lastModified: instantText((steps[steps.length - 1] as Step).at),
    ...(work.kept || random.chance(0.93)
      ? { production: { amount: work.amount / 100, writeOff: work.writeOff / 100 } }
      : {}),
  };
}

function history(
  practice: Practice,
  household: Household,
  work: Work,
  step: Step,
  index: number,
  appointmentId: number,
  note: string | null,
): DemoRecord {
  return {
    type: 'AppointmentHistoryV1',
    id: practice.ids.next('AppointmentHistoryV1'),
    ...common(practice, household, work),
    appointment: { id: appointmentId },
    start: instantText(step.start),
    status: step.status,
    note,
    action: index === 0 ? 'CREATE' : 'UPDATE',
    created: instantText(step.at),
    lastModified: instantText(step.at),
  };
}

function missedRecord(
  practice: Practice,
  household: Household,
  work: Work,
  appointmentId: number,
  missed: Step,
  rescheduled: number | null,
  random: Random,
): DemoRecord {
  return {
    type: 'MissedAppointmentV1',
    id: practice.ids.next('MissedAppointmentV1'),
    ...common(practice, household, work),
    appointment: { id: appointmentId },
    start: instantText(missed.start),
    status: missed.status,
    other: null,
    procedures: work.procedures.map(({ name }) => name).join('; '),
    cancelledOn: missed.status === 'BROKEN' || random.chance(0.5) ? instantText(missed.at) : null,
    reasonCancelled: random.chance(0.6) ? random.pick(CANCEL_REASONS) : null,
    rescheduledOn: rescheduled === null ? null : instantText(rescheduled),
    note: null,
  };
}
