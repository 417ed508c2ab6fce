import type { Row } from '../pages/page.ts';
import type { RecordSpool } from '../stream/recordspool.ts';
import type { PackOptions } from './format.ts';
import type { Sink } from './sink.ts';
import type { Formatter } from './writepages.ts';
import { type Cell, MAX_NUMBER } from './xlsxcells.ts';
import { type ListSheet, SheetList } from './xlsxlist.ts';
import { WorkbookPackage } from './xlsxpackage.ts';
import { SheetWriter } from './xlsxsheet.ts';

/** Records as `xlsxSink` takes them: JSON, a line each; a whole number that a spreadsheet would round is text. */
export function xlsxFormatter(): Formatter {
  return {
    begin: () => '',
    rows: (rows) => rows.map((row) => `${JSON.stringify(row, jsonValue)}\n`).join(''),
    end: () => '',
  };
}

function jsonValue(_name: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return value >= -MAX_NUMBER && value <= MAX_NUMBER ? Number(value) : String(value);
}

/**
 * An Excel workbook of a list: buffers its records on the disk, since the columns follow from all of them, and writes the
 * packed file to `inner` at commit; memory holds no more than a piece. Throws a Failure for what a spreadsheet cannot
 * hold.
 */
export function xlsxSink(inner: Sink, look: PackOptions): Sink {
  const list = new SheetList({ ...look, zone: look.clock().zone });
  let spool: RecordSpool | undefined;
  return {
    async write(data) {
      spool ??= await look.openSpool();
      for (const line of data.toString().split('\n')) {
        if (line === '') continue;
        list.see(JSON.parse(line) as Row);
        await spool.add(line);
      }
    },
    async commit() {
      spool ??= await look.openSpool();
      const sheets = list.sheets();
      const headerRow = look.header ? 1 : undefined;
      const book = new WorkbookPackage(sheets.map(({ name }) => ({ name, headerRow })));
      for (const sheet of sheets) {
        book.startSheet();
        for await (const xml of sheetXml(sheet, look.header, spool)) {
          look.signal.throwIfAborted();
          book.write(xml);
          await inner.write(book.take());
        }
      }
      book.end();
      await inner.write(book.take());
      await spool.close();
      await inner.commit();
    },
    async abort() {
      await spool?.close();
      await inner.abort();
    },
  };
}

/** Rows that determine the widths of the columns, which a sheet has before its rows. */
export const MEASURED_ROWS = 500;

async function* sheetXml(sheet: ListSheet, header: boolean, spool: RecordSpool): AsyncGenerator<string> {
  const { titles } = sheet;
  const writer = new SheetWriter({ titles, header, widths: await firstWidths(sheet, spool) });
  yield writer.begin();
  for await (const records of recordsOf(spool)) {
    yield records.flatMap((record) => sheet.rowsOf(record).map((cells) => writer.row(cells, record.id))).join('');
  }
  yield writer.end();
}

async function firstWidths(sheet: ListSheet, spool: RecordSpool): Promise<number[]> {
  const rows: (readonly (Cell | undefined)[])[] = [];
  for await (const records of recordsOf(spool)) {
    rows.push(...records.flatMap(sheet.rowsOf));
    if (rows.length >= MEASURED_ROWS) break;
  }
  return widthsOf(rows.slice(0, MEASURED_ROWS), sheet.titles.length);
}

/** Characters of the widest cell of each column. */
export function widthsOf(rows: readonly (readonly (Cell | undefined)[])[], columns: number): number[] {
  return Array.from({ length: columns }, (_, at) => Math.max(0, ...rows.map((cells) => cells[at]?.width ?? 0)));
}

async function* recordsOf(spool: RecordSpool): AsyncGenerator<readonly Row[]> {
  for await (const lines of spool.forwards()) yield lines.map((line) => JSON.parse(line) as Row);
}
