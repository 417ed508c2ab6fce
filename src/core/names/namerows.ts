import { isTimeZone } from '../../catalog/fields/times.ts';
import { CsvSyntax, escapeFormula, NOT_COMMAS, parseCsv, unescapeFormula } from '../documents/uploads/csvrows.ts';
import { csvCell } from '../output/csv.ts';

/** What has a name that the API does not tell (D55), in the order in which they are listed. */
export const NAME_KINDS = ['location', 'provider', 'operatory'] as const;

/** A kind of thing that has a name. */
export type NameKind = (typeof NAME_KINDS)[number];

/** One row of the names file. */
export interface NameRow {
  readonly kind: NameKind;
  /** Digits without leading zeros, of any length up to 19. */
  readonly id: string;
  /** Empty where nobody has given one yet. */
  readonly name: string;
  /** IANA name, of a location only; empty for none. */
  readonly timezone: string;
  /** Place among its kind; null: after all that have one. */
  readonly order: number | null;
}

/** What is given of a row; parts that are absent stay as they are. */
export type NameParts = Pick<NameRow, 'kind' | 'id'> & Partial<NameRow>;

/** The columns of the file, in their order; the first three are required. */
export const NAME_COLUMNS = ['kind', 'id', 'name', 'timezone', 'order'] as const;
const REQUIRED = NAME_COLUMNS.slice(0, 3);

/** What is wrong with a names file; the message names the line. */
export class NamesSyntax extends Error {}

/** Reads rows, columns in any order; what a column that is missing would tell is empty. Throws `NamesSyntax`. */
export function parseNames(text: string): NameRow[] {
  return parseNameParts(text).map((row) => ({ ...unnamed(row), ...row }));
}

/** Reads what the columns that are there tell of each row. Throws `NamesSyntax`. */
export function parseNameParts(text: string): NameParts[] {
  const [header, ...lines] = csvRows(text);
  const columns = (header?.cells ?? []).map((cell) => cell.trim());
  const missing = REQUIRED.find((name) => !columns.includes(name));
  const at = `line ${header?.line ?? 1}`;
  if (columns.length === 1 && /[;\t]/.test(columns[0] ?? '')) throw new NamesSyntax(`${at}: ${NOT_COMMAS}`);
  if (missing !== undefined) throw new NamesSyntax(`${at}: column ${missing} is missing; ${COLUMNS}.`);
  const known: readonly string[] = NAME_COLUMNS;
  const unknown = columns.find((name, index) => !known.includes(name) || columns.indexOf(name) !== index);
  if (unknown !== undefined) {
    const what = known.includes(unknown) ? 'appears twice' : 'is unknown';
    throw new NamesSyntax(`${at}: column ${JSON.stringify(unknown)} ${what}; ${COLUMNS}.`);
  }
  const seen = new Map<string, number>();
  return lines.map(({ line, cells }) => {
    const wrong = (what: string) => new NamesSyntax(`line ${line}: ${what}.`);
    if (cells.length > columns.length) {
      throw wrong(
        `${cells.length} cells but ${columns.length} columns; put a name that holds a comma in double quotes`,
      );
    }
    const cellOf = (name: string) => unescapeFormula(cells[columns.indexOf(name)] ?? '').trim();
    const { timezone, order, ...required } = readRow(cellOf, wrong);
    const row = {
      ...required,
      ...(columns.includes('timezone') && { timezone }),
      ...(columns.includes('order') && { order }),
    };
    const earlier = seen.get(keyOf(row));
    if (earlier !== undefined) throw wrong(`${row.kind} ${row.id} is in line ${earlier} already`);
    seen.set(keyOf(row), line);
    return row;
  });
}

const COLUMNS = `the first line names the columns ${NAME_COLUMNS.join(',')}, of which timezone and order may be left out`;

function csvRows(text: string) {
  try {
    return parseCsv(text);
  } catch (cause) {
    throw cause instanceof CsvSyntax ? new NamesSyntax(cause.message) : cause;
  }
}

function readRow(cellOf: (name: string) => string, wrong: (what: string) => NamesSyntax): NameRow {
  const cell = (column: string) => JSON.stringify(cellOf(column));
  const kind = nameKind(cellOf('kind'));
  if (kind === undefined) throw wrong(`kind must be one of ${NAME_KINDS.join(', ')}, not ${cell('kind')}`);
  const id = nameId(cellOf('id'));
  if (id === undefined) throw wrong(`id must be a positive integer, not ${cell('id')}`);
  const timezone = cellOf('timezone');
  const wrongZone = timezone === '' ? undefined : zoneProblem(kind, timezone);
  if (wrongZone !== undefined) throw wrong(`timezone must be ${wrongZone}, not ${cell('timezone')}`);
  const order = nameOrder(cellOf('order'));
  if (order === undefined) throw wrong(`order must be a whole number or empty, not ${cell('order')}`);
  return { kind, id, name: cellOf('name'), timezone, order };
}

/** A kind in any letter case; undefined for other text. */
export function nameKind(text: string): NameKind | undefined {
  return NAME_KINDS.find((kind) => kind === text.toLowerCase());
}

/** An id without leading zeros; undefined for what is none. */
export function nameId(text: string): string | undefined {
  return /^0*([1-9]\d{0,18})$/.exec(text)?.[1];
}

/** What a time zone must be where it is not right, completing "timezone must be …". */
export function zoneProblem(kind: NameKind, timezone: string): string | undefined {
  if (kind !== 'location') return `empty for ${kind === 'operatory' ? 'an' : 'a'} ${kind}: only locations have one`;
  return isTimeZone(timezone) ? undefined : 'an IANA time zone such as America/Denver';
}

/** An order; null for empty text, undefined for what is none. */
export function nameOrder(text: string): number | null | undefined {
  if (text === '') return null;
  return /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** What tells a row from all others. */
export function keyOf({ kind, id }: Pick<NameRow, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

/** A row for an id that nobody has named yet. */
export function unnamed({ kind, id }: Pick<NameRow, 'kind' | 'id'>): NameRow {
  return { kind, id, name: '', timezone: '', order: null };
}

/** By kind, then by order, then by id, by value. */
export function compareRows(a: NameRow, b: NameRow): number {
  const last = Number.POSITIVE_INFINITY;
  const [first, second] = [a.order ?? last, b.order ?? last];
  const byKind = NAME_KINDS.indexOf(a.kind) - NAME_KINDS.indexOf(b.kind);
  return byKind || (first === second ? compareIds(a.id, b.id) : first - second);
}

function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** The text of a names file, sorted. Names that a spreadsheet would run as a formula are made safe, as `parseNames` undoes. */
export function formatNames(rows: readonly NameRow[]): string {
  const cells = rows.toSorted(compareRows).map((row) => [row.kind, row.id, row.name, row.timezone, row.order ?? '']);
  const lines = [NAME_COLUMNS, ...cells].map((line) => line.map((cell) => csvCell(escaped(cell), false)).join(','));
  return lines.map((line) => `${line}\n`).join('');
}

function escaped(cell: string | number): string {
  return typeof cell === 'string' ? escapeFormula(cell) : String(cell);
}
