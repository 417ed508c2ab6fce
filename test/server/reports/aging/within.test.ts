import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createToken } from '../../../../src/server/tokens/admin.ts';
import { sharedService } from '../../../support/service.ts';
import { type Line, location, newPractice, patient } from '../support.ts';
import { PATH, row } from './rows.ts';

const service = sharedService(() => []);

const PLACES = [location(5), location(6)];
/** Patients by where they are: of two of them, whom another owes for, a row without a location is out of reach. */
const HOMES = new Map([
  [1, 5],
  [2, 5],
  [3, 6],
  [4, undefined],
]);
const PEOPLE = [...HOMES].map(([id, home]) => ({
  ...patient(id, home === 5 ? id : 1),
  ...(home !== undefined && { preferredLocation: { id: home } }),
}));

const ids = fc.integer({ min: 1, max: 6 });
/** To the cent, so that one that is rounded shows. */
const cents = fc.integer({ min: 1, max: 2000 }).map((amount) => amount / 100);
const draft = fc.record({
  patient: fc.constantFrom(1, 2, 1, 2, 3, 4),
  /** Without one, a row is where its patient is. */
  place: fc.constantFrom(5, 6, undefined),
  amount: fc.constantFrom(10, 30, -10, -30),
  active: fc.constantFrom(true, true, true, false),
  insurance: fc.boolean(),
  distributions: fc.array(fc.record({ chargeId: ids, appliedAmount: cents }), {
    maxLength: 3,
  }),
});

type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never;

function isWithin({ patient: of, place }: Draft): boolean {
  return (place ?? HOMES.get(of)) === 5;
}

function lineOf({ patient: of, place, amount, active, insurance, distributions }: Draft, index: number): Line {
  return row(index + 1, amount, {
    patient: { id: of },
    location: place === undefined ? null : { id: place },
    isActive: active,
    distributions,
    ...(amount > 0 && { estimate: { insurance: 15, writeOff: 4 } }),
    ...(amount < 0 && insurance && { ledgerType: 'InsurancePayment' }),
  });
}

it('the aging report of who is bound to a location is that of a practice which has nothing else (property)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(draft, { minLength: 3, maxLength: 6 }), async (drafts) => {
      const lines = drafts.map(lineOf);
      const whole = await newPractice(service, [...PLACES, ...PEOPLE, ...lines]);
      const own = await newPractice(service, [
        ...PLACES,
        ...PEOPLE,
        ...lines.filter((_, index) => isWithin(drafts[index] as Draft)),
      ]);
      const { token } = await createToken(service.service, {
        ...{ organizations: [whole.organization], scopes: ['model:read'], locations: ['5'], readOnly: true },
      });
      for (const filter of [
        'location.id==ALL,page==1',
        'location.id==5,page==1',
        'location.id==ALL,patient.id->[1,2]',
      ]) {
        const bound = await whole.call('GET', PATH, { token, query: { filter } });
        const { status, body } = await own.get(PATH, filter);
        expect({ status: bound.status, data: bound.body.data }, filter).toEqual({ status, data: body.data });
      }
    }),
    { numRuns: 20, seed: 20_260_306 },
  );
});
