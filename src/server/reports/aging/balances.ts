import type { Term } from '../../../catalog/filter/check.ts';
import { localDate } from '../../zones.ts';
import { addDays } from '../days.ts';
import { remembered } from '../remembered.ts';
import type { OpenItem } from './openitems.ts';

/** Age buckets, the youngest first, by their names on the wire, and how many days old a charge in them may be. */
export const BUCKETS = ['current', 'thirtyDays', 'sixtyDays', 'ninetyDays'] as const;
const OLDEST = [30, 60, 90] as const;

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

/** How an outstanding charge is split (D34). */
function splitOf({ open_cents, insurance_cents, write_off_cents }: OpenItem): Split {
  const writeOff = Math.min(write_off_cents, open_cents);
  const insurance = Math.min(Math.max(insurance_cents, 0), open_cents - writeOff);
  return { guarantor: open_cents - writeOff - insurance, insurance, writeOff };
}

/** The bucket of a date in a zone: whole calendar days old, a future date is current (D34). */
function bucketsAt(now: number): (zone: string) => (date: string) => number {
  return remembered((zone) => {
    const today = localDate(new Date(now).toISOString(), zone);
    const firsts = OLDEST.map((days) => addDays(today, -days));
    return (date) => {
      const bucket = firsts.findIndex((first) => date >= first);
      return bucket < 0 ? BUCKETS.length - 1 : bucket;
    };
  });
}

/**
 * Balances of guarantors from their open items, which come in the order of guarantors; those that owe nothing and
 * have nothing unapplied are left out (D34).
 */
export function balancesOf(
  items: readonly OpenItem[],
  now: number,
  zoneOf: (location: number) => string,
): readonly Balance[] {
  const bucketIn = bucketsAt(now);
  const balances: { id: number; buckets: Split[]; unapplied: number }[] = [];
  for (const item of items) {
    let balance = balances.at(-1);
    if (balance?.id !== item.guarantor_id) {
      balance = { id: item.guarantor_id, buckets: BUCKETS.map(() => NOTHING), unapplied: 0 };
      balances.push(balance);
    }
    if (item.is_charge === 1) {
      const bucket = bucketIn(zoneOf(item.location_id))(item.transaction_date);
      balance.buckets[bucket] = add(balance.buckets[bucket] ?? NOTHING, splitOf(item));
    } else {
      balance.unapplied += item.open_cents;
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
    const amount = bucket < 0 ? balanceOf(balance) : amountOf(balance.buckets[bucket] ?? NOTHING);
    return compare(amount, operator, values[0] as number);
  });
}

function compare(amount: number, operator: Term['operator'], wanted: number): boolean {
  switch (operator) {
    case '==':
      return amount === wanted;
    case '!=':
      return amount !== wanted;
    case '>':
      return amount > wanted;
    case '>=':
      return amount >= wanted;
    case '<':
      return amount < wanted;
    case '<=':
      return amount <= wanted;
    default:
      throw new Error(`Amounts are not compared by ${operator}.`);
  }
}
