import type { StreamMessage } from '../../catalog/stream/messages.ts';
import { tableText } from '../output/displaytext.ts';
import { type LocalClock, secondText } from '../output/localclock.ts';
import { banded, PLAIN, type Style } from '../output/style.ts';
import { GAP } from '../output/tablewidths.ts';
import { displayWidth, fitText } from '../output/terminaltext.ts';
import type { MessageFormatter } from './messageforms.ts';

interface MessageColumn {
  readonly name: string;
  /** Columns of the terminal, fixed: a stream has no first page to measure. */
  readonly width: number;
  /** Right-aligned. */
  readonly isNumber?: boolean;
  /** Never truncated: the repeated hour of a clock change has an offset, which takes more room. */
  readonly isFull?: boolean;
  readonly value: (message: StreamMessage, clock: LocalClock) => string;
}

const COLUMNS: readonly MessageColumn[] = [
  { name: 'sendTime', width: 19, isFull: true, value: ({ sendTime }, clock) => secondText(sendTime, clock) },
  { name: 'operation', width: 13, value: ({ operation }) => operation },
  { name: 'domainType', width: 22, value: ({ domainType }) => domainType },
  { name: 'payload.id', width: 14, value: ({ payload }) => tableText(payload.id, 'id') },
  { name: 'id', width: 9, isNumber: true, value: ({ id }) => String(id) },
  { name: 'locationId', width: 14, value: ({ locationId }) => locationId },
  { name: 'payload', width: 60, value: ({ payload }) => fieldsOf(payload) },
];

/** Fields that have a column of their own, or are in every message. */
const SHOWN_ELSEWHERE = ['id', 'type', 'lastModified'];

/** Options of the table. */
export interface MessageTableOptions {
  readonly clock: LocalClock;
  /** Columns of the terminal; undefined where there is none: then nothing is truncated or omitted. */
  readonly width: number | undefined;
  readonly style?: Style;
}

/** A table for people, a line per message as it arrives; the payload by the names of its fields. */
export function tableMessages({ clock, width, style = PLAIN }: MessageTableOptions): MessageFormatter {
  const columns = width === undefined ? COLUMNS : fitting(width);
  const cut = (text: string, at: number) =>
    width === undefined || columns[at]?.isFull ? text : fitText(text, columns[at]?.width ?? 0);
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => padded(cut(cell, at), columns[at]))
      .join(' '.repeat(GAP))
      .trimEnd();
  let count = 0;
  const header = () => {
    const rule = columns.map(({ width: columnWidth }) => '─'.repeat(columnWidth));
    return `${style('heading', line(columns.map(({ name }) => name)))}\n${style('faint', line(rule))}\n`;
  };
  return {
    message: (message) => {
      const cells = columns.map(({ value }) => tableText(value(message, clock), undefined));
      return (count === 0 ? header() : '') + banded(line(cells), count++, style);
    },
    end: () => '',
  };
}

/** The leading columns that fit; the last of all takes the remaining width. */
function fitting(width: number): readonly MessageColumn[] {
  const shown: MessageColumn[] = [];
  let left = width;
  for (const column of COLUMNS) {
    const gap = shown.length === 0 ? 0 : GAP;
    const isLast = column === COLUMNS.at(-1);
    const room = left - gap;
    if (room < (isLast ? 20 : column.width) && shown.length > 0) break;
    shown.push(isLast ? { ...column, width: room } : column);
    left = room - column.width;
  }
  return shown;
}

function padded(text: string, column: MessageColumn | undefined): string {
  const blanks = ' '.repeat(Math.max(0, (column?.width ?? 0) - displayWidth(text)));
  return column?.isNumber ? blanks + text : text + blanks;
}

/** `total 12` where the payload is only a count, otherwise the names of its fields. */
function fieldsOf(payload: StreamMessage['payload']): string {
  if (typeof payload.total === 'number' && Object.keys(payload).length === 1) return `total ${payload.total}`;
  return Object.keys(payload)
    .filter((name) => !SHOWN_ELSEWHERE.includes(name))
    .join(', ');
}
