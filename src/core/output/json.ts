import type { Row } from '../pages/page.ts';
import type { Formatter } from './writepages.ts';

/** One JSON array, a record per line; `written` records are in it already. */
export function jsonFormatter(written = 0): Formatter {
  let count = written;
  return {
    begin: () => '[',
    rows: (rows) => rows.map((row) => `${count++ === 0 ? '\n' : ',\n'}${recordJson(row)}`).join(''),
    end: () => (count === 0 ? ']\n' : '\n]\n'),
  };
}

/** One JSON object per line. */
export function ndjsonFormatter(): Formatter {
  return {
    begin: () => '',
    rows: (rows) => rows.map((row: Row) => `${recordJson(row)}\n`).join(''),
    end: () => '',
  };
}

/** A record as JSON; a whole number that is no safe integer is written with all its digits. */
function recordJson(row: Row): string {
  const isExact = Object.values(row).every((value) => typeof value !== 'bigint');
  return isExact ? JSON.stringify(row) : exactJson(row);
}

/** Any value as JSON; whole numbers that are no safe integers, at any depth, are written with all their digits. */
export function exactJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${exactJson(member)}`).join(',')}}`;
}

/** Counts the records of a file as its bytes arrive. */
export interface RecordCounter {
  readonly take: (bytes: Uint8Array) => void;
  readonly total: () => number;
}

const LINE_FEED = 0x0a;
const BRACE = 0x7b;

/** Counts lines that begin with an object: both formats have a record per line, and the array has brackets besides. */
export function lineCounter(): RecordCounter {
  let records = 0;
  let atStart = true;
  return {
    take: (bytes) => {
      for (const byte of bytes) {
        if (atStart && byte === BRACE) records++;
        atStart = byte === LINE_FEED;
      }
    },
    total: () => records,
  };
}
