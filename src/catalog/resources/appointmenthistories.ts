import { countOperation, filterKeys, getOperation, key, listOperation, resource } from '../define.ts';
import { link, object } from '../fields/composites.ts';
import { id, integer } from '../fields/numbers.ts';
import { choice, freeText, typeName } from '../fields/text.ts';
import { dateTime } from '../fields/times.ts';
import { dateTimeValue, idValue } from '../filter/values.ts';
import { EQUALS_IN, RANGE } from '../operators.ts';
import { HISTORY_PAGING } from '../paging.ts';
import { readOnly } from '../record.ts';
import { APPOINTMENT_STATUSES } from './appointments.ts';

/** One change of an appointment, never changed itself (D26). */
export const appointmentHistoryFields = {
  id: readOnly(id(), 'History id'),
  type: readOnly(typeName('AppointmentHistoryV1'), 'Always AppointmentHistoryV1'),
  appointment: readOnly(link('AppointmentV1', { survives: true }), 'Appointment; it may have been deleted since'),
  patient: readOnly(link('PatientV1'), 'Patient'),
  provider: readOnly(link('Provider'), 'Provider'),
  operatory: readOnly(link('Operatory'), 'Operatory'),
  location: readOnly(link('Location'), 'Location'),
  start: readOnly(dateTime(), 'Start'),
  duration: readOnly(integer({ min: 0 }), 'Minutes'),
  status: readOnly(choice(APPOINTMENT_STATUSES), 'Status'),
  note: readOnly(freeText(), 'Note'),
  action: readOnly(choice(['CREATE', 'UPDATE', 'DELETE']), 'What happened'),
  user: readOnly(object<{ id: number | null }>({ id: readOnly(id(), 'User id') }), 'Who did it'),
  created: readOnly(dateTime(), 'When it happened'),
  lastModified: readOnly(dateTime(), 'When it happened'),
} as const;

export const appointmentHistoryFilters = filterKeys({
  'appointment.id': key(EQUALS_IN, idValue, 'Appointment', { flags: { appointment: '->' }, index: 'plain' }),
  lastModified: key(RANGE, dateTimeValue, 'Last change', {
    flags: { from: '>=', to: '<=', 'modified-since': '>=', 'modified-before': '<' },
  }),
});

const defaultDate = { key: 'lastModified', limiting: ['lastModified'] } as const;

export const appointmentHistories = resource({
  name: 'appointmenthistories',
  type: 'AppointmentHistoryV1',
  one: 'appointment history',
  many: 'appointment histories',
  about: 'Every change of an appointment',
  fields: appointmentHistoryFields,
  locatedBy: ['location', 'patient'],
  filters: appointmentHistoryFilters,
  tableColumns: ['id', 'appointment.id', 'action', 'status', 'start', 'duration', 'lastModified'],
  operations: {
    list: listOperation('/appointmenthistories', {
      summary: 'List appointment histories',
      filters: appointmentHistoryFilters,
      paging: HISTORY_PAGING,
      fields: appointmentHistoryFields,
      defaultDate,
      dateLimit: defaultDate,
    }),
    count: countOperation('/appointmenthistories/totalcount', {
      summary: 'Count appointment histories',
      filters: appointmentHistoryFilters,
      countNames: ['totalCount', 'total'],
      defaultDate,
      dateLimit: defaultDate,
    }),
    get: getOperation('/appointmenthistories/{appointmentHistoryId}', {
      summary: 'Show one appointment history',
      fields: appointmentHistoryFields,
    }),
  },
});
