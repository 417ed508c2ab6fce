import { lastYear } from '../automatic.ts';
import { idOf, readBody } from '../bodies.ts';
import { atOnce, type Bulk, count, list, single } from '../bulk.ts';
import { type Call, change, create, pathId, type Reply, type Route, recordOf, stamp } from '../call.ts';
import { EQUAL, type Keys, LINK, RANGE, readFilter, WORDS } from '../filter.ts';
import { patientsMeta } from '../meta.ts';
import { checkPatient, PATIENT_FIELDS, REQUIRED } from '../patients.ts';
import { PATIENT_STATUSES } from '../practice/words.ts';
import { refuse } from '../refusal.ts';
import { project, readFields } from '../responsefields.ts';
import { date, id, instant, location, oneOf, text, timestamp } from '../values.ts';

const { id: idKey, ...ASYNC_KEYS }: Keys = {
  id: { operators: ['->'], kind: id },
  firstName: { operators: WORDS, kind: text },
  lastName: { operators: WORDS, kind: text },
  preferredName: { operators: WORDS, kind: text },
  gender: { operators: ['==', '!='], kind: oneOf('M', 'F', 'O') },
  patientStatus: { operators: ['==', '!='], kind: oneOf(...PATIENT_STATUSES) },
  dateOfBirth: { operators: ['==', '!='], kind: date },
  'phones.number': { operators: LINK, kind: text },
  emailAddress: { operators: EQUAL, kind: text },
  chartNumber: { operators: ['==', '.absent', '.present'], kind: text },
  'preferredLocation.id': { operators: LINK, kind: location },
  'primaryGuarantor.id': { operators: EQUAL, kind: id },
  'duplicateOfPatient.id': { operators: EQUAL, kind: id },
  'primaryContact.id': { operators: EQUAL, kind: id },
  firstVisitDate: { operators: ['==', ...RANGE], kind: timestamp },
  lastModified: { operators: RANGE, kind: instant },
  'referredByPatient.id': { operators: LINK, kind: id },
  'referredByReferral.id': { operators: LINK, kind: id },
};

const PATIENTS_ASYNC: Bulk = {
  resource: 'patients',
  keys: ASYNC_KEYS,
  maximum: 500,
  automatic: lastYear('lastModified', ['lastModified'], false),
  wide: 'wideDays',
  location: 'preferredLocation.id',
  meta: patientsMeta,
};

const PATIENTS: Bulk = { ...PATIENTS_ASYNC, keys: { ...ASYNC_KEYS, ...(idKey ? { id: idKey } : {}) } };
const QUERY = ['filter', 'responseFields', 'page', 'pageSize', 'lastId'];

export const PATIENT_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/patients', query: QUERY, answer: (call) => list(PATIENTS, call) },
  { method: 'GET', path: '/patients/async', query: QUERY, answer: (call) => atOnce(PATIENTS_ASYNC, call, true) },
  { method: 'GET', path: '/patients/totalcount', query: ['filter'], answer: (call) => count(PATIENTS, call) },
  { method: 'GET', path: '/patients/calculated', query: ['filter', 'responseFields'], answer: calculated },
  {
    method: 'GET',
    path: '/patients/{patientId}',
    query: ['responseFields'],
    answer: (call) => single(PATIENTS, call, 'patientId'),
  },
  { method: 'POST', path: '/patients', query: [], answer: add },
  { method: 'PUT', path: '/patients/{patientId}', query: ['responseFields'], answer: update },
  { method: 'GET', path: '/patients/{patientId}/billingtypes', query: [], answer: billingTypes },
  { method: 'POST', path: '/patients/{patientId}/billingtypes', query: [], answer: setBillingTypes },
];

const CALCULATED: Keys = { 'patient.id': { operators: ['==', '->'], kind: id } };

function calculated(call: Call): Reply {
  const { query, world } = call;
  const filter = query.get('filter') || refuse('filter is required.');
  if (!query.get('responseFields')) refuse('responseFields is required.');
  readFields(call, ['lastVisitDate']);
  const ids = readFilter(filter, CALCULATED).flatMap(({ values }) => values.map(Number));
  const known = ids.filter((one) => world.practice.shelves.patients.get(one));
  return { data: known.map((one) => ({ id: one, lastVisitDate: lastVisit(call, one) })) };
}

function lastVisit({ world }: Call, patient: number): string | null {
  const now = stamp(world);
  const visits = world.practice.shelves.appointments
    .all()
    .filter(({ record }) => idOf(record.patient) === patient && String(record.start) < now)
    .map(({ record }) => String(record.start).slice(0, 10));
  return visits.sort().at(-1) ?? null;
}

function add(call: Call): Reply {
  const sent = readBody(call.body, PATIENT_FIELDS, REQUIRED);
  const empty = Object.fromEntries(Object.keys(PATIENT_FIELDS).map((name) => [name, name === 'phones' ? [] : null]));
  const fields = { ...empty, firstVisitDate: null, referredPatients: [], ...sent, lastModified: stamp(call.world) };
  checkPatient(call.world, fields);
  return { status: 201, data: create(call.world, 'patients', fields).record };
}

function update(call: Call): Reply {
  const stored = recordOf(call, 'patients', 'patientId');
  const sent = readBody(call.body, PATIENT_FIELDS);
  const cleared = REQUIRED.find((name) => sent[name] === null);
  if (cleared) refuse(`${cleared} is required.`);
  checkPatient(call.world, { ...stored.record, ...sent });
  const { record } = change(call.world, 'patients', stored, { ...sent, lastModified: stamp(call.world) });
  return { data: project(record, readFields(call)) };
}

function billingTypes(call: Call): Reply {
  const { id: patient } = recordOf(call, 'patients', 'patientId');
  return { data: call.world.practice.billingTypes.get(patient) ?? [] };
}

function setBillingTypes(call: Call): Reply {
  recordOf(call, 'patients', 'patientId');
  if (call.body === undefined) refuse('A body is required.');
  call.world.practice.billingTypes.set(pathId(call, 'patientId'), call.body);
  return { data: call.body };
}
