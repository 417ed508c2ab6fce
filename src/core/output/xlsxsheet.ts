import { localFailure } from '../failure.ts';
import { type Cell, cellXml, columnLetters, MAX_CELL_TEXT, STYLE, textCell } from './xlsxcells.ts';

/** Maximum rows of a sheet, including the header. */
export const MAX_SHEET_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
const MAX_WIDTH = 60;

/** What a sheet has beside its rows. */
export interface SheetForm {
  /** Titles of its columns; none with `--no-header`. */
  readonly titles: readonly string[];
  readonly header: boolean;
  /** Characters of the widest cell of each column. */
  readonly widths: readonly number[];
  /** Lines above the header; the first is the title. */
  readonly above?: readonly string[];
}

/**
 * Makes the XML of a sheet (ECMA-376), row by row: bold header that stays in sight and is repeated on every printed
 * page, filter buttons, widths, and a landscape page as wide as the columns. Throws a Failure for more rows or longer
 * text than a sheet can hold.
 */
export class SheetWriter {
  /** Rows so far. */
  private count = 0;
  private readonly letters: readonly string[];
  private readonly above: readonly string[];

  constructor(private readonly form: SheetForm) {
    if (form.titles.length > MAX_COLUMNS) throw tooWide(form.titles.length);
    this.letters = form.titles.map((_, at) => columnLetters(at));
    this.above = form.above ?? [];
  }

  /** Everything before the first row of values. */
  begin(): string {
    const { titles, header } = this.form;
    const lines = this.above.map((line, at) => this.row([textCell(line, at === 0 ? STYLE.title : STYLE.text)]));
    const head = header ? this.row(titles.map((title) => textCell(title, STYLE.header))) : '';
    return sheetHead(this.form, this.above.length + 1) + lines.join('') + head;
  }

  /** A row of cells, undefined where there is none; `id` is for messages. */
  row(cells: readonly (Cell | undefined)[], id?: unknown): string {
    this.count++;
    if (this.count > MAX_SHEET_ROWS) throw tooMany(this.form.header);
    let xml = '';
    for (const [at, cell] of cells.entries()) {
      if (cell === undefined) continue;
      if (cell.width > MAX_CELL_TEXT) throw tooLong(this.form.titles[at] ?? '', id);
      xml += cellXml(`${this.letters[at]}${this.count}`, cell);
    }
    return `<row r="${this.count}">${xml}</row>`;
  }

  /** Everything after the last row; the last row of values is that of totals where `hasTotals`. */
  end({ hasTotals = false } = {}): string {
    const last = this.letters.at(-1) ?? 'A';
    const all = `A1:${last}${Math.max(1, this.count)}`;
    const listed = `A${this.above.length + 1}:${last}${Math.max(1, this.count - Number(hasTotals))}`;
    return [
      '</sheetData>',
      this.form.header && this.letters.length > 0 ? `<autoFilter ref="${listed}"/>` : '',
      '<printOptions gridLines="1"/>',
      '<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.6" header="0.3" footer="0.3"/>',
      // Paper 1 is US letter; as many pages down as there have to be.
      '<pageSetup paperSize="1" orientation="landscape" fitToWidth="1" fitToHeight="0"/>',
      // Name of the sheet, page, pages.
      '<headerFooter><oddFooter>&amp;L&amp;A&amp;RPage &amp;P of &amp;N</oddFooter></headerFooter>',
      `<ignoredErrors><ignoredError sqref="${all}" numberStoredAsText="1"/></ignoredErrors></worksheet>`,
    ].join('');
  }
}

function sheetHead({ widths, titles, header }: SheetForm, headerRow: number): string {
  const below = `A${headerRow + 1}`;
  const pane = `<pane ySplit="${headerRow}" topLeftCell="${below}" activePane="bottomLeft" state="frozen"/>`;
  const selection = `<selection pane="bottomLeft" activeCell="${below}" sqref="${below}"/>`;
  const columns = titles.map((title, at) => {
    // Room for the filter button beside the title.
    const characters = Math.max(widths[at] ?? 0, header ? title.length + 3 : 0, 6);
    return `<col min="${at + 1}" max="${at + 1}" width="${Math.min(MAX_WIDTH, characters + 2)}" customWidth="1"/>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n',
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">',
    '<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>',
    `<sheetViews><sheetView workbookViewId="0">${header ? pane + selection : ''}</sheetView></sheetViews>`,
    columns.length > 0 ? `<cols>${columns.join('')}</cols>` : '',
    '<sheetData>',
  ].join('');
}

function tooMany(header: boolean) {
  const most = (header ? MAX_SHEET_ROWS - 1 : MAX_SHEET_ROWS).toLocaleString('en-US');
  return localFailure('local.file', `A spreadsheet holds ${most} rows, and there are more.`, {
    hint: 'Nothing was written. Use --format csv, or select fewer records: --limit N, or a filter.',
  });
}

function tooWide(columns: number) {
  const all = columns.toLocaleString('en-US');
  return localFailure('local.file', `A spreadsheet holds 16,384 columns, and the lists of these records take ${all}.`, {
    hint: 'Nothing was written. Use --format csv, or leave the longest list out with --fields.',
  });
}

function tooLong(title: string, id: unknown) {
  const which = id === undefined ? '' : ` of record ${String(id)}`;
  return localFailure('local.file', `A spreadsheet's cell holds 32,767 characters, and ${title}${which} has more.`, {
    hint: 'Nothing was written. Use --format csv, or leave the field out with --fields.',
  });
}
