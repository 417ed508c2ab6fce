import type { StreamMessage } from '../../catalog/stream/messages.ts';

/** Output formats of messages. */
export const MESSAGE_FORMATS = ['table', 'ndjson', 'json'] as const;

/** An output format of messages. */
export type MessageFormat = (typeof MESSAGE_FORMATS)[number];

/** Writes messages as text, one at a time as they arrive. */
export interface MessageFormatter {
  readonly message: (message: StreamMessage, text: string) => string;
  /** The text after the last message. */
  readonly end: () => string;
}

/** A message per line, as received. */
export function ndjsonMessages(): MessageFormatter {
  return { message: (_, text) => `${text}\n`, end: () => '' };
}

/** One JSON array, a message per line; closed when listening ends. */
export function jsonMessages(): MessageFormatter {
  let count = 0;
  return {
    message: (_, text) => `${count++ === 0 ? '[' : ','}\n${text}`,
    end: () => (count === 0 ? '[]\n' : '\n]\n'),
  };
}
