import type { Row } from '../pages/page.ts';
import { guarantorRow, locationValue } from './agingmerge.ts';
import { type AgingMoney, added, inDollars, moneyOf, sumsMoney, totalOf } from './agingmoney.ts';
import { centsOfAll, type LocationAging } from './agingread.ts';
import { dollarsOf, dollarsText } from './money.ts';

/** The aging report over all locations that have data; money in cents. */
export interface AgingReport {
  readonly locations: readonly LocationAging[];
  readonly money: AgingMoney;
  /** Guarantors, each counted once however many locations have money of theirs. */
  readonly guarantors: number;
  readonly problems: readonly string[];
}

export function agingReport(locations: readonly LocationAging[]): AgingReport {
  return {
    locations,
    money: moneyOf(added(locations.map(({ guarantors }) => added(centsOfAll(guarantors))))),
    guarantors: idsOf(locations),
    problems: locations.flatMap(({ problems }) => problems),
  };
}

function idsOf(locations: readonly LocationAging[]): number {
  const ids = new Set<string>();
  for (const { guarantors } of locations) for (const { id } of guarantors) ids.add(id);
  return ids.size;
}

/** Records of all locations as rows in dollars, made one by one: by location as asked for, then by id; `limit` at most. */
export function* recordRows({ locations }: AgingReport, limit = Number.POSITIVE_INFINITY): Generator<Row> {
  let left = limit;
  for (const { location, guarantors } of locations) {
    for (const guarantor of guarantors) {
      if (left-- <= 0) return;
      yield guarantorRow(location, guarantor);
    }
  }
}

/** One row a location, in dollars, under the names that the API gives its sums. */
export function locationRows({ locations }: AgingReport): Row[] {
  return locations.map(locationRow);
}

export function locationRow({ location, guarantors, money }: LocationAging): Row {
  return { location: locationValue(location), guarantors: guarantors.length, ...inDollars(sumsMoney(money)) };
}

/** The row over everything: `location` is `ALL`. */
export function totalsRow({ guarantors, money }: AgingReport): Row {
  return { location: 'ALL', guarantors, ...inDollars(sumsMoney(money)) };
}

/** One row a location and one `ALL`; where the only location is ALL already, that one. */
export function totalRows(report: AgingReport): Row[] {
  const isAll = report.locations.length === 1 && report.locations[0]?.location === 'ALL';
  return isAll ? [totalsRow(report)] : [...locationRows(report), totalsRow(report)];
}

/** What was checked, in dollars: buckets and credits are the balance, and every page adds up. */
export function checkOf({ locations, money, problems }: AgingReport): Row {
  const bucketsAndCredits = totalOf(money) + money.credits;
  return {
    ok: problems.length === 0,
    buckets: dollarsOf(totalOf(money)),
    unappliedCredits: dollarsOf(money.credits),
    balance: dollarsOf(money.balance),
    difference: dollarsOf(bucketsAndCredits - money.balance),
    pages: locations.reduce((sum, { pages }) => sum + pages, 0),
    problems,
  };
}

/** The check as one line: `buckets 12.00 + credits -2.00 = balance 10.00`, and whether the pages add up. */
export function checkLine({ locations, money, problems }: AgingReport): string {
  const equal = totalOf(money) + money.credits === money.balance;
  const sum = `buckets ${dollarsText(totalOf(money))} + credits ${dollarsText(money.credits)} ${equal ? '=' : 'is not'} balance ${dollarsText(money.balance)}`;
  const pages = locations.reduce((total, location) => total + location.pages, 0);
  const answers = pages === 1 ? 'the page adds up' : `all ${pages} pages add up`;
  return `Check: ${sum}; ${problems.length === 0 ? answers : `the server's own sums disagree (${problems.length})`}.`;
}
