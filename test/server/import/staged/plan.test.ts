import { expect, it } from 'vitest';
import { Tally } from '../../../../src/server/import/staged/plan.ts';

const told = (...patients: number[]) => ({ patients });

/** Changes of two organizations, and their patients. */
function counted(): Tally {
  const tally = new Tally();
  for (const [org, operation] of [
    [1, 'patients.create'],
    [2, 'patients.create'],
    [1, 'patients.create'],
    [1, 'patients.update'],
  ] as const)
    tally.add(org, operation);
  for (const patient of [5, null, 7, 5]) tally.changed(1, patient);
  tally.changed(2, null);
  tally.changed(3, 9);
  return tally;
}

it('counts changes by organization and operation, and whose data they were', () => {
  const tally = counted();
  expect(tally.operations()).toEqual([
    { org: 1, operation: 'patients.create', count: 2 },
    { org: 2, operation: 'patients.create', count: 1 },
    { org: 1, operation: 'patients.update', count: 1 },
  ]);
  expect([1, 2, 3, 4].map((org) => tally.told(org))).toEqual([told(5, 7), told(), told(9), told()]);
});

it('goes on from its text', () => {
  const kept = Tally.of(counted().toText());
  expect(kept.operations()).toEqual(counted().operations());
  kept.add(2, 'patients.create');
  kept.changed(3, 11);
  kept.changed(1, 6);
  expect(kept.operations()[1]).toEqual({ org: 2, operation: 'patients.create', count: 2 });
  expect([1, 2, 3].map((org) => kept.told(org))).toEqual([told(5, 6, 7), told(), told(9, 11)]);
  expect(new Tally().operations()).toEqual([]);
  expect(Tally.of(new Tally().toText()).operations()).toEqual([]);
});
