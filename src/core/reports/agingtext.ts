import { quantity } from '../count.ts';
import { type Column, valueAt } from '../output/columns.ts';
import { tableText } from '../output/displaytext.ts';
import { type Look, PLAIN, type Style } from '../output/style.ts';
import type { RowOrder } from '../sorting/roworder.ts';
import { type AgingMoney, BUCKETS, type Guarantor, guarantorRow, moneyOf, oldestFirst, totalOf } from './agingmoney.ts';
import { type AgingReport, amountText, checkLine } from './agingreport.ts';
import { bar, dollarsText } from './money.ts';
import { columnsOver, type ReportColumn, type ReportTable, reportTable } from './reporttable.ts';

/** Form of the aging report on a terminal. */
export interface AgingLook {
  /** Columns of the terminal; undefined where there is none, and then there are no bars. */
  readonly width: number | undefined;
  readonly header: boolean;
  /** Maximum guarantors to show; all where undefined. */
  readonly limit: number | undefined;
  /** Order of the guarantors; oldest money first when not given. */
  readonly order?: RowOrder | undefined;
  /** Columns that were chosen, in place of the usual ones. */
  readonly columns?: readonly Column[] | undefined;
  /** Plain where not given; otherwise the bars have a colour for their age. */
  readonly style?: Style;
}

interface Line {
  readonly location: string;
  readonly guarantor: Guarantor;
  readonly money: AgingMoney;
}

/** The guarantors of all locations in `order`, oldest money first when there is none. */
export function orderedGuarantors({ locations }: AgingReport, order: RowOrder | undefined) {
  const all = locations.flatMap(({ location, guarantors }) => guarantors.map((guarantor) => ({ location, guarantor })));
  return order === undefined
    ? all.sort((a, b) => oldestFirst(a.guarantor, b.guarantor))
    : order.sorted(all, ({ location, guarantor }) => guarantorRow(location, guarantor));
}

/** Guarantors for people, in dollars. */
export function agingTable(report: AgingReport, look: AgingLook): ReportTable {
  const { locations } = report;
  const lines = orderedGuarantors(report, look.order)
    .slice(0, look.limit)
    .map((line): Line => ({ ...line, money: moneyOf(line.guarantor.amounts) }));
  if (look.columns !== undefined) return reportTable(chosenColumns(lines, look.columns), look);
  const column = columnsOver(lines);
  const money = (title: string, amount: (money: AgingMoney) => number, rank?: number): ReportColumn =>
    column(title, (line) => amountText(amount(line.money)), { isRight: true, ...(rank !== undefined && { rank }) });
  const [current, thirty, sixty, ninety] = BUCKETS;
  return reportTable(
    [
      ...(locations.length > 1 ? [column('location', ({ location }) => location, { rank: 4 })] : []),
      column('id', ({ guarantor }) => guarantor.id),
      column('guarantor', ({ guarantor }) => nameOf(guarantor), { isTruncated: true, minWidth: 14 }),
      money('over 90', ({ buckets }) => buckets[ninety]),
      money('61-90', ({ buckets }) => buckets[sixty]),
      money('31-60', ({ buckets }) => buckets[thirty], 3),
      money('0-30', ({ buckets }) => buckets[current], 2),
      money('credits', ({ credits }) => credits, 1),
      money('balance', ({ balance }) => balance),
    ],
    look,
  );
}

/** Selected columns under the names of the API; dollars with two decimals. */
function chosenColumns(lines: readonly Line[], columns: readonly Column[]): ReportColumn[] {
  const rows = lines.map(({ location, guarantor }) => guarantorRow(location, guarantor));
  return columns.map((column) => {
    const isPlain = ['location', 'claimsPending'].includes(column.name);
    const values = rows.map((row) => valueAt(row, column));
    const isNumber = values.some((value) => typeof value === 'number');
    return {
      title: column.name,
      isRight: isNumber && column.name !== 'location',
      isTruncated: !isNumber && !column.isId,
      cells: values.map((value) =>
        typeof value === 'number' && !isPlain ? dollarsText(Math.round(value * 100)) : tableText(value, undefined),
      ),
    };
  });
}

/** `Last, First`, with what there is. */
export function nameOf({ firstName, lastName }: Guarantor): string {
  return [lastName, firstName].filter((name) => name).join(', ');
}

/** Totals of each location and of all, with bars on a terminal, and the check line. */
export function agingTotals(report: AgingReport, look: AgingLook): string {
  const { locations, guarantors, money } = report;
  const [only] = locations;
  const blocks = locations.map((each) => {
    const name = each.location === 'ALL' ? 'All locations' : `Location ${each.location}`;
    return block(name, each.guarantors.length, each.money, look);
  });
  if (only !== undefined && locations.length > 1) {
    blocks.push(
      block(locations.length === 2 ? 'Both locations' : `All ${locations.length} locations`, guarantors, money, look),
    );
  }
  const { style = PLAIN } = look;
  return `${blocks.join('\n')}\n${style(report.problems.length === 0 ? 'good' : 'bad', checkLine(report))}\n`;
}

/** Names of the age buckets for people. */
export const NAMES = {
  current: '0-30 days',
  thirtyDays: '31-60 days',
  sixtyDays: '61-90 days',
  ninetyDays: 'over 90 days',
};

const AGES: Readonly<Record<keyof typeof NAMES, Look>> = {
  current: 'good',
  thirtyDays: 'caution',
  sixtyDays: 'late',
  ninetyDays: 'bad',
};

const MAX_BAR = 50;

function block(name: string, guarantors: number, money: AgingMoney, { width, style = PLAIN }: AgingLook): string {
  const total = totalOf(money);
  const figures = [...BUCKETS.map((bucket) => money.buckets[bucket]), total, money.credits, money.balance];
  const digits = Math.max(...figures.map((amount) => amountText(amount).length));
  const line = (label: string, amount: number, rest = '') =>
    `  ${label.padEnd(12)}  ${amountText(amount).padStart(digits)}${rest}`.trimEnd();
  const bars = width === undefined ? 0 : Math.max(0, Math.min(MAX_BAR, width - digits - 27));
  return `${[
    `${style('heading', name)}: ${quantity(guarantors, 'guarantor')}, amounts in USD`,
    ...BUCKETS.map((bucket) => {
      const amount = money.buckets[bucket];
      const drawn = style(AGES[bucket], bar(amount, total, bars));
      return line(NAMES[bucket], amount, `  ${share(amount, total).padStart(5)}  ${drawn}`);
    }),
    line('charges', total),
    line('credits', money.credits),
    style('heading', line('balance', money.balance)),
  ].join('\n')}\n`;
}

/** A part in whole percent: `12 %`; empty of nothing. */
export function share(part: number, whole: number): string {
  return whole <= 0 ? '' : `${Math.round((part / whole) * 100)} %`;
}
