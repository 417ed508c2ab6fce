import type { Row } from '../pages/page.ts';
import type { Guarantor } from './agingmerge.ts';
import {
  type AgingAmounts,
  type AgingMoney,
  added,
  amountIn,
  fractionsOf,
  imbalanceOf,
  moneyOf,
  NotMoney,
  sumsMoney,
  totalOf,
} from './agingmoney.ts';
import { exactText, isFraction, PARTS_OF_CENT } from './money.ts';

/** What the check of one answer found. */
export interface CheckedSums {
  /** What is wrong, each as half a sentence. */
  readonly problems: readonly string[];
  /** Amounts of its guarantors that have fractions of a cent. */
  readonly fractions: number;
  /** Sums that differ by no more than the rounding of such amounts. */
  readonly roundings: number;
}

/**
 * Compares the sums of one answer exactly: a guarantor whose buckets and credits are not the balance, and sums that are
 * not those of the guarantors (specification, Aging balances report, Paging rule 5). Sums that the server leaves out
 * are not checked. Throws NotMoney.
 */
export function checkSums(data: Row, guarantors: readonly Guarantor[]): CheckedSums {
  const check = new Check();
  for (const { id, amounts } of guarantors) checkBalance(check, id, amounts);
  const money = moneyOf(added(guarantors.map(({ amounts }) => amounts)));
  const counted = added(guarantors.map(({ amounts }) => fractionsOf(amounts)));
  const fractions = fractionsOfSums(moneyOf(counted));
  for (const [name, sum] of Object.entries(sumsMoney(money))) {
    if (data[name] === undefined || data[name] === null) continue;
    if (typeof sum === 'number') check.sum(name, amountIn(data, name), sum, fractions[name] as number);
    else checkParts(check, name, data[name], sum as Row, fractions[name] as Row);
  }
  return { ...check, fractions: counted.reduce((total, count) => total + count, 0) };
}

/** Half a cent: what rounding an amount can take away or add. */
const ROUNDING = PARTS_OF_CENT / 2;

class Check {
  readonly problems: string[] = [];
  roundings = 0;

  /** A difference in parts of a cent between sums in which so many amounts with fractions stand. */
  differing(difference: number, fractions: number, problem: () => string): void {
    if (difference === 0) return;
    if (Math.abs(difference) <= fractions * ROUNDING) this.roundings++;
    else this.problems.push(problem());
  }

  sum(name: string, stated: number, sum: number, fractions: number): void {
    const figures = () => `${name} is ${exactText(stated)} but its guarantors add up to ${exactText(sum)}`;
    this.differing(stated - sum, fractions + Number(isFraction(stated)), figures);
  }
}

function checkBalance(check: Check, id: string, amounts: AgingAmounts): void {
  check.differing(imbalanceOf(amounts), balanceFractions(moneyOf(fractionsOf(amounts))), () => {
    const money = moneyOf(amounts);
    const figures = `${exactText(totalOf(money))} and credits ${exactText(money.credits)}`;
    return `guarantor ${id} has buckets of ${figures} but a balance of ${exactText(money.balance)}`;
  });
}

function checkParts(check: Check, name: string, stated: unknown, parts: Row, fractions: Row): void {
  if (typeof stated !== 'object') throw new NotMoney(name);
  for (const [part, sum] of Object.entries(parts))
    check.sum(`${name}.${part}`, amountIn(stated as Row, part), sum as number, fractions[part] as number);
}

/** How many amounts with fractions stand in each sum, under the names of the sums. */
function fractionsOfSums(counts: AgingMoney): Record<string, unknown> {
  return { ...sumsMoney(counts), balance: balanceFractions(counts) };
}

function balanceFractions(counts: AgingMoney): number {
  return totalOf(counts) + counts.credits + counts.balance;
}
