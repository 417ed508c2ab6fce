import {
  anything,
  day,
  idOf,
  integer,
  link,
  listOf,
  matching,
  object,
  oneOf,
  orNull,
  type Reader,
  string,
} from './bodies.ts';
import type { World } from './call.ts';
import { PATIENT_STATUSES } from './practice/words.ts';
import { decline } from './refusal.ts';
import type { Fields } from './store.ts';

/** Fields of a patient that can be written. */
export const PATIENT_FIELDS: Readonly<Record<string, Reader>> = {
  firstName: string(1, 25),
  lastName: string(1, 25),
  preferredName: orNull(string()),
  gender: oneOf('M', 'F', 'O'),
  dateOfBirth: day,
  patientStatus: oneOf(...PATIENT_STATUSES),
  contactMethod: oneOf('Call me', 'Text me', 'Email me'),
  languageType: string(1),
  chartNumber: orNull(string()),
  emailAddress: orNull(string()),
  phones: orNull(listOf(object({ phoneType: string(1), number: string(1), sequence: integer(0, 1000) }))),
  preferredLocation: link,
  primaryGuarantor: orNull(link),
  secondaryGuarantor: orNull(link),
  primaryContact: orNull(link),
  secondaryContact: orNull(link),
  address1: string(1, 50),
  address2: orNull(string()),
  city: string(1, 30),
  state: matching(/^[A-Z]{2}$/, 'a two-letter code of a state'),
  postalCode: string(5, 10),
  referredByPatient: orNull(link),
  referredByReferral: orNull(link),
  discountType: orNull(oneOf('BASIC', 'SLIDING_FEES')),
  discountPlan: anything,
  income: anything,
  familySize: anything,
};

/** What a new patient must have. */
export const REQUIRED = [
  'firstName',
  'lastName',
  'contactMethod',
  'languageType',
  'patientStatus',
  'gender',
  'dateOfBirth',
  'preferredLocation',
  'address1',
  'city',
  'state',
  'postalCode',
];

/** Declines a patient whose fields do not go together, or whose links lead nowhere. */
export function checkPatient({ practice }: World, patient: Fields): void {
  const phones = (patient.phones ?? []) as readonly Fields[];
  const keys = phones.map(({ phoneType, sequence }) => `${phoneType} ${sequence}`);
  if (new Set(keys).size < keys.length) decline(400, 'phones has a sequence twice within a phoneType.');
  if (patient.discountType === 'BASIC' && !patient.discountPlan) decline(400, 'discountPlan is required.');
  const sliding = patient.discountType === 'SLIDING_FEES';
  if (sliding && (patient.income ?? patient.familySize) === null) decline(400, 'income and familySize are required.');
  const location = idOf(patient.preferredLocation);
  if (!practice.locations.some(({ id }) => id === location))
    decline(400, `preferredLocation.id ${location} is not known.`);
  for (const name of ['primaryGuarantor', 'secondaryGuarantor', 'primaryContact', 'secondaryContact']) {
    const id = idOf(patient[name]);
    if (id !== undefined && !practice.shelves.patients.get(id)) decline(400, `${name}.id ${id} is not known.`);
  }
}
