/** Counts the records of a file as its bytes come; undefined for a form whose records cannot be counted so. */
export interface RecordCounter {
  readonly take: (bytes: Uint8Array) => void;
  readonly total: () => number;
}

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const BRACE = 0x7b;

/** A counter for a form of export, undefined where it has none. `header`: the first line of CSV is none of them. */
export function recordCounter(format: string, header: boolean): RecordCounter | undefined {
  if (format === 'csv') return csvCounter(header);
  // Both forms have a record a line; only the array has lines of its own besides.
  return format === 'ndjson' || format === 'json' ? lineCounter() : undefined;
}

/** Line ends outside of quotes: RFC 4180 lets a cell hold others. */
function csvCounter(header: boolean): RecordCounter {
  let lines = 0;
  let quoted = false;
  return {
    take: (bytes) => {
      for (const byte of bytes) {
        if (byte === QUOTE) quoted = !quoted;
        else if (byte === LINE_FEED && !quoted) lines++;
      }
    },
    total: () => lines - (header ? 1 : 0),
  };
}

/** Lines that begin with an object. */
function lineCounter(): RecordCounter {
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
