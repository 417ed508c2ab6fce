import { countOperation, filterKeys, getOperation, key, listOperation, resource } from '../define.ts';
import { link, list, object } from '../fields/composites.ts';
import type { Field, Fields } from '../fields/kind.ts';
import { dollars, id, integer } from '../fields/numbers.ts';
import { anyWord, choice, freeText, line } from '../fields/text.ts';
import { date, dateTime } from '../fields/times.ts';
import { dateTimeValue, idValue } from '../filter/values.ts';
import { EQUALS_IN, RANGE } from '../operators.ts';
import { STANDARD_PAGING } from '../paging.ts';
import { readOnly } from '../record.ts';

const CATEGORIES = ['basic', 'preventive', 'major', 'ortho'] as const;
const SPANS = ['Lifetime', 'Annual'] as const;

/** Benefit usage of one year (D30). */
function benefits(prefix: 'previous' | 'current'): Fields {
  const used = CATEGORIES.flatMap((category) =>
    SPANS.map((span): [string, Field] => [
      `${prefix}_${category}Individual${span}DeductibleMet`,
      readOnly(dollars(), `Deductible met, ${category}, ${span.toLowerCase()}`),
    ]),
  );
  return {
    [`${prefix}_benefitYear`]: readOnly(integer(), 'Benefit year'),
    ...Object.fromEntries(used),
    [`${prefix}_maximumIndividualAnnualBenefitUsed`]: readOnly(dollars(), 'Annual benefit used'),
    [`${prefix}_maximumOrthoLifetimeBenefitUsed`]: readOnly(dollars(), 'Lifetime ortho benefit used'),
  };
}

/** Patient insurance plan (specification, Patient insurance plan; D30). */
export const patientInsurancePlanFields: Fields = {
  id: readOnly(id(), 'Plan id'),
  patient: readOnly(link('PatientV1'), 'Patient'),
  subscriberInsurancePlan: readOnly(link('SubscriberInsurancePlan'), 'Plan of the subscriber'),
  startDate: readOnly(date(), 'First day of coverage'),
  endDate: readOnly(date(), 'Last day of coverage'),
  relationshipToSubscriber: readOnly(
    choice(['SELF', 'SPOUSE', 'CHILD', 'OTHER'], anyWord),
    'Relationship to the subscriber',
  ),
  eligible: readOnly(freeText(), 'Eligibility'),
  note: readOnly(freeText(), 'Note'),
  eligibilityCheckType: readOnly(line(), 'How eligibility was checked'),
  confirmedDate: readOnly(date(), 'When it was confirmed'),
  responsibilities: readOnly(
    list(
      object({
        startDate: readOnly(date(), 'First day'),
        endDate: readOnly(date(), 'Last day'),
        paymentResponsibilityOrder: readOnly(
          choice(['PRIMARY', 'SECONDARY', 'TERTIARY', 'QUATERNARY'], anyWord),
          'Order of payment',
        ),
      }),
    ),
    'Order of payment over time',
  ),
  ...benefits('previous'),
  ...benefits('current'),
  lastModified: readOnly(dateTime(), 'Last change'),
};

export const patientInsurancePlanFilters = filterKeys({
  id: key(EQUALS_IN, idValue, 'Plan ids', { flags: { id: '->' } }),
  'patient.id': key(EQUALS_IN, idValue, 'Patient', { flags: { patient: '->' }, index: 'plain' }),
  lastModified: key(RANGE, dateTimeValue, 'Last change', {
    flags: { from: '>=', to: '<=', 'modified-since': '>=', 'modified-before': '<' },
  }),
});

export const patientInsurancePlans = resource({
  name: 'patientinsuranceplans',
  type: 'PatientInsurancePlanV1',
  one: 'patient insurance plan',
  many: 'patient insurance plans',
  about: 'Insurance coverage of patients',
  fields: patientInsurancePlanFields,
  locatedBy: ['patient'],
  filters: patientInsurancePlanFilters,
  tableColumns: ['id', 'patient.id', 'relationshipToSubscriber', 'startDate', 'endDate', 'eligible'],
  operations: {
    list: listOperation('/patientinsuranceplans', {
      summary: 'List patient insurance plans',
      filters: patientInsurancePlanFilters,
      paging: STANDARD_PAGING,
      fields: patientInsurancePlanFields,
    }),
    count: countOperation('/patientinsuranceplans/totalcount', {
      summary: 'Count patient insurance plans',
      filters: patientInsurancePlanFilters,
      countNames: ['totalCount', 'total'],
    }),
    get: getOperation('/patientinsuranceplans/{patientInsurancePlanId}', {
      summary: 'Show one patient insurance plan',
      fields: patientInsurancePlanFields,
    }),
  },
});
