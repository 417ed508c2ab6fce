import { link, list } from '../fields/composites.ts';
import type { Fields } from '../fields/kind.ts';
import { id, yesNo } from '../fields/numbers.ts';
import { choice, line } from '../fields/text.ts';
import { date, dateTime, timeOfDay, timeZone } from '../fields/times.ts';
import { optional, readOnly, required } from '../record.ts';

/** Kinds that have no endpoint of their own and come in by import only (contract §7). */
export const REFERENCES = {
  Location: {
    id: readOnly(id(), 'Location id'),
    name: required(line({ min: 1 }), 'Name'),
    timezone: optional(timeZone(), "IANA time zone; the organization's when not given"),
  },
  Provider: {
    id: readOnly(id(), 'Provider id'),
    firstName: optional(line(), 'First name'),
    lastName: optional(line(), 'Last name'),
    isActive: optional(yesNo(), 'Active; true when not given'),
    isNonPersonEntity: optional(yesNo(), 'A clinic or lab rather than a person; false when not given'),
  },
  Operatory: {
    id: readOnly(id(), 'Operatory id'),
    name: optional(line(), 'Name'),
    location: required(link('Location'), 'Location'),
  },
  PerioExam: { id: readOnly(id(), 'Perio exam id'), patient: required(link('PatientV1'), 'Patient') },
  Referral: { id: readOnly(id(), 'Referral source id'), name: optional(line(), 'Name') },
  DiscountPlan: { id: readOnly(id(), 'Discount plan id'), name: optional(line(), 'Name') },
  BillingType: { id: readOnly(id(), 'Billing type id'), name: required(line({ min: 1 }), 'Name') },
  InsuranceClaim: {
    id: readOnly(id(), 'Insurance claim id'),
    patient: required(link('PatientV1'), 'Patient'),
    status: optional(line(), 'PENDING counts as pending'),
  },
  ScheduleTemplateV1: {
    id: readOnly(id(), 'Template id'),
    location: required(link('Location'), 'Location'),
    operatory: required(link('Operatory'), 'Operatory'),
    provider: required(link('Provider'), 'Provider'),
    dayOfWeek: required(
      choice(['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY']),
      'Day of the week',
    ),
    start: required(timeOfDay(), 'First minute'),
    end: required(timeOfDay(), 'Minute after the last'),
    bookingTypes: optional(list(choice(['TREATMENT', 'RECARE', 'NEW_PATIENT', 'EXISTING_PATIENT'])), 'Booking types'),
    reasons: optional(list(link('ScheduleTemplateReasonV1')), 'Reasons'),
    validFrom: optional(date(), 'First day, inclusive'),
    validTo: optional(date(), 'Last day, inclusive'),
  },
} as const satisfies Record<string, Fields>;

/** The links that tell where such a record is, as `Resource.locatedBy` has it. */
export const REFERENCES_LOCATED_BY: Readonly<Record<keyof typeof REFERENCES, readonly string[]>> = {
  Location: [],
  Provider: [],
  Operatory: ['location'],
  PerioExam: ['patient'],
  Referral: [],
  DiscountPlan: [],
  BillingType: [],
  InsuranceClaim: ['patient'],
  ScheduleTemplateV1: ['location'],
};

export const ORGANIZATION_FIELDS = {
  name: optional(line(), 'Name'),
  timezone: required(timeZone(), 'IANA time zone'),
  createdDate: optional(dateTime(), 'When the organization was created'),
} as const satisfies Fields;
