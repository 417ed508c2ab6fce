import type Table from 'cli-table3';
import type { Fields } from '../../catalog/fields/kind.ts';
import { emittedFields } from '../../catalog/record.ts';
import type { Row } from '../pages/page.ts';
import { type Column, columnsOf, valueAt } from './columns.ts';
import { fieldText } from './displaytext.ts';
import type { LocalClock } from './localclock.ts';
import { PLAIN, type Style } from './style.ts';
import { GAP } from './table.ts';
import { terminalText, wrapText } from './terminaltext.ts';

const EDGES = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'];
const INNER = ['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'];

/** Options of cli-table3 for a table without lines or colours, its columns apart by a gap. */
const BARE_TABLE = {
  chars: { ...Object.fromEntries([...EDGES, ...INNER].map((name) => [name, ''])), middle: ' '.repeat(GAP) },
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
};

/** Form of a record on a terminal. */
export interface RecordLook {
  /** Clock of its date-times. */
  readonly clock: LocalClock;
  /** Columns of the terminal; undefined where there is none: then nothing wraps. */
  readonly width: number | undefined;
  /** Names to show; all where absent. */
  readonly selection?: readonly string[] | undefined;
  /** Columns to show; those of `selection` where absent. */
  readonly shown?: readonly Column[] | undefined;
  /** Plain where not given; otherwise the names are bold. */
  readonly style?: Style;
}

/** No value wraps below this, however narrow the terminal. */
const MIN_VALUE = 20;

/**
 * One record as names and values for a terminal, nothing truncated: long values wrap, a list has an entry per line.
 * Fields the catalog does not know are last.
 */
export function recordTable(CliTable: typeof Table, record: Row, fields: Fields, look: RecordLook): string {
  const { style = PLAIN } = look;
  const lines = recordLines(record, fields, look);
  const nameWidth = Math.max(0, ...lines.map(([name]) => name.length));
  const room = Math.max(MIN_VALUE, (look.width ?? Number.POSITIVE_INFINITY) - nameWidth - GAP);
  const table = new CliTable(BARE_TABLE);
  for (const [name, value] of lines) {
    const wrapped = value.split('\n').flatMap((line) => wrapText(line, room));
    // A row for each line: what cli-table3 takes for a cell grows with the cube of its lines.
    for (const [at, line] of wrapped.entries()) table.push([at === 0 ? style('heading', name) : '', line]);
  }
  return `${table.toString().replace(/ +$/gm, '')}\n`;
}

function recordLines(record: Row, fields: Fields, look: RecordLook): [string, string][] {
  const { selection, clock, shown = columnsOf(fields, selection) } = look;
  const known = shown.filter((column) => Object.hasOwn(record, column.path[0] ?? ''));
  const lines = known.map((column): [string, string] => [
    column.name,
    fieldText(valueAt(record, column), column.kind, clock),
  ]);
  const names = emittedFields(fields);
  const others = selection === undefined ? Object.keys(record).filter((name) => !names.includes(name)) : [];
  return [
    ...lines,
    ...others.map((name): [string, string] => [terminalText(name), fieldText(record[name], undefined, clock)]),
  ];
}
