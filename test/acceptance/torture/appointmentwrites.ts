import type { Expected, Operation } from './operation.ts';
import { OPERATORY, PROVIDER } from './practice.ts';
import type { Writer } from './writer.ts';

const STATUSES = ['CONFIRMED', 'HERE', 'COMPLETED', 'BROKEN', 'NO_SHOW', 'UNCONFIRMED'] as const;

const isMissed = (status: unknown) => status === 'BROKEN' || status === 'NO_SHOW';

/** Every change of an appointment leaves a history, and one of its status may open, change or close a missed one (D26, D28). */
function followed(action: 'CREATE' | 'UPDATE', status: unknown, before: unknown): Expected[] {
  const history: Expected = { verb: 'create', table: 'appointmenthistories', has: { action, status } };
  if (isMissed(status) && !isMissed(before)) {
    return [history, { verb: 'create', table: 'missedappointments', has: { status, rescheduledOn: null } }];
  }
  if (isMissed(before) && before !== status) {
    return [history, { verb: 'update', table: 'missedappointments', has: isMissed(status) ? { status } : {} }];
  }
  return [history];
}

export function createAppointment(writer: Writer): Operation {
  const status = writer.random.of(STATUSES);
  const values = {
    start: `2031-0${writer.random.between(1, 9)}-1${writer.random.below(10)}T1${writer.random.below(8)}:00:00.000Z`,
    patient: { id: writer.patient() },
    provider: { id: PROVIDER },
    operatory: { id: OPERATORY },
    status,
    note: writer.word('note'),
  };
  return writer.post('appointments.create', '/appointments', values, {
    expected: [
      { verb: 'create', table: 'appointments', has: { status, note: values.note } },
      ...followed('CREATE', status, undefined),
    ],
    done: (record) => writer.keep('appointments', record),
  });
}

export function updateAppointment(writer: Writer): Operation | undefined {
  const appointment = writer.any('appointments');
  if (appointment === undefined) return undefined;
  const { id, status: before } = appointment;
  const status = writer.random.of(STATUSES);
  const changes = { status, note: writer.word('note') };
  return writer.put('appointments.update', `/appointments/${id}`, changes, {
    expected: [
      { verb: 'update', table: 'appointments', id, has: { note: changes.note } },
      ...followed('UPDATE', status, before),
    ],
    done: (record) => writer.keep('appointments', record),
  });
}

export function deleteAppointment(writer: Writer): Operation | undefined {
  const appointment = writer.take('appointments');
  if (appointment === undefined) return undefined;
  const { id, status } = appointment;
  return writer.delete('appointments.delete', `/appointments/${id}`, [
    { verb: 'create', table: 'appointmenthistories', has: { action: 'DELETE', status, appointment: { id } } },
    { verb: 'delete', table: 'appointments', id },
  ]);
}
