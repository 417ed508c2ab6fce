import type { Format, Formatter } from './format.ts';
import { terminalJson, terminalLines } from './terminaltext.ts';

/** Makes text of a format safe to show on a terminal. Tables are so already, and have escape codes of their own. */
export function terminalSafe(format: Format): (text: string) => string {
  if (format === 'json' || format === 'ndjson') return terminalJson;
  return format === 'csv' ? terminalLines : (text) => text;
}

/** A formatter whose text is safe to show on a terminal. */
export function safeFormatter({ begin, page, rows, end }: Formatter, format: Format): Formatter {
  const safe = terminalSafe(format);
  return {
    ...(page && { page }),
    begin: () => safe(begin()),
    rows: (slice) => safe(rows(slice)),
    end: () => safe(end()),
  };
}
