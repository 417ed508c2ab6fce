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

/**
 * Reads RFC 4180 text with LF or CRLF: quoted cells may hold commas, quotes (doubled) and line breaks. A byte order mark
 * and lines without any text are skipped. Throws `CsvSyntax` for a quote that is not closed or stands inside a cell.
 */
export function parseCsv(text: string): CsvRow[] {
  const rows: CsvRow[] = [];
  const scan = new Scanner(text.startsWith('\ufeff') ? text.slice(1) : text);
  while (!scan.atEnd()) {
    const line = scan.line;
    const cells = [scan.takeCell()];
    while (scan.take(',')) cells.push(scan.takeCell());
    scan.endRow();
    if (cells.length > 1 || cells[0] !== '') rows.push({ line, cells });
  }
  return rows;
}

class Scanner {
  line = 1;
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  atEnd(): boolean {
    return this.at >= this.text.length;
  }

  take(expected: string): boolean {
    if (!this.text.startsWith(expected, this.at)) return false;
    this.at += expected.length;
    return true;
  }

  endRow(): void {
    if (this.take('\r\n') || this.take('\n')) this.line++;
    else if (!this.atEnd())
      throw new CsvSyntax(this.line, 'text after a closing quote; double the quotes inside a cell.');
  }

  takeCell(): string {
    if (this.take('"')) return this.takeQuoted();
    const cell = /[^,\r\n]*(?:\r(?!\n)[^,\r\n]*)*/y;
    cell.lastIndex = this.at;
    const found = cell.exec(this.text)?.[0] ?? '';
    this.at += found.length;
    if (found.includes('"')) throw new CsvSyntax(this.line, 'a quote inside a cell that is not quoted.');
    return found;
  }

  private takeQuoted(): string {
    const start = this.line;
    let cell = '';
    for (;;) {
      const close = this.text.indexOf('"', this.at);
      if (close < 0) throw new CsvSyntax(start, 'a quoted cell that starts here is not closed.');
      const part = this.text.slice(this.at, close);
      this.line += part.split('\n').length - 1;
      this.at = close + 1;
      cell += part;
      if (!this.take('"')) return cell;
      cell += '"';
    }
  }
}
