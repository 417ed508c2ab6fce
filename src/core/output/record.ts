import type Table from 'cli-table3';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { emittedFields, type Fields } from '../../catalog/record.ts';
import type { Row } from '../pages/walk.ts';
import { cellText, columnsOf, valueAt } from './columns.ts';
import { GAP } from './tablewidths.ts';
import { displayWidth, terminalText } from './terminaltext.ts';

const EDGES = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'];
const INNER = ['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'];

/** Options of cli-table3 for a table without lines or colours, its columns apart by a gap. */
const BARE_TABLE = {
  chars: { ...Object.fromEntries([...EDGES, ...INNER].map((name) => [name, ''])), middle: ' '.repeat(GAP) },
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
};

/**
 * One record as names and values for a terminal, nothing cut: long values wrap, a list has an entry a line. Fields
 * the catalog does not know come last; `selection` limits it to some.
 */
export function recordTable(
  CliTable: typeof Table,
  record: Row,
  fields: Fields,
  options: { readonly width: number | undefined; readonly selection?: readonly string[] | undefined },
): string {
  const lines = recordLines(record, fields, options.selection);
  const nameWidth = Math.max(0, ...lines.map(([name]) => name.length));
  const valueWidth = Math.max(20, (options.width ?? Number.POSITIVE_INFINITY) - nameWidth - 2);
  const fits = lines.every(([, value]) => value.split('\n').every((line) => displayWidth(line) <= valueWidth));
  const table = new CliTable({
    ...BARE_TABLE,
    ...(!fits && { colWidths: [nameWidth, valueWidth], wordWrap: true, wrapOnWordBoundary: false }),
  });
  for (const line of lines) table.push(line);
  return `${table.toString().replace(/ +$/gm, '')}\n`;
}

function recordLines(record: Row, fields: Fields, selection: readonly string[] | undefined): [string, string][] {
  const known = columnsOf(fields, selection).filter((column) => Object.hasOwn(record, column.path[0] ?? ''));
  const lines = known.map((column): [string, string] => [column.name, valueText(valueAt(record, column))]);
  const names = emittedFields(fields);
  const others = selection === undefined ? Object.keys(record).filter((name) => !names.includes(name)) : [];
  return [...lines, ...others.map((name): [string, string] => [terminalText(name), valueText(record[name])])];
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(entryText).join('\n');
  return terminalText(isPlainObject(value) ? entryText(value) : cellText(value));
}

/** An object within a record on one line, without what it leaves empty: `phoneType HOME, number 555-0100`. */
function entryText(value: unknown): string {
  if (!isPlainObject(value)) return terminalText(cellText(value));
  const filled = Object.entries(value).filter(([, part]) => part !== null && part !== undefined);
  const [only] = filled;
  if (filled.length === 1 && only?.[0] === 'id') return terminalText(cellText(only[1]));
  return terminalText(filled.map(([name, part]) => `${name} ${cellText(part)}`).join(', '));
}
