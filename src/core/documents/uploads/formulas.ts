/** Text that a spreadsheet would run as a formula, or that already carries the quote that stops it. */
const RUNNABLE = /^'*[=+\-@\t\r]/;

/** Puts a quote before text that a spreadsheet would run; `unescapeFormula` gives back exactly what was given. */
export function escapeFormula(cell: string): string {
  return RUNNABLE.test(cell) ? `'${cell}` : cell;
}

export function unescapeFormula(cell: string): string {
  return cell.startsWith("'") && RUNNABLE.test(cell) ? cell.slice(1) : cell;
}
