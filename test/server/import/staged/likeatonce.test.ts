import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { WireRecord } from '../../../support/calls.ts';
import { big, LOCATIONS, ORGANIZATION, PATIENTS } from '../../../support/ids.ts';
import { allRecords, bareRecords, line } from '../../../support/practice.ts';
import { cases } from '../../../support/store.ts';
import { bothOutcomes } from './stores.ts';

const NEW = 'a-new-practice';
const people = [PATIENTS.ann, PATIENTS.bob, PATIENTS.cleo, big(9001), big(9002), big(9003)];
const person = fc.constantFrom(...people);
const place = fc.constantFrom(...Object.values(LOCATIONS));
const modified = fc.constantFrom(undefined, '2026-02-20T10:00:00.000Z', '2026-02-21T10:00:00.000Z');
const organization = fc.constantFrom(ORGANIZATION, NEW);

const patient = fc
  .record({ id: person, by: fc.option(person), guarantor: fc.option(person), at: place, modified, organization })
  .map(({ id, by, guarantor, at, modified, organization }) =>
    line(
      'PatientV1',
      {
        id,
        firstName: `P${id % 10}`,
        lastName: 'Imported',
        lastModified: modified,
        preferredLocation: { id: at },
        referredByPatient: by && { id: by },
        primaryGuarantor: guarantor && { id: guarantor },
        phones: [{ phoneType: 'HOME', number: `801555${id % 1000}` }],
      },
      organization,
    ),
  );

const ids = fc.integer({ min: 1, max: 8 }).map((n) => big(7000 + n));
const transaction = fc
  .record({
    id: ids,
    of: person,
    charge: fc.boolean(),
    pays: ids,
    corrects: fc.option(ids, { freq: 4 }),
    at: place,
    modified,
    organization,
  })
  .filter(({ id, corrects }) => id !== corrects)
  .map(({ id, of, charge, pays, corrects, at, modified, organization }) =>
    line(
      'Transaction',
      {
        id,
        ledgerType: charge ? 'PatientChargeAdjustment' : 'PatientProcedurePayment',
        amount: charge ? 50 : -20,
        transactionDate: '2026-02-01',
        patient: { id: of },
        location: { id: at },
        lastModified: modified,
        previousTransaction: corrects && { id: corrects },
        ...(!charge && { distributions: [{ chargeId: pays, appliedAmount: 20 }] }),
      },
      organization,
    ),
  );

const tag = fc
  .record({ id: ids, text: fc.constantFrom('a', 'b', 'c', 'd'), organization })
  .map(({ id, text, organization }) =>
    line(
      'TransactionTagV1',
      { id, tagText: `${text} ${id % 10}`, tagType: 'PAYMENT_TAG', isPredefined: false },
      organization,
    ),
  );

const missed = fc
  .record({ id: ids, of: person, organization })
  .map(({ id, of, organization }) => line('MissedAppointmentV1', { id, patient: { id: of } }, organization));

const document = fc
  .record({
    id: ids,
    of: person,
    text: fc.constantFrom('one', 'two'),
    name: fc.constantFrom('a', 'b'),
    tags: fc.subarray(['x', 'Y']),
    organization,
  })
  .map(({ id, of, text, name, tags, organization }) =>
    line(
      'DocumentV1',
      {
        id,
        name,
        mimeType: 'PDF',
        ownerPatient: { id: of },
        tags,
        file: { content: Buffer.from(`%PDF-1.4 ${text}`).toString('base64') },
      },
      organization,
    ),
  );

const claim = fc
  .record({ id: ids, of: person, organization })
  .map(({ id, of, organization }) => line('InsuranceClaim', { id, patient: { id: of } }, organization));

const gone = fc
  .record({
    type: fc.constantFrom(
      'MissedAppointmentV1',
      'MissedAppointmentV1',
      'DocumentV1',
      'TransactionTagV1',
      'InsuranceClaim',
    ),
    id: fc.oneof(ids, person),
    organization,
  })
  .map(({ type, id, organization }) => line(type, { id, deleted: true }, organization));

/** Others may link to it: then the import is refused. */
const linked = fc
  .record({ type: fc.constantFrom('Transaction', 'PatientV1'), id: fc.oneof(ids, person), organization })
  .map(({ type, id, organization }) => line(type, { id, deleted: true }, organization));

const change = fc.oneof(
  ...[patient, transaction, tag, missed, document, claim, gone].map((arbitrary) => ({ arbitrary, weight: 20 })),
  { arbitrary: linked, weight: 1 },
);

const lines = fc.array(change, {
  minLength: 10,
  maxLength: 60,
});

/** Of these the property has one line each: what is between the first and the last is not the same at once and in parts. */
const ONCE: readonly unknown[] = [
  // What later lines would find taken is a name that an earlier one had.
  'DocumentV1',
  // Whose data a record of a claim is depends on the line of the claim that stands before it.
  'InsuranceClaim',
];

/** The first line of each record of these kinds. */
function withoutRepeats(changes: readonly WireRecord[]): WireRecord[] {
  const nameOf = ({ type, id, organizationId }: WireRecord) => `${type} ${id} ${organizationId}`;
  return changes.filter(
    (change, at) =>
      !ONCE.includes(change.type) || changes.findIndex((other) => nameOf(other) === nameOf(change)) === at,
  );
}

/** What every link leads to, so that most imports are taken. */
function complete(given: readonly WireRecord[]): WireRecord[] {
  const changes = withoutRepeats(given);
  const all = people.map((id) => line('PatientV1', { id, firstName: 'First', lastName: `P${id % 10}` }, NEW));
  const places = Object.values(LOCATIONS).map((id) => line('Location', { id, name: `${id}` }, NEW));
  const own = people.slice(3).map((id) => line('PatientV1', { id, firstName: 'First', lastName: `P${id % 10}` }));
  const charges = [ORGANIZATION, NEW].flatMap((organization) =>
    Array.from({ length: 8 }, (_, n) =>
      line(
        'Transaction',
        {
          id: big(7001 + n),
          ledgerType: 'PatientChargeAdjustment',
          amount: 30,
          transactionDate: '2026-01-01',
          patient: { id: PATIENTS.ann },
        },
        organization,
      ),
    ),
  );
  return [
    ...changes.slice(0, 5),
    { type: 'Organization', id: NEW, timezone: 'Europe/Berlin' },
    { type: 'AccessToken', token: 'token-of-the-new-one', organizations: [NEW], scopes: ['model:read'] },
    ...places,
    ...all,
    ...own,
    ...charges,
    ...changes.slice(5),
  ];
}

it('an import in parts leaves what one in a single transaction leaves, and refuses what that refuses (property)', async () => {
  const seen = { taken: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(allRecords, bareRecords), lines, async (first, changes) => {
      const records = complete(changes);
      const { atOnce: expected, inParts: found } = await bothOutcomes(first(), records);
      seen['problems' in (expected.result as object) ? 'refused' : 'taken']++;
      expect(found).toEqual(expected);
    }),
    { numRuns: cases(12, 4), endOnFailure: true },
  );
  // What is refused is not compared further. Nearly all are taken: fewer than these do not come by chance.
  expect(seen.taken).toBeGreaterThanOrEqual(cases(3, 1));
});
