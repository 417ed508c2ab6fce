import type { StreamMessage } from '../../catalog/stream/messages.ts';
import { tableText } from '../output/displaytext.ts';
import { type LocalClock, secondText } from '../output/localclock.ts';
import { banded, PLAIN, type Style } from '../output/style.ts';
import { GAP } from '../output/table.ts';
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
  readonly value: (message: StreamMessage, clock: LocalClock) => unknown;
}

const COLUMNS: readonly MessageColumn[] = [
  { name: 'sendTime', width: 19, isFull: true, value: ({ sendTime }, clock) => secondText(sendTime, clock) },
  { name: 'operation', width: 13, value: ({ operation }) => operation },
  { name: 'domainType', width: 22, value: ({ domainType }) => domainType },
  { name: 'payload.id', width: 14, value: ({ payload }) => payload.id },
  { name: 'id', width: 9, isNumber: true, value: ({ id }) => id },
  { name: 'locationId', width: 14, value: ({ locationId }) => locationId },
  { name: 'payload', width: 60, value: ({ payload }) => fieldsOf(payload) },
];

/** Columns of the terminal below which the last one is omitted. */
const LEAST_ROOM = 20;

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
  const cellOf = (text: string, { width: room, isFull, isNumber }: MessageColumn) => {
    const cut = width === undefined || isFull ? text : fitText(text, room);
    const blanks = ' '.repeat(Math.max(0, room - displayWidth(cut)));
    return isNumber ? blanks + cut : cut + blanks;
  };
  const line = (textOf: (column: MessageColumn) => string) =>
    columns
      .map((column) => cellOf(textOf(column), column))
      .join(' '.repeat(GAP))
      .trimEnd();
  let count = 0;
  const header = () => {
    const names = line(({ name }) => name);
    const rule = line(({ width: room }) => '─'.repeat(room));
    return `${style('heading', names)}\n${style('faint', rule)}\n`;
  };
  return {
    message: (message) => {
      const cells = line(({ value }) => tableText(value(message, clock), undefined));
      return (count === 0 ? header() : '') + banded(cells, count++, style);
    },
    end: () => '',
  };
}

/** The leading columns that fit; the last of all takes the remaining width. */
function fitting(width: number): readonly MessageColumn[] {
  const shown: MessageColumn[] = [];
  let left = width + GAP;
  for (const column of COLUMNS) {
    const isLast = column === COLUMNS.at(-1);
    const room = left - GAP;
    if (room < (isLast ? LEAST_ROOM : column.width) && shown.length > 0) break;
    shown.push(isLast ? { ...column, width: room } : column);
    left = room - column.width;
  }
  return shown;
}

/** `total 12` where the payload is only a count, otherwise the names of its fields. */
function fieldsOf(payload: StreamMessage['payload']): string {
  if (typeof payload.total === 'number' && Object.keys(payload).length === 1) return `total ${payload.total}`;
  return Object.keys(payload)
    .filter((name) => !SHOWN_ELSEWHERE.includes(name))
    .join(', ');
}
