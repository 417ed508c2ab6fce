import { instant as dateTime, integer, oneOf, readBody } from '../bodies.ts';
import { atOnce, type Bulk } from '../bulk.ts';
import { type Call, change, create, type Reply, type Route, recordOf, stamp } from '../call.ts';
import { LINK, RANGE } from '../filter.ts';
import { APPOINTMENT_STATUSES } from '../practice/words.ts';
import { refuse } from '../refusal.ts';
import type { Fields, Stored } from '../store.ts';
import { flag, id, instant, oneOf as listed, location } from '../values.ts';

const APPOINTMENTS: Bulk = {
  resource: 'appointments',
  keys: {
    id: { operators: ['->'], kind: id },
    needsFollowUp: { operators: ['==', '!='], kind: flag },
    status: { operators: ['==', '!='], kind: listed(...APPOINTMENT_STATUSES) },
    'patient.id': { operators: ['==', '!='], kind: id },
    'operatory.id': { operators: LINK, kind: id },
    'location.id': { operators: LINK, kind: location },
    'provider.id': { operators: LINK, kind: id },
    asap: { operators: ['=='], kind: flag },
    start: { operators: RANGE, kind: instant },
    lastModified: { operators: RANGE, kind: instant },
  },
  location: 'location.id',
  show: shown,
};

export const APPOINTMENT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/appointments/async',
    query: ['filter', 'responseFields', 'lastId', 'page', 'pageSize'],
    answer: (call) => atOnce(APPOINTMENTS, call),
  },
  { method: 'PUT', path: '/appointments/{appointmentId}', query: [], answer: update },
];

function update(call: Call): Reply {
  const { world } = call;
  const stored = recordOf(call, 'appointments', 'appointmentId');
  const sent = readBody(call.body, {
    status: oneOf(...APPOINTMENT_STATUSES),
    start: dateTime,
    duration: integer(1, 1440),
  });
  if (Object.keys(sent).length === 0) refuse('status, start or duration is required.');
  const before = String(stored.record.status);
  const changed = change(world, 'appointments', stored, { ...sent, lastModified: stamp(world) });
  if (sent.status !== undefined) followStatus(call, before, changed);
  return { data: shown(changed.record) };
}

/** What the system does when a status was set (States, appointment status). */
function followStatus({ world }: Call, before: string, { id: appointment, record }: Stored): void {
  const { missedappointments } = world.practice.shelves;
  const after = String(record.status);
  if (isMissed(after)) {
    if (!isMissed(before)) create(world, 'missedappointments', missedOf(appointment, record));
    return;
  }
  if (!isMissed(before)) return;
  const linked = missedappointments
    .all()
    .filter(({ record: missed }) => (missed.appointment as Fields).id === appointment);
  for (const missed of linked) change(world, 'missedappointments', missed, { rescheduledOn: stamp(world) });
}

function isMissed(status: string): boolean {
  return status === 'BROKEN' || status === 'NO_SHOW';
}

function missedOf(appointment: number, record: Fields): Fields {
  const { start, duration, status, operatory, provider, patient, location: place } = record;
  const none = {
    other: null,
    procedures: null,
    cancelledOn: null,
    reasonCancelled: null,
    rescheduledOn: null,
    note: null,
  };
  return {
    appointment: { id: appointment },
    start,
    duration,
    status,
    operatory,
    provider,
    patient,
    location: place,
    ...none,
  };
}

function shown({ scheduledAmount, ...record }: Fields): Fields {
  return record;
}
