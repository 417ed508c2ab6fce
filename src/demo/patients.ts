import { dateText, instantText, utcStart } from './calendar.ts';
import { phoneNumber } from './homes.ts';
import { FIRST_ID } from './ids.ts';
import { NICKNAMES, plainLetters } from './names.ts';
import type { Household, Person } from './people.ts';
import type { Practice } from './practice.ts';
import { Random, weights } from './random.ts';
import type { DemoRecord } from './record.ts';
import { BILLING_TYPES, DISCOUNT_PLANS, REFERRALS } from './references.ts';

const METHODS = weights<string>([
  ['Text me', 50],
  ['Email me', 30],
  ['Call me', 20],
]);

interface Phone {
  readonly phoneType: string;
  readonly number: string;
  readonly extension?: string;
  readonly sequence: number;
}

/** The patient records of a household, guarantor first (specification, Patient; D20). */
export function* patientRecords(practice: Practice, household: Household): Generator<DemoRecord> {
  for (const person of household.members) yield patientRecord(practice, household, person);
}

function patientRecord(practice: Practice, household: Household, person: Person): DemoRecord {
  const { home } = household;
  const { town } = home.location;
  const serial = person.id - FIRST_ID.PatientV1 + 1;
  const random = new Random(practice.seed, 2, serial);
  const adult = person.age >= 18;
  const wanted = random.weighted(METHODS);
  const phones = phonesOf(household, person, wanted === 'Text me', random);
  const email = adult && (wanted === 'Email me' || random.chance(0.65)) ? emailOf(person, serial, random) : null;
  const reachable =
    wanted === 'Text me' && person.age < 13 ? 'Call me' : wanted === 'Email me' && !adult ? 'Call me' : wanted;
  return {
    type: 'PatientV1',
    organizationId: practice.organizationId,
    id: person.id,
    firstName: person.firstName,
    lastName: person.lastName,
    preferredName: random.chance(0.1) ? random.pick(NICKNAMES) : null,
    middleInitial: random.chance(0.4) ? String.fromCharCode(65 + random.below(26)) : null,
    title: adult && random.chance(0.12) ? titleOf(person, random) : null,
    nameSuffix: person.gender === 'M' && random.chance(0.02) ? random.pick(['Jr.', 'Sr.', 'III']) : null,
    gender: person.gender,
    dateOfBirth: dateText(person.birthDay),
    patientStatus: person.status,
    contactMethod: reachable,
    languageType: home.language,
    chartNumber: random.chance(0.9) ? `${town.state}${String(serial).padStart(6, '0')}` : null,
    emailAddress: email,
    phones,
    preferredLocation: { id: home.location.id },
    primaryProvider: random.chance(0.9) ? { id: providerOf(household, person).id } : null,
    ...kinOf(household, person, random),
    duplicateOfPatient: person.original && { id: person.original.id },
    address1: home.address1,
    address2: home.address2,
    city: town.name,
    state: town.state,
    postalCode: home.postalCode,
    ...referralOf(household, random),
    ...discountOf(household, random),
    billingTypes: billingTypesOf(random),
    firstVisitDate: person.firstVisit === null ? null : instantText(person.firstVisit),
    lastModified: instantText(changedAt(practice, person, random)),
  };
}

function phonesOf({ home }: Household, person: Person, texts: boolean, random: Random): Phone[] {
  const { town } = home.location;
  const phones: Phone[] = [];
  const add = (phoneType: string, number: string, extension?: string) => {
    const sequence = 1 + phones.filter((phone) => phone.phoneType === phoneType).length;
    phones.push({ phoneType, number, ...(extension !== undefined && { extension }), sequence });
  };
  if (home.phone !== null) add('HOME', home.phone);
  if (person.age >= 13 && (texts || home.phone === null || random.chance(0.6)))
    add('MOBILE', phoneNumber(town, random));
  if (person.age < 13 && home.phone === null) add('OTHER', phoneNumber(town, random));
  if (person.age >= 18 && person.age < 70 && random.chance(0.18)) {
    add('WORK', phoneNumber(town, random), random.chance(0.5) ? String(random.between(10, 4_999)) : undefined);
  }
  if (person.age >= 18 && random.chance(0.04)) add('MOBILE', phoneNumber(town, random));
  if (random.chance(0.005)) add('FAX', phoneNumber(town, random));
  return phones;
}

function emailOf(person: Person, serial: number, random: Random): string {
  const name = `${plainLetters(person.firstName)}.${plainLetters(person.lastName)}`;
  return `${name}${serial % 10_000}@example.${random.pick(['com', 'com', 'org', 'net'])}`;
}

function titleOf(person: Person, random: Random): string {
  if (random.chance(0.15)) return 'Dr.';
  return person.gender === 'M' ? 'Mr.' : person.gender === 'F' ? 'Ms.' : 'Mx.';
}

/** Some who stopped coming still have the provider who left. */
function providerOf({ home }: Household, person: Person) {
  const left = home.location.providers.find(({ role }) => role === 'left');
  return person.status === 'INACTIVE' && left !== undefined && person.id % 3 === 0 ? left : home.provider;
}

function kinOf({ members }: Household, person: Person, random: Random) {
  const [head] = members;
  const partner = members.find(({ role }) => role === 'partner');
  const dependent = person.role === 'child' || person.role === 'elder';
  const second = dependent && partner !== undefined && random.chance(0.5);
  const other = person === head ? partner : head;
  return {
    primaryGuarantor: { id: head.id },
    secondaryGuarantor: second && partner !== undefined ? { id: partner.id } : null,
    primaryContact: dependent || random.chance(0.3) ? (other ? { id: other.id } : null) : null,
    secondaryContact: person.role === 'child' && partner !== undefined ? { id: partner.id } : null,
  };
}

function referralOf({ members: [head] }: Household, random: Random) {
  const at = random.next();
  const earlier = head.id - FIRST_ID.PatientV1;
  return {
    referredByPatient: at < 0.08 && earlier > 0 ? { id: FIRST_ID.PatientV1 + random.below(earlier) } : null,
    referredByReferral: at >= 0.08 && at < 0.2 ? { id: FIRST_ID.Referral + random.below(REFERRALS.length) } : null,
  };
}

function discountOf({ members }: Household, random: Random) {
  const at = random.next();
  if (at < 0.03) {
    const discountPlan = { id: FIRST_ID.DiscountPlan + random.below(DISCOUNT_PLANS.length) };
    return { discountType: 'BASIC', discountPlan, income: null, familySize: null };
  }
  if (at < 0.045) {
    return {
      discountType: 'SLIDING_FEES',
      discountPlan: null,
      income: 500 * random.between(20, 90),
      familySize: members.length,
    };
  }
  return { discountType: null, discountPlan: null, income: null, familySize: null };
}

function billingTypesOf(random: Random): { id: number }[] {
  if (!random.chance(0.25)) return [];
  return [{ id: FIRST_ID.BillingType + random.below(BILLING_TYPES.length) }];
}

/** A moment after the first visit and before today. */
function changedAt(practice: Practice, person: Person, random: Random): number {
  const end = utcStart(practice.today);
  const start = Math.max(person.firstVisit ?? 0, end - 900 * 86_400_000);
  return Math.floor(start + random.next() * Math.max(0, end - start - 1));
}
