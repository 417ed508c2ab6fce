import { lastYear } from '../automatic.ts';
import { anything, instant as dateTime, oneOf, orNull, readBody, string } from '../bodies.ts';
import { type Bulk, list, single } from '../bulk.ts';
import { type Call, change, type Reply, type Route, recordOf } from '../call.ts';
import { EQUAL, LINK, RANGE } from '../filter.ts';
import { usualMeta } from '../meta.ts';
import { project, readFields } from '../responsefields.ts';
import { id, instant, location } from '../values.ts';

const MISSED: Bulk = {
  resource: 'missedappointments',
  keys: {
    'location.id': { operators: LINK, kind: location },
    start: { operators: RANGE, kind: instant },
    'patient.id': { operators: ['==', '!='], kind: id },
    'operatory.id': { operators: LINK, kind: id },
    'appointment.id': { operators: EQUAL, kind: id },
  },
  automatic: lastYear('start', ['start'], false),
  location: 'location.id',
  fields: [
    'id',
    'appointment',
    'start',
    'duration',
    'status',
    'operatory',
    'provider',
    'patient',
    'location',
    'other',
    'procedures',
    'cancelledOn',
    'reasonCancelled',
    'rescheduledOn',
    'note',
  ],
  meta: usualMeta,
};

const PATH = '/missedappointments/{missedAppointmentId}';
const ID = 'missedAppointmentId';

export const MISSED_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/missedappointments',
    query: ['filter', 'responseFields', 'lastId', 'pageSize'],
    answer: (call) => list(MISSED, call),
  },
  { method: 'GET', path: PATH, query: ['responseFields'], answer: (call) => single(MISSED, call, ID) },
  { method: 'PUT', path: PATH, query: ['responseFields'], answer: update },
  { method: 'DELETE', path: PATH, query: [], answer: remove },
];

function update(call: Call): Reply {
  const stored = recordOf(call, 'missedappointments', ID);
  const { rescheduledOn, note, ...sent } = readBody(call.body, {
    cancelledOn: orNull(dateTime),
    reasonCancelled: orNull(string(0, 200)),
    status: oneOf('NO_SHOW', 'BROKEN'),
    rescheduledOn: anything,
    note: anything,
  });
  const { record } = change(call.world, 'missedappointments', stored, sent);
  return { data: project(record, readFields(call, MISSED.fields)) };
}

function remove(call: Call): Reply {
  const { id: missed } = recordOf(call, 'missedappointments', ID);
  call.world.practice.shelves.missedappointments.remove(missed);
  return { data: call.world.moods.deletes === 'null' ? null : { id: missed } };
}
