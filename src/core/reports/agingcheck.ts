import type { Row } from '../pages/page.ts';
import type { Guarantor } from './agingmerge.ts';
import { type AgingCents, added, centsIn, isBalanced, moneyOf, NotMoney, sumsMoney, totalOf } from './agingmoney.ts';
import { dollarsText } from './money.ts';

/**
 * What the sums of one answer get wrong, each as half a sentence: a guarantor whose buckets and credits are not the
 * balance, and sums that are not those of the guarantors (specification, Aging balances report, Paging rule 5). Sums
 * that the server leaves out are not checked. Throws NotMoney.
 */
export function wrongSums(data: Row, guarantors: readonly Guarantor[]): string[] {
  const sums = moneyOf(added(guarantors.map(({ cents }) => cents)));
  return [
    ...guarantors.filter(({ cents }) => !isBalanced(cents)).map(({ id, cents }) => wrongBalance(id, cents)),
    ...Object.entries(sumsMoney(sums)).flatMap(([name, cents]) => {
      if (data[name] === undefined || data[name] === null) return [];
      return typeof cents === 'number' ? differing(name, data, cents) : differingParts(name, data[name], cents as Row);
    }),
  ];
}

function wrongBalance(id: string, cents: AgingCents): string {
  const money = moneyOf(cents);
  const figures = `${dollarsText(totalOf(money))} and credits ${dollarsText(money.credits)}`;
  return `guarantor ${id} has buckets of ${figures} but a balance of ${dollarsText(money.balance)}`;
}

function differing(name: string, data: Row, cents: number, shown = name): string[] {
  const told = centsIn(data, name);
  if (told === cents) return [];
  return [`${shown} is ${dollarsText(told)} but its guarantors add up to ${dollarsText(cents)}`];
}

function differingParts(name: string, told: unknown, parts: Row): string[] {
  if (typeof told !== 'object') throw new NotMoney(name);
  return Object.entries(parts).flatMap(([part, cents]) =>
    differing(part, told as Row, cents as number, `${name}.${part}`),
  );
}
