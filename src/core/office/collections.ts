import { wholeNumber } from '../query/result.ts';
import { BUCKETS, type Guarantor, Guarantors, guarantorRow } from '../reports/agingmoney.ts';
import type { LocationAging } from '../reports/agingread.ts';
import { centsOf, shownCents } from '../reports/money.ts';
import { type Agreement, agreement } from './agreement.ts';
import type { OfficeColumn } from './report.ts';
import type { OfficeRow, Picture } from './result.ts';

/** Money that was due so many days ago or earlier is overdue. */
export type Overdue = 30 | 60 | 90;

/** The buckets beyond each age. */
const BEYOND: Readonly<Record<Overdue, readonly string[]>> = {
  30: ['thirtyDaysCents', 'sixtyDaysCents', 'ninetyDaysCents'],
  60: ['sixtyDaysCents', 'ninetyDaysCents'],
  90: ['ninetyDaysCents'],
};

/** Amounts of the API's aging report, in its names, which are columns with `Cents` behind them. */
const AMOUNTS = [
  ...BUCKETS,
  'unAppliedCredits',
  'balance',
  'guarantorPortionBalance',
  'insurancePortionBalance',
  'writeOffBalance',
] as const;

/** The columns of money of the report, and what stands between and behind them. */
export const COLLECTIONS_MONEY: readonly OfficeColumn[] = [
  ...[...AMOUNTS, 'overdue'].map((name): OfficeColumn => ({ name: `${name}Cents`, kind: 'cents' })),
  { name: 'claimsPending', kind: 'count' },
];

/** The guarantors of the locations who owe money that is overdue: one row each, money added, the most pending claims. */
export function overdueRows(locations: readonly LocationAging[], over: Overdue): OfficeRow[] {
  return allGuarantors(locations)
    .map((guarantor) => rowOf(guarantor, over))
    .filter(({ overdueCents, balanceCents }) => Number(overdueCents) > 0 && Number(balanceCents) > 0);
}

function allGuarantors(locations: readonly LocationAging[]): readonly Guarantor[] {
  const all = new Guarantors();
  for (const { guarantors } of locations) for (const guarantor of guarantors) all.add(guarantor);
  return all.sorted();
}

function rowOf(guarantor: Guarantor, over: Overdue): OfficeRow {
  const record = guarantorRow('ALL', guarantor);
  const money = Object.fromEntries(AMOUNTS.map((name) => [`${name}Cents`, centsOf(record[name]) ?? 0]));
  return {
    'patient.id': idValue(guarantor.id),
    'patient.firstName': guarantor.firstName,
    'patient.lastName': guarantor.lastName,
    ...money,
    overdueCents: BEYOND[over].reduce((sum, name) => sum + (money[name] ?? 0), 0),
    claimsPending: guarantor.claimsPending,
  };
}

/** An id as rows have it: a whole number, a bigint where no number is exact. */
function idValue(id: string): number | bigint | string {
  return /^\d+$/.test(id) ? wholeNumber(BigInt(id)) : id;
}

/** Sums of the API's aging report by its names, and what they are of: each bucket, then the credits. */
const STATED = [
  ['currentAmount', '0-30 days', (at: LocationAging) => at.money.buckets.current],
  ['thirtyDaysAmount', '31-60 days', (at: LocationAging) => at.money.buckets.thirtyDays],
  ['sixtyDaysAmount', '61-90 days', (at: LocationAging) => at.money.buckets.sixtyDays],
  ['ninetyDaysAmount', 'Over 90 days', (at: LocationAging) => at.money.buckets.ninetyDays],
  ['unappliedCreditsAmount', 'Unapplied credits', (at: LocationAging) => at.money.credits],
] as const;

/**
 * Compares buckets and credits of all guarantors with the sums that the API's aging report states of them, and them all
 * with the balance; nothing agrees either where the report is at odds with itself.
 */
export function checkCollections(locations: readonly LocationAging[]): Agreement {
  const cents = (partsOf: (location: LocationAging) => number) =>
    shownCents(locations.reduce((sum, location) => sum + partsOf(location), 0));
  const parts = STATED.map(([field, what, got]) =>
    agreement(
      what,
      cents(({ stated }) => stated[field] ?? 0),
      cents(got),
    ),
  );
  const all = cents((location) => STATED.reduce((sum, [, , got]) => sum + got(location), 0));
  const whole = agreement(
    'Balance',
    cents(({ stated }) => stated.balance ?? 0),
    all,
  );
  const disagreeing = [whole, ...parts].flatMap((each) => each.disagreeing);
  const problems = locations.flatMap((location) => location.problems);
  return { ...whole, agrees: disagreeing.length + problems.length === 0, disagreeing, problems };
}

/** What the guarantors of the rows owe, by age. */
export function collectionsPicture(rows: readonly OfficeRow[]): Picture {
  const total = (name: string) => rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0);
  const labels = { current: '0-30', thirtyDays: '31-60', sixtyDays: '61-90', ninetyDays: 'over 90' };
  const of = BUCKETS.map((bucket) => ({ label: labels[bucket], cents: total(`${bucket}Cents`) }));
  return { title: 'Owed by age', bars: 'rows', of };
}
