import type { Maker } from './maker.ts';
import { CITIES, FIRST_NAMES, LAST_NAMES, PATIENT_STATUSES } from './words.ts';

/** Adds patients; some have others as guarantors. */
export function makePatients(maker: Maker, count: number): void {
  for (let index = 0; index < count; index++) makePatient(maker, index);
}

function makePatient(maker: Maker, index: number): void {
  const { draws } = maker;
  const guarantor = maker.maybe(maker.linkTo('patients'));
  maker.add('patients', {
    firstName: `${draws.one(FIRST_NAMES)}${index}`,
    lastName: draws.one(LAST_NAMES),
    preferredName: maker.maybe(draws.one(FIRST_NAMES)),
    gender: maker.listed(['M', 'F', 'O'], 'X'),
    dateOfBirth: `${draws.whole(1930, 2020)}-0${draws.whole(1, 9)}-${draws.whole(10, 28)}`,
    patientStatus: maker.listed(PATIENT_STATUSES, 'ARCHIVED'),
    contactMethod: draws.one(['Call me', 'Text me', 'Email me']),
    languageType: draws.one(['English', 'Spanish']),
    chartNumber: maker.maybe(`C-${1000 + index}`),
    emailAddress: maker.maybe(`patient${index}@example.com`),
    phones: draws.chance(0.5)
      ? [{ phoneType: 'MOBILE', number: `(801) 555-01${draws.whole(10, 99)}`, sequence: 1 }]
      : [],
    preferredLocation: maker.location(),
    primaryGuarantor: guarantor,
    secondaryGuarantor: null,
    primaryContact: maker.maybe(guarantor),
    secondaryContact: null,
    address1: `${index + 1} Example Street`,
    address2: maker.maybe('Suite 2'),
    city: draws.one(CITIES),
    state: draws.one(['UT', 'NY', 'AZ']),
    postalCode: `84${draws.whole(100, 999)}`,
    firstVisitDate: maker.maybe(maker.past()),
    lastModified: maker.modifiedOrNever(),
    referredByPatient: null,
    referredByReferral: maker.maybe({ id: draws.whole(1e9, 9e9) }),
    referredPatients: [],
    discountType: null,
    discountPlan: null,
    income: null,
    familySize: null,
  });
}

/** Adds insurance plans of patients. */
export function makePlans(maker: Maker, count: number): void {
  const { draws } = maker;
  for (let index = 0; index < count; index++) {
    maker.add('patientinsuranceplans', {
      patient: maker.linkTo('patients'),
      subscriberInsurancePlan: { id: draws.whole(1e9, 9e9) },
      startDate: maker.day(),
      endDate: maker.maybe(maker.day()),
      relationshipToSubscriber: maker.listed(['SELF', 'SPOUSE', 'CHILD', 'OTHER'], 'DOMESTIC_PARTNER'),
      eligible: draws.chance(0.5),
      note: maker.maybe('Verified by phone'),
      eligibilityCheckType: maker.maybe('MANUAL'),
      responsibilities: [{ startDate: maker.day(), endDate: null, paymentResponsibilityOrder: 1 }],
      previous_benefitYear: null,
      current_benefitYear: null,
      lastModified: maker.modified(),
    });
  }
}
