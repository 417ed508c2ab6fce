import type { StreamMessage } from '../../catalog/stream/messages.ts';

/** Turns messages into text, one at a time as they come. */
export interface MessageForm {
  readonly message: (message: StreamMessage, text: string) => string;
  /** What stands at the end, however many there were. */
  readonly end: () => string;
}

/** A message a line, as it came. */
export function ndjsonMessages(): MessageForm {
  return { message: (_, text) => `${text}\n`, end: () => '' };
}

/** One JSON array, a message a line; it is closed when listening ends. */
export function jsonMessages(): MessageForm {
  let count = 0;
  return {
    message: (_, text) => `${count++ === 0 ? '[' : ','}\n${text}`,
    end: () => (count === 0 ? '[]\n' : '\n]\n'),
  };
}
