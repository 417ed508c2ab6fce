import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RoutingKeyMatch } from '../../catalog/stream/patterns.ts';
import type { Organization } from '../organizations.ts';
import type { StreamFormat } from './formats.ts';
import type { StreamPage } from './pages.ts';
import { resyncMessage } from './resync.ts';
import type { ListenerSocket } from './socket.ts';
import type { Stream } from './stream.ts';

/** Milliseconds of a listener's life. */
export interface ListenerTimes {
  /** Silence after which a heartbeat is sent (D42). */
  readonly heartbeatMs: number;
  /** A socket that takes nothing for so long is closed. */
  readonly stallMs: number;
  /** The token is looked at again before anything is sent, at most this often. */
  readonly checkMs: number;
}

export const LISTENER_TIMES: ListenerTimes = { heartbeatMs: 15_000, stallMs: 60_000, checkMs: 1000 };

/** What a listener is served. */
export interface Listening {
  readonly stream: Stream;
  readonly organization: Organization;
  readonly matches: RoutingKeyMatch;
  readonly format: StreamFormat;
  /** Hears how many messages were written. */
  readonly sent: (messages: number) => void;
  readonly socket: ListenerSocket;
  readonly times: ListenerTimes;
  /** The time now as `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly now: () => string;
  /** Rejects when the token does not allow listening any more. */
  readonly check: () => Promise<void>;
}

/** A listener that has no room for so long lets go of the page it has read, and reads it again later. */
const PATIENCE_MS = 250;

/**
 * Serves one listener until `signal` is aborted or its socket stalls: pulls pages after its position, so that replay
 * and live are the same, sends what matches, and waits at the end. `after`: its position, `requested` what it asked
 * for when that is not it. Resolves when nothing more is to be sent. Rejects with what `check` or the store rejects.
 */
export async function serveListener(
  listening: Listening,
  signal: AbortSignal,
  start: { readonly after: number; readonly requested?: number },
): Promise<void> {
  const { stream, organization, socket, format, times } = listening;
  let position = start.after;
  let quietSince = performance.now();
  const missed = (requested: number, resumedAfter: number) =>
    socket.write(format.message(resyncMessage(organization.id, { requested, resumedAfter }, listening.now())));
  if (start.requested !== undefined) missed(start.requested, position);
  while (!signal.aborted) {
    await listening.check();
    const { newest } = stream;
    const page = await stream.page(organization.org, position, format);
    if (position < stream.floor) {
      missed(position, stream.floor);
      position = stream.floor;
    } else if (page.length > 0) {
      const sent = await sendPage(listening, page, signal);
      position = sent.position;
      if (sent.anything) quietSince = performance.now();
      // A long way without anything to send must not keep others waiting.
      else await nextTurn();
    } else {
      // All messages up to the newest known were there to be read.
      position = Math.max(position, newest);
      const silence = Math.max(0, quietSince + times.heartbeatMs - performance.now());
      if (silence > 0 && (await stream.beyond(position, silence, signal))) continue;
    }
    if (!signal.aborted && performance.now() - quietSince >= times.heartbeatMs) {
      await listening.check();
      socket.write(format.heartbeat(position));
      quietSince = performance.now();
    }
    if (!(await socket.drained(times.stallMs, signal))) return;
  }
}

/** Writes what matches of a page, up to where the socket has no room for long. */
async function sendPage(
  { matches, socket, sent }: Listening,
  page: StreamPage,
  signal: AbortSignal,
): Promise<{ position: number; anything: boolean }> {
  let position = 0;
  let anything = false;
  for (const piece of page) {
    position = piece.last;
    const { bytes, messages } = piece.matching(matches);
    if (messages === 0) continue;
    anything = true;
    sent(messages);
    socket.write(bytes);
    // Others have their turn; a socket that has taken it all says so by then.
    await nextTurn();
    if (!(await socket.drained(PATIENCE_MS, signal))) break;
  }
  return { position, anything };
}
