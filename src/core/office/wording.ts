import { countText } from '../count.ts';
import { madeText } from '../reports/htmlpage.ts';
import { usdText } from '../reports/money.ts';
import type { OfficeColumn } from './report.ts';
import type { OfficeCheck, OfficeResult, OfficeTotals } from './result.ts';

/** A total beside the sums of the columns: a number, an amount in cents, or both. */
export interface MoreTotal {
  readonly label: string;
  readonly count?: number;
  readonly cents?: number;
}

/** What the totals have beside `count` and the sums of columns: single ones, and groups such as `byLedgerType`. */
export function moreTotals(
  totals: OfficeTotals,
  columns: readonly OfficeColumn[],
): { readonly single: readonly MoreTotal[]; readonly groups: readonly { label: string; of: readonly MoreTotal[] }[] } {
  const known = new Set(['count', ...columns.map(({ name }) => name)]);
  const others = Object.entries(totals).filter(([name]) => !known.has(name));
  return {
    single: others.flatMap(([name, value]) => (typeof value === 'number' ? [totalOf(name, value)] : [])),
    groups: others.flatMap(([name, value]) => {
      if (typeof value === 'number') return [];
      const of = Object.entries(value).map(([label, parts]) => {
        const [, cents] = Object.entries(parts).find(([part]) => isCents(part)) ?? [];
        return {
          label,
          ...(parts.count !== undefined && { count: parts.count }),
          ...(cents !== undefined && { cents }),
        };
      });
      return [{ label: words(name), of }];
    }),
  };
}

function totalOf(name: string, value: number): MoreTotal {
  return isCents(name) ? { label: words(name), cents: value } : { label: words(name), count: value };
}

function isCents(name: string): boolean {
  return name.endsWith('Cents');
}

/** A name without `Cents`: its amounts are shown in dollars. */
export function withoutCents(name: string): string {
  return name.replace(/Cents$/, '');
}

/** A camelCase name as words: `byLedgerType` is `by ledger type`. */
export function words(name: string): string {
  return withoutCents(name).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** The lines below the title: what was asked for, and how many of the rows are shown where it is not all. */
export function aboutLines({ filters, rows, totals }: OfficeResult): string[] {
  const lines = filters.map(({ label, text }) => `${label}: ${text}`);
  if (rows.length === totals.count) return lines;
  return [...lines, `The first ${countText(rows.length)} of ${countText(totals.count)}; the totals are of all.`];
}

/** That the sums are those of the API, without which no report is written; empty where nothing was compared. */
export function checkLine(check: OfficeCheck | null): string {
  return check === null ? '' : `Check: the sum is ${usdText(check.expectedCents)}, as the API's own report says.`;
}

/** The lines above the header of a workbook, the title first. */
export function headLines(result: OfficeResult): string[] {
  const check = checkLine(result.check);
  return [result.title, ...aboutLines(result), ...(check === '' ? [] : [check]), madeText(result.made)];
}

/** The label of the row of totals. */
export function totalLabel({ count }: OfficeTotals): string {
  return `Total of ${countText(count)}`;
}
