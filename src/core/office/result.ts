import type { LocalClock } from '../output/localclock.ts';
import type { MadeAt } from '../reports/htmlpage.ts';
import type { OfficeColumn } from './report.ts';

/** A value of a row: an id or a number may be a bigint, a truth value 0 or 1 as a mirror stores it; null: none. */
export type OfficeValue = string | number | bigint | boolean | null | undefined;

/** A row, flat: values by the name of their column, such as `patient.firstName`. */
export type OfficeRow = Readonly<Record<string, OfficeValue>>;

/** `totals` of a report: `count`, sums of cents by column, and what a report adds, also in groups. */
export interface OfficeTotals {
  readonly count: number;
  readonly [name: string]: number | Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Whether the sums agree with those of the API, in cents. */
export interface OfficeCheck {
  readonly agrees: boolean;
  readonly expectedCents: number;
  readonly gotCents: number;
  readonly differenceCents: number;
}

/** A bar of a picture: its label below or beside it, and its length. */
export interface PictureBar {
  readonly label: string;
  readonly cents: number;
}

/** A picture of a few amounts: `rows` for parts of a whole, one below the other, `columns` for days side by side. */
export interface Picture {
  readonly title: string;
  readonly bars: 'rows' | 'columns';
  readonly of: readonly PictureBar[];
}

/** A report with its rows, as a workbook and a page show it to people. */
export interface OfficeResult {
  /** `Call list`, say. */
  readonly title: string;
  /** What was asked for, resolved: `{ label: 'Days', text: '2026-11-24' }`. */
  readonly filters: readonly { readonly label: string; readonly text: string }[];
  readonly columns: readonly OfficeColumn[];
  /** The rows to show, in their order; `--limit` may have left some out of those that `totals` counts. */
  readonly rows: readonly OfficeRow[];
  readonly totals: OfficeTotals;
  readonly check: OfficeCheck | null;
  readonly made: MadeAt;
  /** The clock of a row's location. */
  readonly clockOf: (row: OfficeRow) => LocalClock;
  readonly picture?: Picture;
}
