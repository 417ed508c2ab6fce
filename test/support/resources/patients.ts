import { patients } from '../../../src/catalog/resources/patients.ts';
import type { WireRecord } from '../calls.ts';
import type { ResourceFixture } from '../fixture.ts';
import { BILLING_TYPES, big, ELSEWHERE, LOCATIONS, NOWHERE, PATIENTS, PLANS, PROVIDERS, REFERRALS } from '../ids.ts';

const link = (id: number) => ({ id });
const phone = (id: number, phoneType: string, number: string, sequence = 1) => ({
  id,
  phoneType,
  number,
  extension: null,
  sequence,
});

const COMMON = {
  gender: 'F',
  dateOfBirth: '1980-02-29',
  patientStatus: 'ACTIVE',
  contactMethod: 'Email me',
  languageType: 'English',
  preferredLocation: link(LOCATIONS.east),
  address1: '1 Main St',
  city: 'Denver',
  state: 'CO',
  postalCode: '80014',
};

/** A patient of the fixture, with `primaryGuarantor` as the server fills it in when nothing is given (D20). */
function patient(id: number, record: WireRecord): WireRecord {
  return {
    id,
    ...COMMON,
    primaryGuarantor: link(id),
    lastModified: `2026-02-${String(id % 100).padStart(2, '0')}T08:00:00.000Z`,
    ...record,
  };
}

const RECORDS: readonly WireRecord[] = [
  patient(PATIENTS.ann, {
    firstName: 'Ann',
    lastName: 'Smith',
    preferredName: 'Annie',
    phones: [phone(1, 'HOME', '(801) 555-0101'), phone(2, 'MOBILE', '801-555-0102')],
    emailAddress: 'ann@example.com',
    chartNumber: 'C-1',
    firstVisitDate: '2024-01-02T17:00:00.000Z',
    referredPatients: [link(PATIENTS.bob), link(big(105))],
  }),
  patient(PATIENTS.bob, {
    firstName: 'Bob',
    lastName: 'SMITH',
    gender: 'M',
    dateOfBirth: '1975-06-15',
    phones: [phone(1, 'WORK', '+1 801 555 0101')],
    emailAddress: 'Ann@example.com',
    chartNumber: 'c-1',
    preferredLocation: link(LOCATIONS.west),
    primaryGuarantor: link(PATIENTS.ann),
    primaryContact: link(PATIENTS.ann),
    firstVisitDate: '2024-01-02T17:00:00.001Z',
    referredByPatient: link(PATIENTS.ann),
    primaryProvider: link(PROVIDERS.ann),
    discountType: 'BASIC',
    discountPlan: link(PLANS.senior),
    billingTypes: [link(BILLING_TYPES.cash), link(BILLING_TYPES.card)],
  }),
  patient(PATIENTS.cleo, {
    firstName: 'Cleo',
    lastName: 'Smithson',
    patientStatus: 'NON-PATIENT',
    gender: 'O',
    chartNumber: '100%',
    preferredLocation: link(LOCATIONS.home),
    referredByReferral: link(REFERRALS.web),
    firstVisitDate: '2025-12-31T23:59:59.999Z',
    discountType: 'SLIDING_FEES',
    income: 12_345.67,
    familySize: 3,
  }),
  patient(big(104), {
    firstName: '100%',
    lastName: 'a_b',
    preferredName: '5% off',
    patientStatus: 'INACTIVE',
    phones: [phone(1, 'HOME', '8015550101')],
    chartNumber: 'C%1',
    referredByReferral: link(REFERRALS.sign),
  }),
  patient(big(105), {
    firstName: '1000',
    lastName: 'axb',
    preferredName: '5x off',
    patientStatus: 'DUPLICATE',
    duplicateOfPatient: link(PATIENTS.ann),
    referredByPatient: link(PATIENTS.ann),
    emailAddress: 'o\u0308mer@example.com',
  }),
  patient(big(106), {
    // Decomposed: e and a combining acute accent.
    firstName: 'Rene\u0301e',
    lastName: 'A\u030angstro\u0308m',
    preferredName: 'Ren\u00e9',
    patientStatus: 'NEW',
    dateOfBirth: '2000-12-31',
    emailAddress: '\u00f6mer@example.com',
    primaryContact: link(PATIENTS.bob),
    referredByPatient: link(PATIENTS.bob),
  }),
  patient(big(107), {
    firstName: 'Ren\u00e9e',
    lastName: '\u00c5NGSTR\u00d6M',
    preferredName: 'RENE\u0301E',
    patientStatus: 'DECEASED',
    gender: 'O',
    dateOfBirth: '1900-01-01',
    firstVisitDate: '1999-12-31T23:00:00.000Z',
  }),
  patient(big(108), {
    firstName: 'O"Brien, Jr.',
    lastName: 'back\\slash',
    preferredName: '[list]',
    patientStatus: 'DISMISSED',
    phones: [phone(1, 'FAX', 'ask the desk'), phone(2, 'OTHER', '555-0199 x7')],
    chartNumber: 'A, "B"',
    lastModified: '2026-02-07T08:00:00.001Z',
  }),
  patient(big(109), {
    firstName: '\u{1f9b7}\u{1f9b7}',
    lastName: 'Tooth',
    referredPatients: [],
    lastModified: '2026-02-07T08:00:00.000Z',
  }),
];

const STATES =
  'AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC AS GU MP PR VI AA AE AP';

/** Patients (specification, Patient, Limits; D20–D22). */
export const patientFixture: ResourceFixture = {
  resource: patients,
  records: RECORDS.map((record) =>
    record.id === PATIENTS.bob ? { ...record, referredPatients: [link(big(106))] } : record,
  ),
  elsewhere: [
    {
      ...COMMON,
      id: PATIENTS.ann,
      firstName: 'Ann',
      lastName: 'Elsewhere',
      preferredLocation: link(ELSEWHERE.location),
    },
    {
      ...COMMON,
      id: ELSEWHERE.patient,
      firstName: 'Else',
      lastName: 'Where',
      preferredLocation: link(ELSEWHERE.location),
    },
  ],
  meta: 'patients',
  countNames: ['totalCount', 'total'],
  create: (n) => ({ ...COMMON, firstName: 'New', lastName: `Patient ${n}` }),
  required: [
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
  ],
  update: (n) => ({ middleInitial: 'Q', city: `City ${n}` }),
  lengths: [
    ['firstName', 1, 25],
    ['lastName', 1, 25],
    ['address1', 1, 50],
    ['city', 1, 30],
    ['postalCode', 5, 10],
    ['preferredName', 0, 255],
    ['chartNumber', 0, 255],
    ['emailAddress', 0, 255],
    ['address2', 0, 255],
  ],
  ranges: [
    ['income', 0, null],
    ['familySize', 1, null],
  ],
  choices: [
    ['gender', ['M', 'F', 'O']],
    ['patientStatus', ['NEW', 'ACTIVE', 'NON-PATIENT', 'INACTIVE', 'DUPLICATE', 'DISMISSED', 'DECEASED']],
    ['contactMethod', ['Call me', 'Text me', 'Email me']],
    [
      'languageType',
      [
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
      ],
    ],
    ['state', STATES.split(' ')],
    ['discountType', ['BASIC', 'SLIDING_FEES']],
  ],
  links: [
    ['preferredLocation', LOCATIONS.west, ELSEWHERE.location],
    ['primaryProvider', PROVIDERS.ben, ELSEWHERE.provider],
    ['primaryGuarantor', PATIENTS.cleo, ELSEWHERE.patient],
    ['secondaryGuarantor', PATIENTS.cleo, ELSEWHERE.patient],
    ['primaryContact', PATIENTS.cleo, ELSEWHERE.patient],
    ['secondaryContact', PATIENTS.cleo, ELSEWHERE.patient],
    ['duplicateOfPatient', PATIENTS.cleo, ELSEWHERE.patient],
    ['referredByPatient', PATIENTS.cleo, ELSEWHERE.patient],
    ['referredByReferral', REFERRALS.sign, ELSEWHERE.referral],
    ['discountPlan', PLANS.senior, ELSEWHERE.discountPlan],
  ],
  dates: ['dateOfBirth'],
  companions: (name, value): Readonly<Record<string, unknown>> => {
    if (name !== 'discountType') return {};
    return /basic/i.test(String(value)) ? { discountPlan: link(PLANS.senior) } : { income: 1, familySize: 1 };
  },
  samples: {
    calculated: { query: { filter: `patient.id->[${PATIENTS.ann},${NOWHERE}]`, responseFields: 'ALL' } },
    billingtypesList: { id: PATIENTS.bob },
    billingtypesSet: { id: PATIENTS.cleo, body: [{ id: BILLING_TYPES.plan }] },
  },
};
