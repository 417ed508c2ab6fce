import type { Term } from '../../../catalog/filter/check.ts';
import { BUCKETS, CREDITS, type OpenSum } from './openamounts.ts';

/** An outstanding amount, split by who is to pay it. Cents. */
export interface Split {
  readonly guarantor: number;
  readonly insurance: number;
  readonly writeOff: number;
}

/** What one guarantor owes, by age; `unapplied` is negative. Cents. */
export interface Balance {
  readonly id: number;
  readonly buckets: readonly Split[];
  readonly unapplied: number;
}

const NOTHING: Split = { guarantor: 0, insurance: 0, writeOff: 0 };

export function amountOf({ guarantor, insurance, writeOff }: Split): number {
  return guarantor + insurance + writeOff;
}

export function sumOf(splits: readonly Split[]): Split {
  return splits.reduce(add, NOTHING);
}

function add(a: Split, b: Split): Split {
  return {
    guarantor: a.guarantor + b.guarantor,
    insurance: a.insurance + b.insurance,
    writeOff: a.writeOff + b.writeOff,
  };
}

/** Balances of guarantors from what is open of them; those that owe nothing and have nothing unapplied are left out (D34). */
export function balancesOf(sums: readonly OpenSum[]): readonly Balance[] {
  const balances: { id: number; buckets: Split[]; unapplied: number }[] = [];
  for (const { guarantor_id, bucket, open_cents, insurance_cents, write_off_cents } of sums) {
    let balance = balances.at(-1);
    if (balance?.id !== guarantor_id) {
      balance = { id: guarantor_id, buckets: BUCKETS.map(() => NOTHING), unapplied: 0 };
      balances.push(balance);
    }
    if (bucket === CREDITS) {
      balance.unapplied = open_cents;
    } else {
      const guarantor = open_cents - insurance_cents - write_off_cents;
      balance.buckets[bucket] = { guarantor, insurance: insurance_cents, writeOff: write_off_cents };
    }
  }
  return balances.filter(({ buckets, unapplied }) => unapplied !== 0 || buckets.some((split) => amountOf(split) !== 0));
}

export function balanceOf({ buckets, unapplied }: Balance): number {
  return amountOf(sumOf(buckets)) + unapplied;
}

/** Whether a guarantor passes every term on balance and buckets. */
export function passes(balance: Balance, terms: readonly Term[]): boolean {
  return terms.every(({ key, operator, values }) => {
    const bucket = (BUCKETS as readonly string[]).indexOf(key.key);
    const amount = bucket < 0 ? balanceOf(balance) : amountOf(balance.buckets[bucket] as Split);
    return COMPARISONS[operator as keyof typeof COMPARISONS](amount, values[0] as number);
  });
}

/** The operators that a filter takes on amounts. */
const COMPARISONS = {
  '==': (amount: number, wanted: number) => amount === wanted,
  '!=': (amount: number, wanted: number) => amount !== wanted,
  '>': (amount: number, wanted: number) => amount > wanted,
  '>=': (amount: number, wanted: number) => amount >= wanted,
  '<': (amount: number, wanted: number) => amount < wanted,
  '<=': (amount: number, wanted: number) => amount <= wanted,
};
