import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/catalog/catalog.ts';

// Written from the specification (Endpoints, Authentication) and D3, D6, D22, D23, D27, D31, not from the code.

const PATIENT_KEYS = `
  firstName == != ~= <>=
  lastName == != ~= <>=
  preferredName == != ~= <>=
  gender == !=
  patientStatus == !=
  dateOfBirth == !=
  phones.number == != ->
  emailAddress ==
  chartNumber == .absent .present
  preferredLocation.id == != ->
  primaryGuarantor.id ==
  duplicateOfPatient.id ==
  primaryContact.id ==
  firstVisitDate == > >= < <=
  lastModified > >= < <=
  referredByPatient.id == != ->
  referredByReferral.id == != ->`;

const DOCUMENT_KEYS = `
  ownerOrganization.id ==
  ownerPatient.id ==
  ownerPerioExam.id ==
  tags ->`;

const TRANSACTION_KEYS = `
  id ->
  ledgerType == !=
  patient.id == ->
  provider.id ==
  transactionDate > < >= <=
  location.id == != ->
  lastModified > < >= <=`;

const HISTORY_KEYS = `
  appointment.id == ->
  lastModified > >= < <=`;

const PLAN_KEYS = `
  id == ->
  patient.id == ->
  lastModified > < >= <=`;

const EVENT_KEYS = `
  id ->
  title == != ~= <>=
  start > >= < <=
  operatory.id == != ->
  location.id == != ->
  provider.id == != ->
  lastModified > >= < <=
  groupId ==`;

const APPOINTMENT_KEYS = `
  id ->
  needsFollowUp == !=
  status == !=
  patient.id == !=
  operatory.id == != ->
  location.id == != ->
  provider.id == != ->
  asap ==
  start > >= < <=
  lastModified > >= < <=`;

const PRODUCTION_KEYS = `
  fromDate ==
  provider.id == ->
  patient.id == ->
  appointment.id == ->
  range ==
  timezone ==
  isPrimaryWriteOff ==`;

/** `METHOD path → status scope` to the filter keys, for every operation of each resource. */
const OPERATIONS: Record<string, Record<string, string>> = {
  documents: {
    'GET /documents → 200 model:read': DOCUMENT_KEYS,
    'GET /documents/totalcount → 200 model:read': DOCUMENT_KEYS,
    'GET /documents/{documentId} → 200 model:read': '',
    'POST /documents → 201 model:write': '',
    'PUT /documents/{documentId} → 200 model:write': '',
    'DELETE /documents/{documentId} → 200 model:write': '',
  },
  patients: {
    'GET /patients → 200 model:read': `id ->${PATIENT_KEYS}`,
    'GET /patients/totalcount → 200 model:read': `id ->${PATIENT_KEYS}`,
    'GET /patients/async → 200 model:read': PATIENT_KEYS,
    'GET /patients/calculated → 200 model:read': 'patient.id == ->',
    'GET /patients/{patientId} → 200 model:read': '',
    'POST /patients → 201 model:write': '',
    'PUT /patients/{patientId} → 200 model:write': '',
    'GET /patients/{patientId}/billingtypes → 200 model:read': '',
    'POST /patients/{patientId}/billingtypes → 200 model:write': '',
  },
  transactiontags: {
    'GET /transactiontags → 200 model:read': 'id ->\ntagText == != ~= <>=\ntagType == !=',
    'GET /transactiontags/{transactionTagId} → 200 model:read': '',
    'POST /transactiontags → 201 model:write': '',
    'PUT /transactiontags/{transactionTagId} → 200 model:write': '',
    'DELETE /transactiontags/{transactionTagId} → 200 model:write': '',
  },
  transactions: {
    'GET /transactions → 200 model:read': TRANSACTION_KEYS,
    'GET /transactions/totalcount → 200 model:read': TRANSACTION_KEYS,
    'GET /transactions/{transactionId} → 200 model:read': '',
  },
  appointmenthistories: {
    'GET /appointmenthistories → 200 model:read': HISTORY_KEYS,
    'GET /appointmenthistories/totalcount → 200 model:read': HISTORY_KEYS,
    'GET /appointmenthistories/{appointmentHistoryId} → 200 model:read': '',
  },
  locationproductionnetschedule: {
    'GET /locationproductionnetschedule → 200 practice:read': `location.id == != ->${PRODUCTION_KEYS}`,
    'GET /locationproductionnetschedule/async → 200 model:read': `location.id == ->${PRODUCTION_KEYS}`,
  },
  agingbalances: {
    'GET /agingbalances/report → 200 model:read': `
      location.id ==
      patient.id ->
      page ==
      balance == != > >= < <=
      thirtyDays == != > >= < <=
      sixtyDays == != > >= < <=
      ninetyDays == != > >= < <=`,
  },
  missedappointments: {
    'GET /missedappointments → 200 model:read': `
      location.id == != ->
      start > < >= <=
      patient.id == !=
      operatory.id == != ->
      appointment.id ==`,
    'GET /missedappointments/{missedAppointmentId} → 200 model:read': '',
    'PUT /missedappointments/{missedAppointmentId} → 200 model:write': '',
    'DELETE /missedappointments/{missedAppointmentId} → 200 model:write': '',
  },
  scheduleopenings: {
    'GET /scheduleopenings → 200 model:read': `
      location.id ==
      startDate ==
      endDate ==
      operatory.id == ->
      provider.id == ->
      minOpeningLength ==
      booking.type == ->
      reason.id == ->`,
  },
  scheduletemplatereasons: { 'GET /scheduletemplatereasons → 200 model:read': 'location.id ==' },
  patientinsuranceplans: {
    'GET /patientinsuranceplans → 200 model:read': PLAN_KEYS,
    'GET /patientinsuranceplans/totalcount → 200 model:read': PLAN_KEYS,
    'GET /patientinsuranceplans/{patientInsurancePlanId} → 200 model:read': '',
  },
  events: {
    'GET /events → 200 model:read': EVENT_KEYS,
    'GET /events/totalcount → 200 model:read': EVENT_KEYS,
    'GET /events/async → 200 model:read': EVENT_KEYS,
    'GET /events/{eventId} → 200 model:read': '',
    'POST /events → 201 model:write': '',
    'PUT /events/{eventId} → 200 model:write': '',
    'DELETE /events/{eventId} → 200 model:write': '',
  },
  appointments: {
    'GET /appointments → 200 model:read': APPOINTMENT_KEYS,
    'GET /appointments/async → 200 model:read': APPOINTMENT_KEYS,
    'GET /appointments/{appointmentId} → 200 model:read': '',
    'POST /appointments → 201 model:write': '',
    'PUT /appointments/{appointmentId} → 200 model:write': '',
    'DELETE /appointments/{appointmentId} → 200 model:write': '',
  },
  imageattachments: { 'GET /imageattachments/async → 200 model:read': 'id == ->\ninsuranceClaim.id == ->' },
};

/** Required filter keys; the filter itself is required wherever there is one, and on transactions. */
const REQUIRED: Record<string, string[]> = {
  'patients.calculated': ['patient.id'],
  'transactions.list': [],
  'transactions.count': [],
  'locationproductionnetschedule.report': ['fromDate'],
  'locationproductionnetschedule.async': ['fromDate'],
  'agingbalances.report': ['location.id'],
  'scheduleopenings.list': ['endDate', 'location.id', 'startDate'],
  'scheduletemplatereasons.list': ['location.id'],
};

/** Keys in alphabetical order, each with its operators in alphabetical order. */
function sorted(keys: readonly (readonly [key: string, operators: readonly string[]])[]): Record<string, string[]> {
  return Object.fromEntries(keys.map(([key, operators]) => [key, [...operators].sort()] as const).sort());
}

function listed(table: string): Record<string, string[]> {
  const lines = table.split('\n').map((line) => line.trim().split(' '));
  return sorted(lines.filter(([key]) => key !== '').map(([key = '', ...operators]) => [key, operators]));
}

describe.each(RESOURCES.map((resource) => [resource.name, resource] as const))('%s', (name, resource) => {
  const operations = Object.values(resource.operations);

  it('has the operations and filter keys of the specification', () => {
    const declared = operations.map(({ method, path, success, scope, filters = {} }) => [
      `${method} ${path} → ${success} ${scope}`,
      sorted(Object.values(filters).map(({ key, operators }) => [key, operators])),
    ]);
    const wanted = Object.entries(OPERATIONS[name] ?? {}).map(([operation, keys]) => [operation, listed(keys)]);
    expect(Object.fromEntries(declared)).toEqual(Object.fromEntries(wanted));
  });

  it('requires the filters that the specification requires', () => {
    for (const { id, filters = {}, filterRequired = false } of operations) {
      const keys = Object.values(filters).filter((key) => key.required);
      expect(keys.map(({ key }) => key).sort(), id).toEqual(REQUIRED[id] ?? []);
      expect(filterRequired, id).toBe(id in REQUIRED);
    }
  });
});
