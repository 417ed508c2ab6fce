import type { StreamMessage } from '../../catalog/stream/messages.ts';

/** Forms in which messages are printed. */
export const MESSAGE_FORMATS = ['table', 'ndjson', 'json'] as const;

export type MessageFormat = (typeof MESSAGE_FORMATS)[number];

/** Turns messages into text, one at a time as they come. */
export interface MessageFormatter {
  readonly message: (message: StreamMessage, text: string) => string;
  /** What stands at the end, however many there were. */
  readonly end: () => string;
}

/** A message a line, as it came. */
export function ndjsonMessages(): MessageFormatter {
  return { message: (_, text) => `${text}\n`, end: () => '' };
}

/** One JSON array, a message a line; it is closed when listening ends. */
export function jsonMessages(): MessageFormatter {
  let count = 0;
  return {
    message: (_, text) => `${count++ === 0 ? '[' : ','}\n${text}`,
    end: () => (count === 0 ? '[]\n' : '\n]\n'),
  };
}
