import { countText } from '../count.ts';
import type { RowOrder } from '../sorting/roworder.ts';
import { type AgingMoney, BUCKETS, moneyOf, totalOf } from './agingmoney.ts';
import { type AgingReport, amountText, checkLine } from './agingreport.ts';
import { NAMES, nameOf, orderedGuarantors, share } from './agingtext.ts';
import { type HtmlColumn, horizontalBars, htmlFigures, htmlPage, htmlTable, type MadeAt } from './htmlpage.ts';
import { shownCents, usdText } from './money.ts';

/** What the page shows. */
export interface AgingPage {
  /** Filter except for the locations, as text; empty for none. */
  readonly filter: string;
  /** Maximum guarantors to list; 0 for the totals alone. */
  readonly limit: number | undefined;
  /** Order of the guarantors; oldest money first when not given. */
  readonly order?: RowOrder | undefined;
  readonly made: MadeAt;
}

const COLORS = { current: '#2f7d5b', thirtyDays: '#c9a227', sixtyDays: '#d9772b', ninetyDays: '#b3312c' };

const number = (title: string): HtmlColumn => ({ title, holds: 'numbers' });
const name = (title: string): HtmlColumn => ({ title, holds: 'names' });
const words = (title: string): HtmlColumn => ({ title, holds: 'words' });
const MONEY = ['over 90', '61-90', '31-60', '0-30', 'credits', 'balance'].map(number);

/** The aging report as a page to print: figures, buckets as bars, locations, and guarantors with the oldest money first. */
export function agingHtml(report: AgingReport, { filter, limit, order, made }: AgingPage): string {
  const { locations, money, guarantors } = report;
  const total = totalOf(money);
  const bars = BUCKETS.map((bucket) => {
    const amount = money.buckets[bucket];
    return { label: NAMES[bucket], cents: shownCents(amount), color: COLORS[bucket], more: share(amount, total) };
  });
  return htmlPage({
    title: 'Aging report',
    about: [whereOf(report), ...(filter === '' ? [] : [`Filter: ${filter}`])],
    made,
    body: [
      htmlFigures([
        ['Balance', usdText(shownCents(money.balance))],
        ['Charges', usdText(shownCents(total))],
        ['Credits', usdText(shownCents(money.credits))],
        ['Guarantors', countText(guarantors)],
      ]),
      horizontalBars('Charges by age', bars),
      ...(locations.length > 1 ? [locationTable(report)] : []),
      ...(limit === 0 ? [] : [guarantorTable(report, limit, order)]),
    ],
    foot: checkLine(report),
  });
}

function whereOf({ locations }: AgingReport): string {
  const names = locations.map(({ location }) => location);
  if (names.length === 1 && names[0] === 'ALL') return 'All locations of the organization';
  return `${names.length === 1 ? 'Location' : 'Locations'} ${names.join(', ')}`;
}

function locationTable({ locations, guarantors, money }: AgingReport): string {
  const rows = locations.map((each) => [each.location, countText(each.guarantors.length), ...moneyCells(each.money)]);
  const columns = [name('location'), number('guarantors'), ...MONEY];
  return htmlTable('Locations', columns, rows, ['All', countText(guarantors), ...moneyCells(money)]);
}

function guarantorTable(report: AgingReport, limit: number | undefined, order: RowOrder | undefined): string {
  const { locations, money } = report;
  const isOne = locations.length === 1;
  const all = orderedGuarantors(report, order);
  const shown = all.slice(0, limit);
  const rows = shown.map(({ location, guarantor }) => [
    ...(isOne ? [] : [location]),
    guarantor.id,
    nameOf(guarantor),
    ...moneyCells(moneyOf(guarantor.amounts)),
  ]);
  const part =
    shown.length < all.length ? ` (${countText(shown.length)} of ${countText(all.length)}; totals of all)` : '';
  const columns = [...(isOne ? [] : [name('location')]), name('id'), words('guarantor'), ...MONEY];
  const total = [...(isOne ? [] : ['']), 'Total', '', ...moneyCells(money)];
  const heading = order === undefined ? 'Guarantors, oldest money first' : 'Guarantors';
  return htmlTable(`${heading}${part}`, columns, rows, total);
}

function moneyCells({ buckets, credits, balance }: AgingMoney): string[] {
  return [...[...BUCKETS].reverse().map((bucket) => buckets[bucket]), credits, balance].map(amountText);
}
