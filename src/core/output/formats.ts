import type { Row } from '../pages/page.ts';
import { columnsOf, project } from './columns.ts';
import type { FormatRow, RecordWriterOptions, RowWriterOptions } from './format.ts';
import { jsonFormatter, lineCounter, ndjsonFormatter } from './json.ts';
import { terminalDrawing, terminalJson, terminalLines } from './terminaltext.ts';
import type { Formatter } from './writepages.ts';

const csvRows = async (look: RowWriterOptions) => (await import('./csv.ts')).csvFormatter(look.columns, look);
const tsvRows = async (look: RowWriterOptions) => (await import('./tsv.ts')).tsvFormatter(look.columns, look);

/** One record as the only row. */
const asRow =
  (rows: (look: RowWriterOptions) => Promise<Formatter>) => async (record: Row, look: RecordWriterOptions) => {
    const columns = columnsOf(look.fields, look.selection);
    const { begin, rows: text, end } = await rows({ ...look, columns, written: 0, onHidden: () => undefined });
    return begin() + text([record]) + end();
  };

const indented = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const oneLine = (value: unknown) => `${JSON.stringify(value)}\n`;
const countObjects = async () => lineCounter();

const TABLE = {
  table: {
    about: 'for people; fitted to the terminal, ids are never truncated',
    extensions: [],
    terminal: terminalDrawing,
    content: 'columns',
    isLocal: true,
    isBuffered: false,
    isResumable: false,
    isForPeople: true,
    rows: async (look) => (await import('./table.ts')).tableFormatter(look.columns, look),
    record: async (record, look) => {
      const { recordTable } = await import('./record.ts');
      const { default: CliTable } = await import('cli-table3');
      return recordTable(CliTable, record, look.fields, { ...look, clock: look.clockOf(record) });
    },
    messages: async (look) =>
      (await import('../stream/messagetable.ts')).tableMessages({ ...look, clock: look.clock() }),
  },
  json: {
    about: 'one JSON array (one object for a single record), written when it is complete',
    extensions: ['json'],
    terminal: terminalJson,
    content: 'records',
    isBuffered: true,
    isResumable: true,
    rows: async ({ written }) => jsonFormatter(written),
    scan: async () => (await import('../jsonscan/scanformats.ts')).jsonScanFormat(),
    record: async (record, { selection }) => indented(project(record, selection)),
    value: indented,
    messages: async () => (await import('../stream/messageforms.ts')).jsonMessages(),
    counter: countObjects,
  },
  ndjson: {
    about: 'one JSON object per line, written as pages arrive',
    extensions: ['ndjson', 'jsonl'],
    terminal: terminalJson,
    content: 'records',
    isBuffered: false,
    isResumable: true,
    rows: async () => ndjsonFormatter(),
    scan: async () => (await import('../jsonscan/scanformats.ts')).ndjsonScanFormat(),
    record: async (record, { selection }) => oneLine(project(record, selection)),
    value: oneLine,
    messages: async () => (await import('../stream/messageforms.ts')).ndjsonMessages(),
    counter: countObjects,
  },
  csv: {
    about: 'RFC 4180, with a header even without rows, written as pages arrive',
    extensions: ['csv'],
    terminal: terminalLines,
    content: 'columns',
    isBuffered: false,
    isResumable: true,
    hasExcelForm: true,
    escapesFormulas: true,
    rows: csvRows,
    scan: async (columns, options) => (await import('../jsonscan/scanformats.ts')).csvScanFormat(columns, options),
    record: asRow(csvRows),
    counter: async ({ header }) => (await import('./csv.ts')).csvCounter(header),
  },
  tsv: {
    about: 'tab-separated values, a record per line, with a header even without rows, written as pages arrive',
    extensions: ['tsv'],
    terminal: terminalLines,
    content: 'columns',
    isBuffered: false,
    isResumable: true,
    escapesFormulas: true,
    rows: tsvRows,
    record: asRow(tsvRows),
    counter: async ({ header }) => (await import('./tsv.ts')).tsvCounter(header),
  },
  xlsx: {
    about: 'a workbook for Excel, with real dates and numbers; lists and reports',
    extensions: ['xlsx'],
    terminal: 'refused',
    content: 'columns',
    isLocal: true,
    isBuffered: true,
    isResumable: false,
    scope: 'lists and reports, not of a single record',
    rows: async () => (await import('./xlsx.ts')).xlsxFormatter(),
    pack: async (look) => {
      const { xlsxSink } = await import('./xlsx.ts');
      return (inner) => xlsxSink(inner, look);
    },
  },
  parquet: {
    about: 'columns with their types, for analysis; of a mirror',
    extensions: ['parquet'],
    terminal: 'refused',
    content: 'columns',
    isBuffered: true,
    isResumable: false,
    scope: 'molar mirror export',
    typed: async (columns, fields) => (await import('./parquet.ts')).parquetFormatter(columns, fields),
  },
  html: {
    about: 'a page to print; reports only',
    extensions: ['html', 'htm'],
    terminal: terminalLines,
    content: 'page',
    isLocal: true,
    isBuffered: true,
    isResumable: false,
    scope: 'reports only',
  },
} as const satisfies Readonly<Record<string, FormatRow>>;

/** Name of an output format. */
export type Format = keyof typeof TABLE;

/** The output formats, in the order in which help lists them. */
export const FORMATS: Readonly<Record<Format, FormatRow>> = TABLE;

/** What a terminal gets unless another format is named. */
export const TERMINAL_FORMAT: Format = 'table';

/** A kind of output: rows on standard output or in a file, files alone, files of a mirror, one record, a report, messages, a JSON value. */
export type OutputKind = 'rows' | 'files' | 'mirror' | 'record' | 'report' | 'messages' | 'value';

const CAN_WRITE: Readonly<Record<OutputKind, (row: FormatRow) => boolean>> = {
  rows: ({ rows }) => rows !== undefined,
  files: ({ rows, extensions }) => rows !== undefined && extensions.length > 0,
  mirror: ({ rows, typed, extensions }) => (rows ?? typed) !== undefined && extensions.length > 0,
  record: ({ record }) => record !== undefined,
  report: ({ rows, content }) => rows !== undefined || content === 'page',
  messages: ({ messages }) => messages !== undefined,
  value: ({ value }) => value !== undefined,
};

/** The formats with a property, in the order of the table. */
export function formatsWhere(has: (row: FormatRow) => boolean): Format[] {
  return (Object.keys(FORMATS) as Format[]).filter((name) => has(FORMATS[name]));
}

/** The formats in which a kind of output can be written. */
export function formatsFor(kind: OutputKind): Format[] {
  return formatsWhere(CAN_WRITE[kind]);
}

/** Whether a text, such as one in a receipt of another version, names a format. */
export function isFormat(name: string): name is Format {
  return Object.hasOwn(FORMATS, name);
}

/** The format that a file name asks for by its extension, where it has a known one. */
export function formatOfFile(path: string): Format | undefined {
  const extension = /\.([^.]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return formatsWhere(({ extensions }) => extensions.includes(extension))[0];
}

/** Makes text of a format safe to show on a terminal. Throws for a format that a terminal does not get. */
export function terminalSafe(format: Format): (text: string) => string {
  const { terminal } = FORMATS[format];
  if (terminal === 'refused') throw new Error(`${format} is not for a terminal.`);
  return terminal;
}

/** A formatter whose text is safe to show on a terminal. */
export function safeFormatter({ begin, page, rows, end }: Formatter, format: Format): Formatter {
  const safe = terminalSafe(format);
  return {
    ...(page && { page }),
    begin: () => safe(begin()),
    rows: (slice) => safe(rows(slice)),
    end: () => safe(end()),
  };
}
