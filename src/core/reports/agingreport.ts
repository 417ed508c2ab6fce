import { countText } from '../count.ts';
import type { Row } from '../pages/page.ts';
import {
  type AgingMoney,
  added,
  addedUp,
  guarantorRow,
  inDollars,
  locationValue,
  moneyOf,
  sumsMoney,
  totalOf,
} from './agingmoney.ts';
import type { LocationAging } from './agingread.ts';
import { dollarsOf, dollarsText, exactText, PARTS_OF_CENT, shownCents } from './money.ts';

/** The aging report over all locations that have data; money in parts of a cent. */
export interface AgingReport {
  readonly locations: readonly LocationAging[];
  readonly money: AgingMoney;
  /** Guarantors, each counted once however many locations have money of theirs. */
  readonly guarantors: number;
  readonly problems: readonly string[];
  /** Amounts that have fractions of a cent, and sums of the server that differ by no more than their rounding. */
  readonly fractions: number;
  readonly roundings: number;
}

/** Adds up the reports of all locations. */
export function agingReport(locations: readonly LocationAging[]): AgingReport {
  return {
    locations,
    money: moneyOf(added(locations.map(({ guarantors }) => addedUp(guarantors)))),
    guarantors: idsOf(locations),
    problems: locations.flatMap(({ problems }) => problems),
    fractions: locations.reduce((sum, { fractions }) => sum + fractions, 0),
    roundings: locations.reduce((sum, { roundings }) => sum + roundings, 0),
  };
}

function idsOf(locations: readonly LocationAging[]): number {
  const ids = new Set<string>();
  for (const { guarantors } of locations) for (const { id } of guarantors) ids.add(id);
  return ids.size;
}

/** Records of all locations as rows in dollars, made lazily: by location in the order of the request, then by id; at most `limit`. */
export function* recordRows({ locations }: AgingReport, limit = Number.POSITIVE_INFINITY): Generator<Row> {
  let left = limit;
  for (const { location, guarantors } of locations) {
    for (const guarantor of guarantors) {
      if (left-- <= 0) return;
      yield guarantorRow(location, guarantor);
    }
  }
}

/** A row for each location, in dollars, under the names that the API gives its sums. */
export function locationRows({ locations }: AgingReport): Row[] {
  return locations.map(locationRow);
}

/** The row of one location. */
export function locationRow({ location, guarantors, money }: LocationAging): Row {
  return { location: locationValue(location), guarantors: guarantors.length, ...inDollars(sumsMoney(money)) };
}

/** The row over everything: `location` is `ALL`. */
export function totalsRow({ guarantors, money }: AgingReport): Row {
  return { location: 'ALL', guarantors, ...inDollars(sumsMoney(money)) };
}

/** A row for each location and one `ALL`; where the only location is ALL already, that one. */
export function totalRows(report: AgingReport): Row[] {
  const isAll = report.locations.length === 1 && report.locations[0]?.location === 'ALL';
  return isAll ? [totalsRow(report)] : [...locationRows(report), totalsRow(report)];
}

/** What was checked, in dollars: buckets and credits are the balance, and every page adds up. Compared exactly, shown in cents. */
export function checkOf({ locations, money, problems, fractions, roundings }: AgingReport): Row {
  return {
    ok: problems.length === 0,
    buckets: dollarsOf(shownCents(totalOf(money))),
    unappliedCredits: dollarsOf(shownCents(money.credits)),
    balance: dollarsOf(shownCents(money.balance)),
    difference: (totalOf(money) + money.credits - money.balance) / PARTS_OF_DOLLAR || 0,
    pages: locations.reduce((sum, { pages }) => sum + pages, 0),
    problems,
    ...(fractions > 0 && { fractionsOfCents: fractions, roundedSums: roundings }),
  };
}

const PARTS_OF_DOLLAR = 100 * PARTS_OF_CENT;

/** The check as one line: `buckets 12.00 + credits -2.00 = balance 10.00`, and whether the pages add up. */
export function checkLine(report: AgingReport): string {
  const { locations, money, problems } = report;
  const difference = totalOf(money) + money.credits - money.balance;
  const sign = difference === 0 ? '=' : 'is not';
  const sum = `buckets ${amountText(totalOf(money))} + credits ${amountText(money.credits)} ${sign} balance ${amountText(money.balance)}`;
  const off = difference === 0 || report.fractions === 0 ? '' : `, by ${exactText(difference)}`;
  const pages = locations.reduce((total, location) => total + location.pages, 0);
  const pagesText = pages === 1 ? 'the page adds up' : `all ${pages} pages add up`;
  const sums = problems.length === 0 ? pagesText : `the server's own sums disagree (${problems.length})`;
  return `Check: ${[`${sum}${off}`, sums, ...fractionText(report)].join('; ')}.`;
}

/** A note on amounts that have fractions of a cent; empty where there are none. */
export function fractionText({ fractions, roundings }: AgingReport): readonly string[] {
  if (fractions === 0) return [];
  const amounts = fractions === 1 ? '1 amount has' : `${countText(fractions)} amounts have`;
  const sums = roundings === 1 ? '1 sum differs' : `${countText(roundings)} sums differ`;
  return [`${amounts} fractions of a cent`, ...(roundings === 0 ? [] : [`${sums} by their rounding`])];
}

/** An amount in parts of a cent as people read dollars, rounded to cents. */
export function amountText(parts: number): string {
  return dollarsText(shownCents(parts));
}
