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

/** What Excel reads in the first line, `sep=;`, and what Export-Csv of PowerShell 5 writes there, `#TYPE …`. */
const PREAMBLE = /^(?:"?sep=([^\r\n"])"?|#TYPE [^\r\n]*|"#TYPE [^\r\n]*")[ \t]*(?:\r?\n|$)/i;

/** A text without that line, and the separator that it names; a comma where it names none. */
export function withoutPreamble(text: string): { readonly rest: string; readonly separator: string } {
  const [line = '', separator = ','] = PREAMBLE.exec(text) ?? [];
  return { rest: text.slice(line.length), separator };
}

/** What is told of a file whose cells seem to be separated by something else. */
export const NOT_COMMAS =
  'its cells are not separated by commas. If semicolons separate them, put the line sep=; at the top.';

const QUOTED = /"([^"]*(?:""[^"]*)*)"(?!")/y;

/**
 * Reads RFC 4180 text with LF or CRLF, or with nothing but CR, as "CSV (Macintosh)" of Excel has it: quoted cells may hold
 * commas, quotes (doubled) and line breaks. A first line as Excel and PowerShell have it (`withoutPreamble`) names the
 * separator; lines without any text are skipped. Throws `CsvSyntax` for a quote that is not closed or is inside a cell.
 */
export function parseCsv(given: string): CsvRow[] {
  const whole = hasLines(given) ? given : given.replace(/"[^"]*"|\r/g, (found) => (found === '\r' ? '\n' : found));
  const { rest: text, separator: comma } = withoutPreamble(whole);
  const code = `\\u{${comma.codePointAt(0)?.toString(16)}}`;
  const PLAIN = new RegExp(`[^${code}\\r\\n]*(?:\\r(?!\\n)[^${code}\\r\\n]*)*`, 'uy');
  const SEPARATOR = new RegExp(`${code}|\\r?\\n|$`, 'uy');
  const rows: CsvRow[] = [];
  let at = 0;
  let line = text.length === whole.length ? 1 : 2;
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
    } while (separator === comma);
    if (separator === undefined)
      throw new CsvSyntax(line, 'text after a closing quote; double the quotes inside a cell.');
    line++;
    if (row.cells.length > 1 || row.cells[0] !== '') rows.push(row);
  }
  return rows;
}

/** Whether a line ends in LF; the breaks inside of cells are LF for Excel in any file. */
function hasLines(text: string): boolean {
  return text.replace(/"[^"]*"/g, '').includes('\n');
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
