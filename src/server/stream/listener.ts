import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RoutingKeyMatch } from '../../catalog/stream/patterns.ts';
import type { Organization } from '../organizations.ts';
import { resyncMessage } from './outbox.ts';
import type { StreamFormat, StreamPage, Told } from './pages.ts';
import { positionText, resumedAfter, type Start } from './positions.ts';
import type { Stream } from './stream.ts';

/** Milliseconds of a listener's life. */
export interface ListenerTimes {
  /** Silence after which a heartbeat is sent (D42). */
  readonly heartbeatMs: number;
  /** A socket that accepts nothing for this long is closed. */
  readonly stallMs: number;
  /** Minimum time between two checks of the token; it is checked before anything is sent. */
  readonly checkMs: number;
}

export const LISTENER_TIMES: ListenerTimes = { heartbeatMs: 15_000, stallMs: 30_000, checkMs: 1000 };

/** What a listener is served. */
export interface Listening {
  readonly stream: Stream;
  readonly organization: Organization;
  readonly matches: RoutingKeyMatch;
  readonly format: StreamFormat;
  /** Callback with what is about to be written. */
  readonly sent: (told: Told) => void;
  readonly socket: ListenerSocket;
  readonly times: ListenerTimes;
  /** The time now as `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly now: () => string;
  /** Rejects when the token does not allow listening any more. */
  readonly check: () => Promise<void>;
}

/** A listener without room for this long releases its page, and reads it again later. */
const RELEASE_MS = 250;

/**
 * Serves one listener until `signal` is aborted or its socket stalls: pulls pages after its position, so that replay
 * and live are the same, sends what matches, and waits at the end. Resolves when there is nothing more to send. Rejects
 * with what `check` or the store rejects.
 */
export async function serveListener(listening: Listening, signal: AbortSignal, start: Start): Promise<void> {
  const { stream, organization, socket, format, times } = listening;
  let { after: position, epoch } = start;
  let quietSince = performance.now();
  const missed = (requested: number) => {
    const message = resyncMessage(organization.id, { requested, resumedAfter: position }, listening.now());
    socket.write(format.message(message, positionText(epoch, position)));
  };
  if (start.requested !== undefined) missed(start.requested);
  while (!signal.aborted) {
    const seen = stream.newestOf(organization.org);
    const { frames, positions } = await stream.page(organization, epoch, position, format);
    // After the read: what is committed after a token has lost its rights is not for it.
    await listening.check();
    const resumed = resumedAfter(positions, { epoch, number: position });
    if (resumed !== undefined) {
      const requested = position;
      [position, epoch] = [resumed, positions.epoch];
      missed(requested);
    } else if (frames.length > 0) {
      const sent = await sendPage(listening, frames, signal);
      position = sent.position;
      if (sent.anything) quietSince = performance.now();
      // A long stretch with nothing to send must not block other requests.
      else await nextTurn();
    } else {
      const silence = Math.max(0, quietSince + times.heartbeatMs - performance.now());
      if (await stream.beyond(organization.org, seen, silence, signal)) continue;
    }
    if (!signal.aborted && performance.now() - quietSince >= times.heartbeatMs) {
      await listening.check();
      socket.write(format.heartbeat(positionText(epoch, position)));
      quietSince = performance.now();
    }
    if (!(await socket.drained(times.stallMs, signal))) return;
  }
}

/** Writes what matches of a page, up to where the socket has no room for long. */
async function sendPage(
  { matches, socket, sent }: Listening,
  frames: StreamPage['frames'],
  signal: AbortSignal,
): Promise<{ position: number; anything: boolean }> {
  let position = 0;
  let anything = false;
  for (const frame of frames) {
    position = frame.last;
    const told = frame.matching(matches);
    if (told.messages === 0) continue;
    anything = true;
    sent(told);
    socket.write(told.bytes);
    // Yields to other requests; a socket that has flushed everything reports it by then.
    await nextTurn();
    if (!(await socket.drained(RELEASE_MS, signal))) break;
  }
  return { position, anything };
}

/** The connection of a listener, with back-pressure: a slow one occupies no more than the response's own buffer. */
export class ListenerSocket {
  private full = false;

  constructor(private readonly response: ServerResponse) {
    response.on('drain', () => {
      this.full = false;
    });
  }

  /** False: wait for `drained` before writing more. */
  write(content: string | Uint8Array): boolean {
    this.full = !this.response.write(content);
    return !this.full;
  }

  /** Resolves true when there is room again, false after `milliseconds`, or when the connection or `signal` ended. */
  async drained(milliseconds: number, signal: AbortSignal): Promise<boolean> {
    if (!this.full) return true;
    if (signal.aborted) return false;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.response.off('drain', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      this.response.on('drain', done);
      signal.addEventListener('abort', done);
    });
    return !this.full;
  }

  /** Ends the response; a stalled one is destroyed, since its end would not get through either. */
  end(text?: string): void {
    if (this.full) this.response.destroy();
    else this.response.end(text);
  }
}
