import type { MirrorColumn, MirrorTable } from '../tables.ts';

/**
 * What a de-identified copy keeps of a field. `pseudonym`: of an id, a keyed pseudonym. `group`: of an id that is text, a
 * keyed digest. `year`: of a date or an instant, its year. `birthYear`: the year too, none for people of 90 and more.
 * `postalCode`: three digits, or 000. `kept`: the value. `gone`: nothing.
 */
export type Treatment = 'pseudonym' | 'group' | 'year' | 'birthYear' | 'postalCode' | 'kept' | 'gone';

/** Age in years from which on a birth year is left out. */
export const AGE_LIMIT = 90;

type Treatments = Readonly<Partial<Record<Treatment, readonly string[]>>>;

/** The fields of a plan that are told for the previous and for the current year. */
const BENEFITS = ['previous', 'current'].flatMap((prefix) => [
  `${prefix}_benefitYear`,
  ...['basic', 'preventive', 'major', 'ortho'].flatMap((category) =>
    ['Lifetime', 'Annual'].map((span) => `${prefix}_${category}Individual${span}DeductibleMet`),
  ),
  `${prefix}_maximumIndividualAnnualBenefitUsed`,
  `${prefix}_maximumOrthoLifetimeBenefitUsed`,
]);

/** What is decided of each field, by resource and wire name (D52): of one that is not here nothing is kept. */
export const TREATMENTS: Readonly<Record<string, Treatments>> = {
  documents: {
    pseudonym: ['id', 'ownerPatient.id', 'ownerPerioExam.id'],
    year: ['userDefinedDate'],
    kept: ['mimeType', 'ownerType', 'type'],
    gone: ['name', 'guidName', 'thumbNailId', 'ownerOrganization.id', 'tags'],
  },
  patients: {
    pseudonym: [
      'id',
      'preferredLocation.id',
      'primaryProvider.id',
      'primaryGuarantor.id',
      'secondaryGuarantor.id',
      'primaryContact.id',
      'secondaryContact.id',
      'duplicateOfPatient.id',
      'referredByPatient.id',
      'referredByReferral.id',
      'referredPatients.id',
      'discountPlan.id',
      'billingTypes.id',
    ],
    year: ['firstVisitDate', 'lastModified'],
    birthYear: ['dateOfBirth'],
    postalCode: ['postalCode'],
    kept: ['gender', 'patientStatus', 'contactMethod', 'languageType', 'state', 'discountType', 'income', 'familySize'],
    gone: [
      'firstName',
      'lastName',
      'preferredName',
      'middleInitial',
      'title',
      'nameSuffix',
      'chartNumber',
      'emailAddress',
      'phones.id',
      'phones.phoneType',
      'phones.number',
      'phones.extension',
      'phones.sequence',
      'address1',
      'address2',
      'city',
    ],
  },
  transactiontags: {
    pseudonym: ['id'],
    kept: ['isPredefined', 'tagType'],
    gone: ['tagText'],
  },
  transactions: {
    pseudonym: [
      'id',
      'previousTransaction.id',
      'replacedByTransaction.id',
      'patient.id',
      'location.id',
      'provider.id',
      'organizationLedgerType.id',
      'patientProcedure.id',
      'insuranceClaim.id',
      'insurancePayment.id',
      'transactionTags.id',
      'reasonTags.id',
      'distributions.chargeId',
    ],
    year: ['transactionDate', 'entryDate', 'lastModified'],
    kept: [
      'type',
      'ledgerType',
      'amount',
      'ownership',
      'isAutomaticallyPosted',
      'isActive',
      'isPartialPayment',
      'metBasic',
      'metPreventive',
      'metMajor',
      'metOrtho',
      'transactionTags key',
      'reasonTags key',
      'distributions.appliedAmount',
      'distributions.isActive',
    ],
    gone: [
      'note',
      'patientPaymentBilling.checkNumber',
      'patientPaymentBilling.bankNumber',
      'patientPaymentBilling.referenceNumber',
    ],
  },
  appointmenthistories: {
    pseudonym: ['id', 'appointment.id', 'patient.id', 'provider.id', 'operatory.id', 'location.id', 'user.id'],
    year: ['start', 'created', 'lastModified'],
    kept: ['type', 'duration', 'status', 'action'],
    gone: ['note'],
  },
  missedappointments: {
    pseudonym: ['id', 'appointment.id', 'operatory.id', 'provider.id', 'patient.id', 'location.id'],
    year: ['start', 'cancelledOn', 'rescheduledOn'],
    kept: ['duration', 'status'],
    gone: ['other', 'procedures', 'reasonCancelled', 'note'],
  },
  scheduletemplatereasons: {
    pseudonym: ['id', 'location.id'],
    kept: ['type', 'durationMinutes'],
    gone: ['reason'],
  },
  patientinsuranceplans: {
    pseudonym: ['id', 'patient.id', 'subscriberInsurancePlan.id'],
    year: [
      'startDate',
      'endDate',
      'confirmedDate',
      'lastModified',
      'responsibilities.startDate',
      'responsibilities.endDate',
    ],
    kept: [
      'relationshipToSubscriber',
      'eligibilityCheckType',
      'responsibilities.paymentResponsibilityOrder',
      ...BENEFITS,
    ],
    gone: ['eligible', 'note'],
  },
  events: {
    pseudonym: ['id', 'location.id', 'operatory.id', 'provider.id'],
    group: ['groupId'],
    year: ['start', 'end', 'lastModified', 'recurrenceStart', 'recurrenceEnd'],
    kept: [
      'type',
      'duration',
      'allDay',
      'color',
      'recurrenceType',
      'recurrenceFrequency',
      'recurrenceDays',
      'recurrenceWeek',
      'recurrenceDay',
    ],
    gone: ['title', 'description'],
  },
  appointments: {
    pseudonym: ['id', 'patient.id', 'provider.id', 'operatory.id', 'location.id', 'reason.id'],
    year: ['start', 'end', 'created', 'confirmed', 'lastModified'],
    kept: ['type', 'duration', 'status', 'asap', 'needsFollowUp', 'bookedOnline', 'bookingType'],
    gone: ['note', 'other'],
  },
  imageattachments: {
    pseudonym: ['id', 'examId', 'examImageId', 'insuranceClaim.id'],
    year: ['examDate', 'attachedDate', 'dateCreated', 'lastModified'],
    kept: ['type', 'examImageOutputFormat', 'examImageSizeInBytes', 'attachmentType'],
    gone: ['examName', 'neaNumber'],
  },
};

/** What is kept of a column of a table, or of one of its lists; undefined where nothing is decided. */
export function treatmentOf({ resource }: MirrorTable, { field }: MirrorColumn): Treatment | undefined {
  const decided = Object.entries(TREATMENTS[resource.name] ?? {}) as [Treatment, readonly string[]][];
  return decided.find(([, fields]) => field !== null && fields.includes(field))?.[0];
}
