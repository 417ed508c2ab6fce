import {
  asyncOperation,
  countOperation,
  createOperation,
  filterKeys,
  getOperation,
  key,
  listOperation,
  resource,
  updateOperation,
} from '../define.ts';
import { link, list, object } from '../fields/composites.ts';
import { dollars, id, integer } from '../fields/numbers.ts';
import { anyWord, choice, line, text, typeName } from '../fields/text.ts';
import { date, dateTime } from '../fields/times.ts';
import {
  choiceValue,
  dateTimeValue,
  dateValue,
  digitsValue,
  exactTextValue,
  idValue,
  locationValue,
  textValue,
} from '../filter/values.ts';
import { EQUALS, EQUALS_IN, EQUALS_NOT, EQUALS_NOT_IN, EQUALS_RANGE, IN, RANGE, TEXT } from '../operators.ts';
import { PATIENT_PAGING } from '../paging.ts';
import { optional, readOnly, required } from '../record.ts';
import { anyState, STATES } from './states.ts';

const GENDERS = ['M', 'F', 'O'] as const;
const STATUSES = ['NEW', 'ACTIVE', 'NON-PATIENT', 'INACTIVE', 'DUPLICATE', 'DISMISSED', 'DECEASED'] as const;
const CONTACT_METHODS = ['Call me', 'Text me', 'Email me'] as const;
const LANGUAGES = [
  'English',
  'Spanish',
  'French',
  'Portuguese',
  'Chinese',
  'Vietnamese',
  'Korean',
  'Tagalog',
  'Russian',
  'Arabic',
  'Other',
] as const;

/** `phones[]` (D20): `id` stays when it names one of the patient's own phones, otherwise the server gives one. */
export const phoneFields = {
  id: optional(id(), 'Id of the phone within the patient'),
  phoneType: required(choice(['HOME', 'WORK', 'MOBILE', 'FAX', 'OTHER'], anyWord), 'Kind of phone'),
  number: required(text({ min: 1, max: 40 }), 'Phone number'),
  extension: optional(text({ max: 20 }), 'Extension'),
  sequence: optional(integer({ min: 0 }), 'Order within the phone type; unique within it'),
} as const;

export interface Phone {
  id: number | null;
  phoneType: string;
  number: string;
  extension: string | null;
  sequence: number | null;
}

/** Patient (specification, Patient; D20). */
export const patientFields = {
  id: readOnly(id(), 'Patient id'),
  firstName: required(text({ min: 1, max: 25 }), 'First name'),
  lastName: required(text({ min: 1, max: 25 }), 'Last name'),
  preferredName: optional(line(), 'Name the patient goes by'),
  middleInitial: optional(text({ max: 10 }), 'Middle initial'),
  title: optional(text({ max: 25 }), 'Title'),
  nameSuffix: optional(text({ max: 25 }), 'Name suffix'),
  gender: required(choice(GENDERS), 'Gender'),
  dateOfBirth: required(date(), 'Date of birth'),
  patientStatus: required(choice(STATUSES), 'Status'),
  contactMethod: required(choice(CONTACT_METHODS), 'How the patient wants to be contacted'),
  languageType: required(choice(LANGUAGES, anyWord), 'Language'),
  chartNumber: optional(line(), 'Chart number'),
  emailAddress: optional(line(), 'E-mail address'),
  phones: optional(list(object<Phone>(phoneFields)), 'Phones'),
  preferredLocation: required(link('Location'), 'Location the patient goes to'),
  primaryProvider: optional(link('Provider'), 'Provider the patient usually sees'),
  primaryGuarantor: optional(link('PatientV1'), 'Who pays; the patient when none is given'),
  secondaryGuarantor: optional(link('PatientV1'), 'Second guarantor'),
  primaryContact: optional(link('PatientV1'), 'Whom to contact'),
  secondaryContact: optional(link('PatientV1'), 'Whom to contact second'),
  duplicateOfPatient: optional(link('PatientV1'), 'The patient this record duplicates'),
  address1: required(text({ min: 1, max: 50 }), 'Street address'),
  address2: optional(line(), 'Second address line'),
  city: required(text({ min: 1, max: 30 }), 'City'),
  state: required(choice(STATES, anyState), 'US state or territory code'),
  postalCode: required(text({ min: 5, max: 10 }), 'Postal code'),
  referredByPatient: optional(link('PatientV1'), 'Patient who referred this one'),
  referredByReferral: optional(link('Referral'), 'Referral source'),
  referredPatients: readOnly(list(link('PatientV1')), 'Patients referred by this one'),
  discountType: optional(choice(['BASIC', 'SLIDING_FEES']), 'Discount type'),
  discountPlan: optional(link('DiscountPlan'), 'Discount plan, for BASIC'),
  income: optional(dollars({ min: 0 }), 'Income in dollars, for SLIDING_FEES'),
  familySize: optional(integer({ min: 1 }), 'Family size, for SLIDING_FEES'),
  billingTypes: readOnly(list(link('BillingType')), 'Billing types; set through their own endpoint'),
  firstVisitDate: readOnly(dateTime(), 'First visit'),
  lastModified: readOnly(dateTime(), 'Last change'),
} as const;

export const patientFilters = filterKeys({
  id: key(IN, idValue, 'Patient ids', { flags: { id: '->' } }),
  firstName: key(TEXT, textValue, 'First name', { flags: { 'first-name': '~=' }, index: 'plain' }),
  lastName: key(TEXT, textValue, 'Last name', { flags: { 'last-name': '~=' }, index: 'plain' }),
  preferredName: key(TEXT, textValue, 'Preferred name'),
  gender: key(EQUALS_NOT, choiceValue(GENDERS), 'Gender', { flags: { gender: '==' } }),
  patientStatus: key(EQUALS_NOT, choiceValue(STATUSES), 'Status', { flags: { status: '==' }, index: 'plain' }),
  dateOfBirth: key(EQUALS_NOT, dateValue, 'Date of birth', { flags: { 'date-of-birth': '==' } }),
  'phones.number': key(EQUALS_NOT_IN, digitsValue, 'Phone number, by its digits', { flags: { phone: '==' } }),
  emailAddress: key(EQUALS, exactTextValue, 'E-mail address', { flags: { email: '==' } }),
  chartNumber: key(['==', '.absent', '.present'], exactTextValue, 'Chart number', { flags: { 'chart-number': '==' } }),
  'preferredLocation.id': key(EQUALS_NOT_IN, locationValue, 'Preferred location', {
    flags: { location: '->' },
    willBeRequired: true,
  }),
  'primaryGuarantor.id': key(EQUALS, idValue, 'Primary guarantor', { flags: { guarantor: '==' }, index: 'plain' }),
  'duplicateOfPatient.id': key(EQUALS, idValue, 'Patient this one duplicates'),
  'primaryContact.id': key(EQUALS, idValue, 'Primary contact'),
  firstVisitDate: key(EQUALS_RANGE, dateTimeValue, 'First visit', {
    flags: { from: '>=', to: '<=' },
    index: 'present',
  }),
  lastModified: key(RANGE, dateTimeValue, 'Last change', { flags: { 'modified-since': '>=', 'modified-before': '<' } }),
  'referredByPatient.id': key(EQUALS_NOT_IN, idValue, 'Patient who referred'),
  'referredByReferral.id': key(EQUALS_NOT_IN, idValue, 'Referral source'),
});

/** The async endpoint takes every key but `id` (specification, Async endpoints). */
const { id: _, ...patientAsyncFilters } = patientFilters;

/** What GET `/patients/calculated` answers (D21). */
export const calculatedFields = {
  id: readOnly(id(), 'Patient id'),
  lastVisitDate: readOnly(date(), 'Most recent visit'),
} as const;

/** A billing type of a patient (D22). */
export const billingTypeFields = {
  id: readOnly(id(), 'Billing type id'),
  type: readOnly(typeName('BillingTypeV1'), 'Always BillingTypeV1'),
  name: readOnly(line(), 'Name'),
} as const;

const calculatedFilters = filterKeys({
  'patient.id': key(EQUALS_IN, idValue, 'Patients', { flags: { patient: '->' }, required: true }),
});

/** A service may leave out what was last changed long ago (specification, Patients, rule 2). */
const dateLimit = { key: 'lastModified', limiting: ['lastModified'], undated: true } as const;

export const patients = resource({
  name: 'patients',
  type: 'PatientV1',
  one: 'patient',
  many: 'patients',
  about: 'People the practice treats or bills',
  fields: patientFields,
  locatedBy: ['preferredLocation'],
  filters: patientFilters,
  tableColumns: ['id', 'lastName', 'firstName', 'patientStatus', 'dateOfBirth', 'preferredLocation.id', 'emailAddress'],
  operations: {
    list: listOperation('/patients', {
      summary: 'List patients',
      filters: patientFilters,
      paging: PATIENT_PAGING,
      dateLimit,
      fields: patientFields,
    }),
    count: countOperation('/patients/totalcount', {
      summary: 'Count patients',
      filters: patientFilters,
      dateLimit,
      countNames: ['totalCount', 'total'],
    }),
    calculated: {
      shape: 'calculated',
      method: 'GET',
      path: '/patients/calculated',
      scope: 'model:read',
      success: 200,
      summary: 'Show calculated fields of patients: the last visit date',
      filters: calculatedFilters,
      filterRequired: true,
      selectable: 'required',
      fields: calculatedFields,
    },
    async: asyncOperation('/patients/async', {
      summary: 'Newest patients, all of them on the streaming channel',
      filters: patientAsyncFilters,
      dateLimit,
      fields: patientFields,
      order: 'descending',
    }),
    get: getOperation('/patients/{patientId}', { summary: 'Show one patient', fields: patientFields }),
    create: createOperation('/patients', { summary: 'Create a patient', fields: patientFields, body: patientFields }),
    update: updateOperation('/patients/{patientId}', {
      summary: 'Change a patient; only what is given changes',
      fields: patientFields,
      body: patientFields,
    }),
    billingtypesList: {
      shape: 'sublist',
      method: 'GET',
      path: '/patients/{patientId}/billingtypes',
      scope: 'model:read',
      success: 200,
      summary: 'List the billing types of a patient',
      fields: billingTypeFields,
    },
    billingtypesSet: {
      shape: 'replace',
      method: 'POST',
      path: '/patients/{patientId}/billingtypes',
      scope: 'model:write',
      success: 200,
      summary: 'Replace the billing types of a patient',
      fields: billingTypeFields,
      body: { ...billingTypeFields, id: required(id(), 'Billing type id') },
      bodyIsArray: true,
    },
  },
});
