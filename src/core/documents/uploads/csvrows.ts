import { usageFailure } from '../../failure.ts';

/** One record of a CSV file: its cells, and the line it starts on. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** Text that is not CSV; the message names the line. */
export class CsvSyntax extends Error {
  constructor(line: number, what: string) {
    super(`line ${line}: ${what}`);
    this.name = 'CsvSyntax';
  }
}

/** The text of a CSV file, which `label` names in the message. Throws a Failure (exit 2) for what is not UTF-8. */
export function csvText(bytes: Uint8Array, label: string, hint?: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const more = { source: label, ...(hint !== undefined && { hint }) };
    throw usageFailure(`${label} is not UTF-8 text. Save it as "CSV UTF-8".`, more);
  }
}

const QUOTED = /"([^"]*(?:""[^"]*)*)"(?!")/y;
const PLAIN = /[^,\r\n]*(?:\r(?!\n)[^,\r\n]*)*/y;
const SEPARATOR = /,|\r?\n|$/y;

/**
 * Reads RFC 4180 text with LF or CRLF: quoted cells may hold commas, quotes (doubled) and line breaks. A byte order mark
 * and lines without any text are skipped. Throws `CsvSyntax` for a quote that is not closed or is inside a cell.
 */
export function parseCsv(text: string): CsvRow[] {
  const rows: CsvRow[] = [];
  let at = text.startsWith('\ufeff') ? 1 : 0;
  let line = 1;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found;
  };
  const takeCell = () => {
    if (text[at] !== '"') {
      const [cell = ''] = take(PLAIN) ?? [];
      if (cell.includes('"')) throw new CsvSyntax(line, 'a quote inside a cell that is not quoted.');
      return cell;
    }
    const quoted = take(QUOTED)?.[1];
    if (quoted === undefined) throw new CsvSyntax(line, 'a quoted cell that starts here is not closed.');
    line += quoted.split('\n').length - 1;
    return quoted.replaceAll('""', '"');
  };
  while (at < text.length) {
    const row = { line, cells: [] as string[] };
    let separator: string | undefined;
    do {
      row.cells.push(takeCell());
      separator = take(SEPARATOR)?.[0];
    } while (separator === ',');
    if (separator === undefined)
      throw new CsvSyntax(line, 'text after a closing quote; double the quotes inside a cell.');
    if (separator !== '') line++;
    if (row.cells.length > 1 || row.cells[0] !== '') rows.push(row);
  }
  return rows;
}

/** Text that a spreadsheet would run as a formula, or that already carries the quote that stops it. */
const RUNNABLE = /^'*[=+\-@\t\r]/;

/** Puts a quote before text that a spreadsheet would run; `unescapeFormula` restores exactly what was given. */
export function escapeFormula(cell: string): string {
  return RUNNABLE.test(cell) ? `'${cell}` : cell;
}

/** The text that `escapeFormula` was given. */
export function unescapeFormula(cell: string): string {
  return cell.startsWith("'") && RUNNABLE.test(cell) ? cell.slice(1) : cell;
}
