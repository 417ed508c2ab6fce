import type { Kind } from '../../catalog/fields/kind.ts';

/** Ids of example records by the kind they belong to; invented, like every value here. */
const IDS: Readonly<Record<string, number>> = {
  PatientV1: 7000000000114,
  Location: 7000000000005,
  Provider: 7000000000021,
  Operatory: 7000000000031,
  AppointmentV1: 7000000000412,
  InsuranceClaim: 7000000000610,
  TransactionTagV1: 7000000000073,
  ScheduleTemplateReasonV1: 7000000000052,
  BillingTypeV1: 7000000000041,
};

/**
 * Example values of fields by name, or by type and name where a name means several things. Fields that are not here
 * get a value of their kind where a body needs one, and null in responses.
 */
const VALUES: Readonly<Record<string, unknown>> = {
  firstName: 'Ann',
  lastName: 'Archer',
  gender: 'F',
  dateOfBirth: '1984-05-17',
  patientStatus: 'ACTIVE',
  contactMethod: 'Text me',
  languageType: 'English',
  chartNumber: 'A-1042',
  emailAddress: 'ann.archer@example.com',
  phones: [{ id: 1, phoneType: 'MOBILE', number: '303-555-0142', extension: null, sequence: 1 }],
  preferredLocation: { id: IDS.Location },
  primaryProvider: { id: IDS.Provider },
  primaryGuarantor: { id: IDS.PatientV1 },
  address1: '12 Larch Street',
  city: 'Golden',
  state: 'CO',
  postalCode: '80401',
  billingTypes: [{ id: IDS.BillingTypeV1 }],
  'BillingTypeV1.name': 'Standard',
  'DocumentV1.name': 'panoramic.jpeg',
  'DocumentCreateV1.name': 'panoramic',
  'DocumentUpdateV1.name': 'panoramic 2026',
  mimeType: 'JPEG',
  guidName: '0b6f2a4e-3c1d-4f7a-9e58-6d2c1b0a9f8e',
  ownerType: 'Patient',
  ownerPatient: { id: IDS.PatientV1 },
  tags: ['X-Ray'],
  storage: {
    original:
      'https://molar.example.com/files/5f0c1e2d3a4b5c6d7e8f9a0b/documents/7000000000201/original?expires=1772465400&signature=…',
  },
  file: { content: '/9j/4AAQSkZJRgABAQAAAQABAAD/2Q==' },
  tagText: 'Prepaid',
  isPredefined: false,
  tagType: 'PAYMENT_TAG',
  ledgerType: 'PatientProcedureLedger',
  amount: 128.5,
  ownership: 'PATIENT',
  isActive: true,
  patient: { id: IDS.PatientV1 },
  location: { id: IDS.Location },
  provider: { id: IDS.Provider },
  operatory: { id: IDS.Operatory },
  appointment: { id: IDS.AppointmentV1 },
  insuranceClaim: { id: IDS.InsuranceClaim },
  transactionTags: { '1': { id: IDS.TransactionTagV1 } },
  transactionDate: '2026-03-02',
  start: '2026-03-02T15:30:00.000Z',
  end: '2026-03-02T16:30:00.000Z',
  duration: 60,
  created: '2026-02-20T17:05:31.204Z',
  entryDate: '2026-03-02T16:41:09.882Z',
  lastModified: '2026-03-02T16:41:09.882Z',
  lastVisitDate: '2026-03-02',
  'AppointmentV1.status': 'CONFIRMED',
  'AppointmentUpdateV1.status': 'CONFIRMED',
  'AppointmentHistoryV1.status': 'CONFIRMED',
  action: 'UPDATE',
  'MissedAppointmentV1.status': 'BROKEN',
  cancelledOn: '2026-03-02T14:00:00.000Z',
  reasonCancelled: 'Snow storm',
  title: 'Staff meeting',
  'PatientV1.title': null,
  color: 'bbbbbb',
  reason: 'New patient exam',
  'AppointmentV1.reason': null,
  durationMinutes: 60,
  relationshipToSubscriber: 'SELF',
  startDate: '2026-01-01',
  current_benefitYear: 2026,
  examName: 'Bitewings',
  examDate: '2026-03-02',
  date: '2026-03-02T15:30:00.000Z',
  scheduledAmount: 12850,
  day: '2026-03-02',
  slots: [
    {
      start: '2026-03-02T15:30:00.000Z',
      end: '2026-03-02T17:00:00.000Z',
      scheduleTemplateBookingType: [{ id: 'TREATMENT' }],
      scheduleTemplateReason: [{ id: IDS.ScheduleTemplateReasonV1 }],
    },
  ],
  currentAmount: 128.5,
  current: 128.5,
  currentPortion: { guarantorPortion: 28.5, insurancePortion: 100, writeOff: 0 },
  totalPortions: { guarantorPortion: 28.5, insurancePortion: 100, writeOff: 0 },
  total: 128.5,
  balance: 128.5,
  guarantorPortionBalance: 28.5,
  insurancePortionBalance: 100,
};

/** The example value of a field; undefined when there is none of its own. `owner`: the schema it is in. */
export function namedSample(owner: string, name: string): unknown {
  return Object.hasOwn(VALUES, `${owner}.${name}`) ? VALUES[`${owner}.${name}`] : VALUES[name];
}

/** The id of an example record of a kind. */
export function sampleId(type: string): number {
  return IDS[type] ?? 7000000000201;
}

/** Some value of a kind, right in form. */
export function sampleOf(kind: Kind): unknown {
  if (kind.schema.const !== undefined) return kind.schema.const;
  if (kind.name === 'link') return { id: sampleId(kind.target ?? '') };
  if (kind.fields !== undefined) {
    return Object.fromEntries(
      Object.entries(kind.fields).map(([name, field]) => [name, VALUES[name] ?? nestedSample(name, field.kind)]),
    );
  }
  if (kind.item !== undefined) return kind.empty === undefined ? {} : [sampleOf(kind.item)];
  return (kind.schema.enum as readonly unknown[] | undefined)?.[0] ?? BY_KIND[kind.name] ?? 1;
}

/** Ids that are text stand for patients: the guarantors of the aging report. */
function nestedSample(name: string, kind: Kind): unknown {
  return name === 'id' && kind.name === 'text' ? String(IDS.PatientV1) : sampleOf(kind);
}

const BY_KIND: Readonly<Record<string, unknown>> = {
  id: 7000000000201,
  organizationLink: { id: '5f0c1e2d3a4b5c6d7e8f9a0b' },
  text: 'Text',
  date: '2026-03-02',
  dateTime: '2026-03-02T15:30:00.000Z',
  yesNo: false,
  dollars: 0,
};
