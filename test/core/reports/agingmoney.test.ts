import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Guarantors,
  guarantorRow,
  moneyOf,
  NotMoney,
  oldestFirst,
  readAmounts,
  readGuarantor,
} from '../../../src/core/reports/agingmoney.ts';
import { PARTS_OF_CENT } from '../../../src/core/reports/money.ts';
import { type Cents, decimal, owing, record } from './agingsamples.ts';

const cents = fc.integer({ min: 0, max: 10_000_000 });
const guarantor: fc.Arbitrary<Cents> = fc.record({
  id: fc.constantFrom('7000000000009', '7000000000010', '8'),
  buckets: fc.array(fc.tuple(cents, cents, cents), { minLength: 4, maxLength: 4 }),
  credits: cents.map((amount) => 0 - amount),
  claimsPending: fc.nat(9),
});

function merge(records: readonly Record<string, unknown>[]) {
  const guarantors = new Guarantors();
  for (const each of records) guarantors.add(readGuarantor(each));
  return guarantors.sorted();
}

describe('Guarantors', () => {
  it('gives each guarantor once, money added to the cent, the largest count of claims', () => {
    fc.assert(
      fc.property(fc.array(guarantor, { maxLength: 12 }), (all) => {
        const merged = merge(all.map(record));
        const expected = ['8', '7000000000009', '7000000000010'].flatMap((id) => {
          const same = all.filter((each) => each.id === id);
          if (same.length === 0) return [];
          const buckets = [0, 1, 2, 3].map(
            (at) =>
              [0, 1, 2].map((part) => same.reduce((sum, each) => sum + (each.buckets[at]?.[part] ?? 0), 0)) as [
                number,
                number,
                number,
              ],
          );
          const credits = same.reduce((sum, each) => sum + each.credits, 0);
          return [
            record({ id, buckets, credits, claimsPending: Math.max(...same.map((each) => each.claimsPending ?? 0)) }),
          ];
        });
        expect(merged.map((each) => guarantorRow('5', each))).toEqual(
          expected.map((each) => ({ location: 5, ...each })),
        );
      }),
    );
  });

  it('adds what floating point would get wrong', () => {
    const [merged] = merge([record(owing('1', [10])), record(owing('1', [20]))]);
    expect(merged && guarantorRow('ALL', merged)).toMatchObject({ location: 'ALL', current: 0.3, balance: 0.3 });
  });

  it('takes a name from the page that has one', () => {
    const named = record(owing('1', [10]));
    const nameless = { ...named, firstName: null, lastName: null };
    for (const pages of [
      [nameless, named],
      [named, nameless],
    ]) {
      expect(merge(pages)[0]).toMatchObject({ firstName: named.firstName, lastName: named.lastName });
    }
  });
});

describe('oldestFirst', () => {
  it('sorts by the oldest money, then by the next', () => {
    const all = [
      owing('1', [900, 0, 0, 0]),
      owing('2', [0, 0, 0, 1]),
      owing('3', [0, 0, 5, 1]),
      owing('4', [0, 7, 0, 0]),
      owing('5', [0, 0, 0, 2]),
      owing('6', [], -500),
    ];
    const sorted = merge(all.map(record)).sort(oldestFirst);
    expect(sorted.map(({ id }) => id)).toEqual(['5', '3', '2', '4', '1', '6']);
  });
});

describe('readAmounts', () => {
  it.each([
    ['current', { current: '12 dollars' }],
    ['thirtyDays', { thirtyDays: '1e3' }],
    ['sixtyDays', { sixtyDays: 1e13 }],
    ['balance', { balance: Number.NaN }],
    ['sixtyDaysPortion', { sixtyDaysPortion: 3 }],
    ['ninetyDaysPortion.writeOff', { ninetyDaysPortion: { writeOff: true } }],
  ])('refuses %s that is no amount', (field, wrong) => {
    const read = () => readAmounts({ ...record(owing('1', [10])), ...wrong });
    expect(read).toThrow(NotMoney);
    expect(read).toThrow(`${field} is not`);
  });

  it('reads what is absent as nothing', () => {
    expect(moneyOf(readAmounts({ id: '1', current: decimal(5), balance: decimal(5) }))).toMatchObject({
      buckets: { current: 5 * PARTS_OF_CENT, thirtyDays: 0, sixtyDays: 0, ninetyDays: 0 },
      credits: 0,
      balance: 5 * PARTS_OF_CENT,
    });
  });

  it('reads amounts and counts that are text, and fractions of a cent', () => {
    const { amounts, claimsPending } = readGuarantor({
      id: '1',
      current: '12.345',
      thirtyDays: 0.1 + 0.2,
      sixtyDays: -0.00005,
      balance: ' 12.645 ',
      claimsPending: '3',
    });
    expect(moneyOf(amounts)).toMatchObject({
      buckets: { current: 1_234_500, thirtyDays: 30_000, sixtyDays: -5 },
      balance: 1_264_500,
    });
    expect(claimsPending).toBe(3);
  });
});
