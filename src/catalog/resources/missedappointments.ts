import { deleteOperation, filterKeys, getOperation, key, listOperation, resource, updateOperation } from '../define.ts';
import { link } from '../fields/composites.ts';
import { id, integer } from '../fields/numbers.ts';
import { choice, freeText, text } from '../fields/text.ts';
import { dateTime } from '../fields/times.ts';
import { dateTimeValue, idValue, locationValue } from '../filter/values.ts';
import { EQUALS, EQUALS_NOT, EQUALS_NOT_IN, RANGE } from '../operators.ts';
import { STANDARD_PAGING } from '../paging.ts';
import { optional, readOnly } from '../record.ts';

/** Missed appointment (specification, Missed appointment; D28). The server creates them. */
export const missedAppointmentFields = {
  id: readOnly(id(), 'Missed appointment id'),
  appointment: readOnly(link('AppointmentV1', { survives: true }), 'Appointment; it may have been deleted since'),
  start: readOnly(dateTime(), 'Start of the missed occurrence'),
  duration: readOnly(integer({ min: 0 }), 'Minutes'),
  status: optional(choice(['NO_SHOW', 'BROKEN']), 'NO_SHOW or BROKEN'),
  operatory: readOnly(link('Operatory'), 'Operatory'),
  provider: readOnly(link('Provider'), 'Provider'),
  patient: readOnly(link('PatientV1'), 'Patient'),
  location: readOnly(link('Location'), 'Location'),
  other: readOnly(freeText(), 'Other'),
  procedures: readOnly(freeText(), 'Summary of the procedures'),
  cancelledOn: optional(dateTime(), 'When it was cancelled'),
  reasonCancelled: optional(text({ max: 200 }), 'Why it was cancelled'),
  rescheduledOn: readOnly(dateTime(), 'When the appointment left BROKEN or NO_SHOW'),
  note: readOnly(freeText(), 'Note'),
} as const;

export const missedAppointmentFilters = filterKeys({
  'location.id': key(EQUALS_NOT_IN, locationValue, 'Location', {
    flags: { location: '->' },
    willBeRequired: true,
    index: 'none',
  }),
  start: key(RANGE, dateTimeValue, 'Start', { flags: { from: '>=', to: '<=' } }),
  'patient.id': key(EQUALS_NOT, idValue, 'Patient', { flags: { patient: '==' }, index: 'plain' }),
  'operatory.id': key(EQUALS_NOT_IN, idValue, 'Operatory', {
    flags: { operatory: '->' },
    index: 'none',
    fewValues: true,
  }),
  'appointment.id': key(EQUALS, idValue, 'Appointment', { flags: { appointment: '==' }, index: 'plain' }),
});

export const missedAppointments = resource({
  name: 'missedappointments',
  type: 'MissedAppointmentV1',
  one: 'missed appointment',
  many: 'missed appointments',
  about: 'Broken appointments and no-shows',
  fields: missedAppointmentFields,
  locatedBy: ['location', 'patient'],
  filters: missedAppointmentFilters,
  tableColumns: ['id', 'start', 'status', 'patient.id', 'provider.id', 'reasonCancelled', 'rescheduledOn'],
  operations: {
    list: listOperation('/missedappointments', {
      summary: 'List missed appointments',
      filters: missedAppointmentFilters,
      paging: STANDARD_PAGING,
      dateLimit: { key: 'start', limiting: ['start'], undated: true },
      fields: missedAppointmentFields,
    }),
    get: getOperation('/missedappointments/{missedAppointmentId}', {
      summary: 'Show one missed appointment',
      fields: missedAppointmentFields,
    }),
    update: updateOperation('/missedappointments/{missedAppointmentId}', {
      summary: 'Change a missed appointment; the appointment itself stays as it is',
      fields: missedAppointmentFields,
      body: missedAppointmentFields,
    }),
    delete: deleteOperation('/missedappointments/{missedAppointmentId}', {
      summary: 'Delete a missed appointment for good',
    }),
  },
});
