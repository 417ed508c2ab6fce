import { expect, it } from 'vitest';
import { type Overdue, overdueRows } from '../../../src/core/office/collections.ts';
import { readGuarantor } from '../../../src/core/reports/agingmoney.ts';
import type { LocationAging } from '../../../src/core/reports/agingread.ts';
import { type Cents, owing, record } from '../reports/agingsamples.ts';

/** What was read of a location, as far as the rows are made of it. */
const location = (...owed: Cents[]) =>
  ({ guarantors: owed.map((each) => readGuarantor(record(each))) }) as unknown as LocationAging;

const LOCATIONS = [
  location(
    owing('1', [0, 0, 0, 100]),
    owing('2', [5, 0, 200, 0]),
    owing('3', [0, 300, 0, 0]),
    owing('4', [400, 0, 0, 0]),
    // Paid already, though not applied.
    owing('5', [0, 0, 0, 100], -100),
    owing('6', [0, 0, 0, 100], -150),
    owing('7', [0, 0, 0, 50], 0, 2),
    owing('8', [0, 0, 0, 100]),
  ),
  location(owing('7', [0, 0, 0, 25], -5, 1), owing('8', [0, 0, 0, 0], -150), owing('10', [0, 0, 0, 1])),
];

it.each<[Overdue, object]>([
  [90, { 1: 100, 7: 75, 10: 1 }],
  [60, { 1: 100, 2: 200, 7: 75, 10: 1 }],
  [30, { 1: 100, 2: 200, 3: 300, 7: 75, 10: 1 }],
])('lists who has owed for more than %i days, over all locations and less what they have paid', (over, expected) => {
  const rows = overdueRows(LOCATIONS, over);
  expect(Object.fromEntries(rows.map((row) => [row['patient.id'], row.overdueCents]))).toEqual(expected);
  expect(rows.map((row) => row['patient.id'])).toEqual(Object.keys(expected).map(Number));
});

it('what a guarantor of several locations owes is added, and the claims are those of the one with the most', () => {
  const seventh = overdueRows(LOCATIONS, 90).find((row) => row['patient.id'] === 7);
  expect(seventh).toMatchObject({
    ...{ 'patient.firstName': 'First 7', 'patient.lastName': 'Last 7', claimsPending: 2 },
    ...{ ninetyDaysCents: 75, currentCents: 0, unAppliedCreditsCents: -5, balanceCents: 70, overdueCents: 75 },
  });
});
