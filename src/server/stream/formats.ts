import { EVENT_STREAM_TYPE, NDJSON_TYPE } from '../../catalog/stream/messages.ts';
import type { StoredMessage } from './outbox.ts';

/** How messages are written to a listener (D42). */
export interface StreamFormat {
  readonly type: string;
  /** What comes before the first message: where the stream begins, and warnings where the format has room for them. */
  readonly opening: (position: number, warnings: readonly string[]) => string;
  readonly message: (message: StoredMessage) => string;
  /** How each message ends, and what is nowhere within one. */
  readonly messageEnd: string;
  /** Says that the connection lives, and up to which message the listener has seen all that it asked for. */
  readonly heartbeat: (position: number) => string;
  /** What comes last when the server ends the stream and says why. */
  readonly ending: (why: string) => string;
}

/** Milliseconds after which a browser connects again. */
const RETRY_MS = 1000;

/** Server-Sent Events: `id` is the position to resume from, `event` the operation, `data` the envelope on one line. */
export const EVENTS: StreamFormat = {
  type: `${EVENT_STREAM_TYPE}; charset=utf-8`,
  opening: (position, warnings) =>
    `: from ${position}\n${warnings.map((warning) => `: warning: ${warning}\n`).join('')}retry: ${RETRY_MS}\n\n`,
  message: ({ id, operation, text }) => `id: ${id}\nevent: ${operation}\ndata: ${text}\n\n`,
  messageEnd: '\n\n',
  heartbeat: (position) => `: heartbeat ${position}\n\n`,
  ending: (why) => `: ${why}\n\n`,
};

/** One envelope a line; a heartbeat is an empty line, which readers skip. */
export const LINES: StreamFormat = {
  type: NDJSON_TYPE,
  opening: () => '',
  message: ({ text }) => `${text}\n`,
  messageEnd: '\n',
  heartbeat: () => '\n',
  ending: () => '',
};

/** The format that an Accept header asks for: lines when it names them before events, or without. */
export function formatFor(accept: string | undefined): StreamFormat {
  const types = (accept ?? '').split(',').map((part) => part.split(';')[0]?.trim().toLowerCase());
  const wanted = types.find((type) => type === NDJSON_TYPE || type === EVENT_STREAM_TYPE);
  return wanted === NDJSON_TYPE ? LINES : EVENTS;
}
