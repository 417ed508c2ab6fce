import type { LocalClock } from '../output/localclock.ts';
import { MEASURED_ROWS, widthsOf } from '../output/xlsx.ts';
import { type Cell, cellOf, MAX_NUMBER, type SheetKind, STYLE, textCell } from '../output/xlsxcells.ts';
import { WorkbookPackage } from '../output/xlsxpackage.ts';
import { SheetWriter } from '../output/xlsxsheet.ts';
import type { OfficeColumn, OfficeKind } from './report.ts';
import type { OfficeResult, OfficeValue } from './result.ts';
import { headLines, type MoreTotal, moreTotals, totalLabel, withoutCents } from './wording.ts';

type Cells = readonly (Cell | undefined)[];

/** A sheet of a report, its rows made when they are needed. */
interface ReportSheet {
  readonly name: string;
  readonly above: readonly string[];
  readonly titles: readonly string[];
  readonly rows: number;
  readonly row: (at: number) => Cells;
  readonly totals?: Cells;
}

/**
 * A report as an Excel workbook, in pieces: title and filters above the header, dates, times and dollars as such, sums in
 * the last row; totals beside these in a second sheet. Throws a Failure for what a spreadsheet cannot hold.
 */
export function* officeWorkbook(result: OfficeResult): Generator<Uint8Array> {
  const sheets = [rowsSheet(result), ...totalsSheets(result)];
  const book = new WorkbookPackage(sheets.map(({ name, above }) => ({ name, headerRow: above.length + 1 })));
  for (const sheet of sheets) {
    book.startSheet();
    for (const xml of sheetXml(sheet)) {
      book.write(xml);
      yield book.take();
    }
  }
  book.end();
  yield book.take();
}

/** Rows packed at a time. */
const SLICE = 500;

function* sheetXml({ titles, above, rows, row, totals }: ReportSheet): Generator<string> {
  const upTo = (start: number, most: number) =>
    Array.from({ length: Math.min(most, rows - start) }, (_, at) => row(start + at));
  const measured = [...upTo(0, MEASURED_ROWS), ...(totals === undefined ? [] : [totals])];
  const writer = new SheetWriter({ titles, above, header: true, widths: widthsOf(measured, titles.length) });
  yield writer.begin();
  for (let start = 0; start < rows; start += SLICE) {
    yield upTo(start, SLICE)
      .map((cells) => writer.row(cells))
      .join('');
  }
  if (totals !== undefined) yield writer.row(totals);
  yield writer.end({ hasTotals: totals !== undefined });
}

function rowsSheet(result: OfficeResult): ReportSheet {
  const { title, columns, rows, totals, clockOf } = result;
  const zone = zoneOf(result);
  const sums = columns.map(({ name, kind }): Cell => {
    const sum = kind === 'cents' ? totals[name] : undefined;
    return typeof sum === 'number' ? dollarsCell(sum, STYLE.totalDollars) : textCell('', STYLE.total);
  });
  // Where every column is money there is no room for it.
  const label = columns.findIndex(({ kind }) => kind !== 'cents');
  return {
    name: title,
    above: headLines(result),
    titles: columns.map((column) => titleOf(column, zone)),
    rows: rows.length,
    row: (at) => {
      const row = rows[at] ?? {};
      const clock = clockOf(row);
      return columns.map((column) => valueCell(row[column.name], column.kind, clock));
    },
    totals: sums.map((sum, at) => (at === label ? textCell(totalLabel(totals), STYLE.total) : sum)),
  };
}

function totalsSheets({ title, columns, totals }: OfficeResult): ReportSheet[] {
  const { single, groups } = moreTotals(totals, columns);
  const all = [...single, ...groups.flatMap(({ of }) => of)];
  if (all.length === 0) return [];
  const cellsOf = ({ label, count, cents }: MoreTotal): Cells => [
    textCell(label),
    count === undefined ? undefined : { value: count, style: STYLE.plain, width: 8 },
    cents === undefined ? undefined : dollarsCell(cents, STYLE.dollars),
  ];
  const row = (at: number) => all.slice(at, at + 1).flatMap(cellsOf);
  return [{ name: 'Totals', above: [`${title}: totals`], titles: ['total', 'count', 'amount'], rows: all.length, row }];
}

const SHEET_KINDS: Readonly<Record<OfficeKind, SheetKind>> = {
  id: 'text',
  text: 'text',
  date: 'date',
  instant: 'instant',
  cents: 'cents',
  count: 'number',
  minutes: 'number',
  boolean: 'number',
};

function valueCell(value: OfficeValue, kind: OfficeKind, clock: LocalClock): Cell | undefined {
  if (kind === 'boolean' && value !== null && value !== undefined) return cellOf(Boolean(value), 'number', clock);
  const isRounded = typeof value !== 'bigint' || value > MAX_NUMBER || value < -MAX_NUMBER;
  return cellOf(isRounded || kind === 'id' ? value : Number(value), SHEET_KINDS[kind], clock);
}

function dollarsCell(cents: number, style: number): Cell {
  const dollars = cents / 100;
  return { value: dollars, style, width: String(dollars).length + 5 };
}

function titleOf({ name, kind }: OfficeColumn, zone: string): string {
  if (kind === 'instant') return `${name} (${zone})`;
  return kind === 'minutes' ? `${name} (minutes)` : withoutCents(name);
}

/** The zone of all rows; `local time` where they have several. */
function zoneOf({ rows, clockOf, made }: OfficeResult): string {
  const [only = made.clock.zone, ...others] = new Set(rows.map((row) => clockOf(row).zone));
  return others.length === 0 ? only : 'local time';
}
