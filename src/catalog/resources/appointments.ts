import {
  asyncOperation,
  createOperation,
  deleteOperation,
  filterKeys,
  getOperation,
  key,
  listOperation,
  resource,
  updateOperation,
} from '../define.ts';
import { link } from '../fields/composites.ts';
import { id, integer, yesNo } from '../fields/numbers.ts';
import { anyWord, choice, freeText, typeName } from '../fields/text.ts';
import { dateTime } from '../fields/times.ts';
import { choiceValue, dateTimeValue, idValue, locationValue, yesNoValue } from '../filter/values.ts';
import { EQUALS, EQUALS_NOT, EQUALS_NOT_IN, IN, RANGE } from '../operators.ts';
import { STANDARD_PAGING } from '../paging.ts';
import { optional, readOnly, required } from '../record.ts';

export const APPOINTMENT_STATUSES = [
  'LATE',
  'HERE',
  'READY',
  'CHAIR',
  'COMPLETED',
  'CONFIRMED',
  'UNCONFIRMED',
  'NO_SHOW',
  'BROKEN',
  'LEFT_MESSAGE',
  'CHECKOUT',
  'WILL_CALL',
  'UNREACHABLE',
  'CANCELLEDBYOFFICE',
] as const;

/** Statuses of appointments that do not take up their operatory and provider. */
export const FREEING_STATUSES = ['BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'] as const;

/** Appointment (specification, Appointment and image attachment; D27). */
export const appointmentFields = {
  id: readOnly(id(), 'Appointment id'),
  type: readOnly(typeName('AppointmentV1'), 'Always AppointmentV1'),
  start: required(dateTime(), 'Start'),
  end: readOnly(dateTime(), 'End'),
  duration: optional(integer({ min: 1, max: 1440 }), 'Minutes, 60 when not given'),
  status: optional(choice(APPOINTMENT_STATUSES), 'Status'),
  patient: required(link('PatientV1'), 'Patient'),
  provider: required(link('Provider'), 'Provider'),
  operatory: required(link('Operatory'), 'Operatory'),
  location: readOnly(link('Location'), 'Location of the operatory'),
  asap: optional(yesNo(), 'Wants an earlier slot'),
  needsFollowUp: optional(yesNo(), 'Needs follow-up'),
  note: optional(freeText(), 'Note'),
  other: optional(freeText(), 'Other'),
  bookedOnline: optional(yesNo(), 'Booked online'),
  bookingType: optional(choice(['TREATMENT', 'RECARE', 'NEW_PATIENT', 'EXISTING_PATIENT'], anyWord), 'Booking type'),
  reason: optional(link('ScheduleTemplateReasonV1'), 'Reason'),
  created: readOnly(dateTime(), 'Created'),
  confirmed: optional(dateTime(), 'Confirmed'),
  lastModified: readOnly(dateTime(), 'Last change'),
} as const;

export const appointmentFilters = filterKeys({
  id: key(IN, idValue, 'Appointment ids', { flags: { id: '->' } }),
  needsFollowUp: key(EQUALS_NOT, yesNoValue, 'Needs follow-up'),
  status: key(EQUALS_NOT, choiceValue(APPOINTMENT_STATUSES), 'Status', { flags: { status: '==' } }),
  'patient.id': key(EQUALS_NOT, idValue, 'Patient', { flags: { patient: '==' }, index: 'plain' }),
  'operatory.id': key(EQUALS_NOT_IN, idValue, 'Operatory', {
    flags: { operatory: '->' },
    index: 'none',
    fewValues: true,
  }),
  'location.id': key(EQUALS_NOT_IN, locationValue, 'Location', {
    flags: { location: '->' },
    willBeRequired: true,
    index: 'none',
  }),
  'provider.id': key(EQUALS_NOT_IN, idValue, 'Provider', { flags: { provider: '->' }, index: 'none', fewValues: true }),
  asap: key(EQUALS, yesNoValue, 'Wants an earlier slot'),
  start: key(RANGE, dateTimeValue, 'Start', { flags: { from: '>=', to: '<=' } }),
  lastModified: key(RANGE, dateTimeValue, 'Last change', { flags: { 'modified-since': '>=', 'modified-before': '<' } }),
});

export const appointments = resource({
  name: 'appointments',
  type: 'AppointmentV1',
  one: 'appointment',
  many: 'appointments',
  about: 'Visits booked, kept and missed',
  fields: appointmentFields,
  locatedBy: ['location', 'patient'],
  filters: appointmentFilters,
  tableColumns: ['id', 'start', 'duration', 'status', 'patient.id', 'provider.id', 'operatory.id'],
  indexes: [
    { keys: ['location.id', 'start'] },
    { keys: ['operatory.id', 'start'], unless: { key: 'status', values: FREEING_STATUSES } },
    { keys: ['provider.id', 'start'], unless: { key: 'status', values: FREEING_STATUSES } },
  ],
  operations: {
    list: listOperation('/appointments', {
      summary: 'List appointments',
      unlisted: true,
      filters: appointmentFilters,
      paging: STANDARD_PAGING,
      fields: appointmentFields,
    }),
    async: asyncOperation('/appointments/async', {
      summary: 'First appointments, all of them on the streaming channel',
      filters: appointmentFilters,
      fields: appointmentFields,
    }),
    get: getOperation('/appointments/{appointmentId}', {
      summary: 'Show one appointment',
      unlisted: true,
      fields: appointmentFields,
    }),
    create: createOperation('/appointments', {
      summary: 'Book an appointment',
      unlisted: true,
      fields: appointmentFields,
      body: appointmentFields,
    }),
    update: updateOperation('/appointments/{appointmentId}', {
      summary: 'Change an appointment: move it, or set its status',
      fields: appointmentFields,
      body: appointmentFields,
    }),
    delete: deleteOperation('/appointments/{appointmentId}', { summary: 'Delete an appointment', unlisted: true }),
  },
});
