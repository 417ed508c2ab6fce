// A synthetic practice in the import format, line by line: the same for the same numbers, in memory that does not grow.
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Random } from '../../dist/demo/random.js';

export const ORGANIZATION = 'bench-practice';
/** Opens nothing but the practices of these measurements. */
export const TOKEN = 'bench-token-of-a-synthetic-practice';

const SCOPES = ['model:read', 'model:write', 'practice:read'];

/** First ids of each kind: of 13 digits, as such services give them. */
export const FIRST = {
  location: 1_000_000_000_001,
  provider: 1_100_000_000_001,
  tag: 1_900_000_000_001,
  patient: 7_000_000_000_001,
  transaction: 9_000_000_000_001,
};

/** Three zones, so that days are not the same everywhere. */
export const LOCATIONS = [
  { id: FIRST.location, name: 'North Harbor Dental', timezone: 'America/New_York' },
  { id: FIRST.location + 1, name: 'Mesa Dental', timezone: 'America/Denver' },
  { id: FIRST.location + 2, name: 'Île Dental', timezone: 'America/Los_Angeles' },
];

/** A patient as a POST has it. */
export const NEW_PATIENT = JSON.stringify({
  firstName: 'Marigold',
  lastName: 'Fenwick',
  gender: 'F',
  dateOfBirth: '1980-04-30',
  patientStatus: 'ACTIVE',
  contactMethod: 'Call me',
  languageType: 'English',
  phones: [{ phoneType: 'HOME', number: '(303) 555-0100', sequence: 1 }],
  preferredLocation: { id: LOCATIONS[0].id },
  address1: '12 Windmill Way',
  city: 'Alder Springs',
  state: 'CO',
  postalCode: '80437',
});

const TAGS = ['Cash', 'Check', 'Credit card'];

// Case, accents and characters beyond 16 bits: what two databases could sort or keep in different ways.
const NAMES = [
  'Abner',
  'adelyn',
  'Zoë',
  'Søren',
  "D'Arcy",
  'Anne-Marie',
  'Bảo',
  '𠮷野',
  'Élodie',
  'ÅSA',
  'Quentin',
  'Yvaine',
];
const SURNAMES = [
  'Ashbourne',
  "O'Brannick",
  'McAllern',
  'van Holt',
  'Trầnbảo',
  'Łukaszów',
  'Öberg',
  'Thornwick',
  'ashton',
  'St.James',
];

/** Members of a household; the first is the guarantor of the others. */
const HOUSEHOLD = 3;
const DAY = 86_400_000;
/** The day after the last one of the ledger: fixed, so that the file is the same on every day. */
export const TODAY = Date.UTC(2026, 0, 15);
export const LEDGER_DAYS = 730;

/** Writes the practice to a file, as fast as the disk takes it; answers its records by type and its bytes. */
export async function writePractice(file, patients, transactions, signal) {
  const counts = {};
  let bytes = 0;
  const lines = function* () {
    let part = '';
    for (const record of practiceRecords(patients, transactions)) {
      counts[record.type] = (counts[record.type] ?? 0) + 1;
      part += `${JSON.stringify(record)}\n`;
      if (part.length < 65_536) continue;
      yield count(part);
      part = '';
    }
    yield count(part);
  };
  const count = (part) => {
    const buffer = Buffer.from(part);
    bytes += buffer.length;
    return buffer;
  };
  await pipeline(Readable.from(lines(), { objectMode: false }), createWriteStream(file), { signal });
  return { counts, bytes, records: Object.values(counts).reduce((sum, number) => sum + number, 0) };
}

function* practiceRecords(patients, transactions) {
  const own = { organizationId: ORGANIZATION };
  const created = '2016-05-02T00:00:00.000Z';
  yield {
    type: 'Organization',
    id: ORGANIZATION,
    name: 'Bench Dental Group',
    timezone: 'America/Denver',
    createdDate: created,
  };
  yield { type: 'AccessToken', token: TOKEN, organizations: [ORGANIZATION], scopes: SCOPES };
  for (const location of LOCATIONS) yield { type: 'Location', ...own, ...location };
  yield {
    type: 'Provider',
    ...own,
    id: FIRST.provider,
    firstName: 'Iona',
    lastName: 'Caldwell',
    isActive: true,
    isNonPersonEntity: false,
  };
  for (const [index, tagText] of TAGS.entries()) {
    yield {
      type: 'TransactionTagV1',
      ...own,
      id: FIRST.tag + index,
      tagText,
      tagType: 'PAYMENT_TAG',
      isPredefined: true,
    };
  }
  for (let index = 0; index < patients; index++) yield { type: 'PatientV1', ...own, ...patientFields(index, patients) };
  for (let index = 0, next = 0; index < patients; index++) {
    const share = Math.floor(((index + 1) * transactions) / patients) - next;
    yield* ledger(own, index, next, share);
    next += share;
  }
}

/** The wire fields of a patient; every household goes to one location. */
function patientFields(index, patients) {
  const random = new Random(8, 1, index);
  const head = index - (index % HOUSEHOLD);
  const [firstName, lastName] = [random.pick(NAMES), random.pick(SURNAMES)];
  // Some were sent by a patient who stands further down in the file.
  const referrer = random.chance(0.05) ? random.below(patients) : index;
  return {
    id: FIRST.patient + index,
    firstName,
    lastName,
    gender: random.pick(['F', 'M', 'O']),
    dateOfBirth: dayText(TODAY - random.between(365, 33_000) * DAY),
    patientStatus: random.chance(0.85) ? 'ACTIVE' : 'INACTIVE',
    contactMethod: 'Call me',
    languageType: 'English',
    chartNumber: `B${String(index).padStart(7, '0')}`,
    emailAddress: `patient${index}@example.com`,
    phones: [{ phoneType: 'HOME', number: phoneNumber(index), sequence: 1 }],
    preferredLocation: { id: locationOf(index) },
    primaryProvider: { id: FIRST.provider },
    primaryGuarantor: { id: FIRST.patient + head },
    address1: `${random.between(1, 9_999)} Windmill Way`,
    city: 'Alder Springs',
    state: 'CO',
    postalCode: String(random.between(80_001, 81_658)),
    ...(referrer !== index && { referredByPatient: { id: FIRST.patient + referrer } }),
    firstVisitDate: new Date(TODAY - random.between(1, 3_000) * DAY + 61_200_000).toISOString(),
    lastModified: new Date(TODAY - random.between(1, LEDGER_DAYS * 86_400) * 1000).toISOString(),
  };
}

const locationOf = (patient) => FIRST.location + (Math.floor(patient / HOUSEHOLD) % LOCATIONS.length);
const phoneNumber = (index) => `(303) 555-${String(index % 10_000).padStart(4, '0')}`;
const dayText = (milliseconds) => new Date(milliseconds).toISOString().slice(0, 10);

/** A patient's transactions in pairs: a charge, then a payment that settles all of it, a part, or none. */
function* ledger(own, patient, first, number) {
  const random = new Random(8, 2, patient);
  const idOf = (at) => FIRST.transaction + first + at;
  for (let at = 0; at < number; at++) {
    const entered = TODAY - random.between(1, LEDGER_DAYS) * DAY + 61_200_000;
    const common = {
      ...own,
      id: idOf(at),
      ownership: 'PATIENT',
      transactionDate: dayText(entered),
      entryDate: new Date(entered).toISOString(),
      lastModified: new Date(entered).toISOString(),
      isAutomaticallyPosted: false,
      patient: { id: FIRST.patient + patient },
      location: { id: locationOf(patient) },
      provider: { id: FIRST.provider },
    };
    const cents = centsOf(patient, at);
    if (at % 2 === 1) {
      yield { type: 'Transaction', ...common, ...paymentFields(random, cents, idOf(at - 1)) };
      continue;
    }
    const replaced = at + 2 < number && corrects(patient, at + 2);
    yield {
      type: 'Transaction',
      ...common,
      ledgerType: 'PatientProcedureLedger',
      amount: cents / 100,
      isActive: !replaced,
      isPartialPayment: false,
      note: 'Filling, two surfaces',
      ...(corrects(patient, at) && { previousTransaction: { id: idOf(at - 2) } }),
      // Both ends are told: what only one end tells, the import dates with its own time, which differs by store.
      ...(replaced && { replacedByTransaction: { id: idOf(at + 2) } }),
      ...(random.chance(0.4) && { estimate: { insurance: Math.floor(cents / 3) / 100, writeOff: 5 } }),
    };
  }
}

/** What a charge and the payment after it are about. */
const centsOf = (patient, at) => 2_500 + ((patient * 37 + (at - (at % 2)) * 911) % 60_000);
/** Now and then a charge takes the place of the one before it. */
const corrects = (patient, at) => at >= 2 && (patient + at) % 100 === 0;

function paymentFields(random, cents, chargeId) {
  const paid = random.pick([cents, cents, Math.floor(cents / 2), 0]);
  const isActive = !random.chance(0.01);
  return {
    ledgerType: random.chance(0.3) ? 'InsurancePayment' : 'PatientProcedurePayment',
    amount: -cents / 100,
    isActive,
    isPartialPayment: paid < cents,
    note: 'Payment, thank you',
    transactionTags: { 1: { id: FIRST.tag + random.below(TAGS.length) } },
    ...(paid > 0 && { distributions: [{ chargeId, appliedAmount: paid / 100, isActive }] }),
  };
}
