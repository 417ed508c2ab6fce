import { dateText, instantText, utcStart } from './calendar.ts';
import type { Household } from './households.ts';
import { NICKNAMES, plainLetters } from './names.ts';
import type { Person } from './people.ts';
import { phoneNumber } from './places.ts';
import { type DemoRecord, FIRST_ID, type Practice } from './practice.ts';
import { Random, weightedNames } from './random.ts';
import { LISTS } from './references.ts';

const METHODS = weightedNames({ 'Text me': 50, 'Email me': 30, 'Call me': 20 });

const TITLES = { M: 'Mr.', F: 'Ms.', O: 'Mx.' } as const;

interface Phone {
  readonly phoneType: string;
  readonly number: string;
  readonly extension?: string;
  readonly sequence: number;
}

/** A patient, guarantors before those they pay for (specification, Patient; D20). */
export function patientRecord(practice: Practice, household: Household, person: Person): DemoRecord {
  const { home } = household;
  const { town } = home.location;
  const serial = person.id - FIRST_ID.PatientV1 + 1;
  const random = new Random(practice.seed, 2, serial);
  const adult = person.age >= 18;
  const wanted = random.weighted(METHODS);
  const phones = phonesOf(household, person, wanted === 'Text me', random);
  const email = adult && (wanted === 'Email me' || random.chance(0.65)) ? emailOf(person, serial, random) : null;
  const reachable = wanted === 'Text me' ? person.age >= 13 : wanted === 'Call me' || adult;
  return {
    type: 'PatientV1',
    organizationId: practice.organizationId,
    id: person.id,
    firstName: person.firstName,
    lastName: person.lastName,
    preferredName: random.chance(0.1) ? random.pick(NICKNAMES) : null,
    middleInitial: random.chance(0.4) ? String.fromCharCode(65 + random.below(26)) : null,
    title: adult && random.chance(0.12) ? (random.chance(0.15) ? 'Dr.' : TITLES[person.gender]) : null,
    nameSuffix: person.gender === 'M' && random.chance(0.02) ? random.pick(['Jr.', 'Sr.', 'III']) : null,
    gender: person.gender,
    dateOfBirth: dateText(person.birthDay),
    patientStatus: person.status,
    contactMethod: reachable ? wanted : 'Call me',
    languageType: home.language,
    chartNumber: random.chance(0.9) ? `${town.state}${String(serial).padStart(6, '0')}` : null,
    emailAddress: email,
    phones,
    preferredLocation: { id: home.location.id },
    primaryProvider: random.chance(0.9) ? { id: providerOf(household, person).id } : null,
    ...familyLinks(household, person, random),
    duplicateOfPatient: linkTo(person.original),
    address1: home.address1,
    address2: home.address2,
    city: town.name,
    state: town.state,
    postalCode: home.postalCode,
    ...referralOf(household, random),
    ...discountOf(household, random),
    billingTypes: random.chance(0.25) ? [pickFrom('BillingType', random)] : [],
    firstVisitDate: person.firstVisit === null ? null : instantText(person.firstVisit),
    lastModified: instantText(changedAt(practice, person, random)),
  };
}

function phonesOf({ home }: Household, { age }: Person, texts: boolean, random: Random): Phone[] {
  const phones: Phone[] = [];
  const add = (phoneType: string, number = phoneNumber(home.location.town, random)) => {
    const sequence = 1 + phones.filter((phone) => phone.phoneType === phoneType).length;
    const extension = phoneType === 'WORK' && random.chance(0.5) ? String(random.between(10, 4_999)) : undefined;
    phones.push({ phoneType, number, ...(extension !== undefined && { extension }), sequence });
  };
  if (home.phone !== null) add('HOME', home.phone);
  if (age >= 13 && (texts || home.phone === null || random.chance(0.6))) add('MOBILE');
  if (age < 13 && home.phone === null) add('OTHER');
  if (age >= 18 && age < 70 && random.chance(0.18)) add('WORK');
  if (age >= 18 && random.chance(0.04)) add('MOBILE');
  if (random.chance(0.005)) add('FAX');
  return phones;
}

function emailOf(person: Person, serial: number, random: Random): string {
  const name = `${plainLetters(person.firstName)}.${plainLetters(person.lastName)}`;
  return `${name}${serial % 10_000}@example.${random.pick(['com', 'com', 'org', 'net'])}`;
}

/** Some who stopped coming still have the provider who left. */
function providerOf({ home }: Household, person: Person) {
  const left = home.location.providers.find(({ role }) => role === 'left');
  return person.status === 'INACTIVE' && left !== undefined && person.id % 3 === 0 ? left : home.provider;
}

function familyLinks({ members }: Household, person: Person, random: Random) {
  const [head] = members;
  const partner = members.find(({ role }) => role === 'partner');
  const dependent = person.role === 'child' || person.role === 'elder';
  const second = dependent && partner !== undefined && random.chance(0.5);
  const other = person === head ? partner : head;
  return {
    primaryGuarantor: linkTo(head),
    secondaryGuarantor: second ? linkTo(partner) : null,
    primaryContact: dependent || random.chance(0.3) ? linkTo(other) : null,
    secondaryContact: person.role === 'child' ? linkTo(partner) : null,
  };
}

function linkTo(person: Person | null | undefined): { id: number } | null {
  return person ? { id: person.id } : null;
}

function pickFrom(kind: keyof typeof LISTS, random: Random): { id: number } {
  return { id: FIRST_ID[kind] + random.below(LISTS[kind].length) };
}

function referralOf({ members: [head] }: Household, random: Random) {
  const at = random.next();
  const earlier = head.id - FIRST_ID.PatientV1;
  return {
    referredByPatient: at < 0.08 && earlier > 0 ? { id: FIRST_ID.PatientV1 + random.below(earlier) } : null,
    referredByReferral: at >= 0.08 && at < 0.2 ? pickFrom('Referral', random) : null,
  };
}

function discountOf({ members }: Household, random: Random) {
  const none = { discountType: null, discountPlan: null, income: null, familySize: null };
  const at = random.next();
  if (at < 0.03) return { ...none, discountType: 'BASIC', discountPlan: pickFrom('DiscountPlan', random) };
  if (at >= 0.045) return none;
  return { ...none, discountType: 'SLIDING_FEES', income: 500 * random.between(20, 90), familySize: members.length };
}

/** A moment after the first visit and before today. */
function changedAt(practice: Practice, person: Person, random: Random): number {
  const end = utcStart(practice.today);
  const start = Math.max(person.firstVisit ?? 0, end - 900 * 86_400_000);
  return Math.floor(start + random.next() * Math.max(0, end - start - 1));
}
