import { createParser } from 'eventsource-parser';
import { API_PREFIX } from '../../catalog/catalog.ts';
import { RESYNC } from '../../catalog/stream/domains.ts';
import { EVENT_STREAM_TYPE, POSITION_HEADER, STREAM_PATH, type StreamMessage } from '../../catalog/stream/messages.ts';
import { WaitTimeout, withTimeout } from '../abort.ts';
import { localFailure } from '../failure.ts';
import type { ApiClient } from '../transport/client.ts';
import type { IncomingResponse } from '../transport/send.ts';
import { asRefused, asUnreachable } from './httprefusals.ts';
import { readMessage } from './readmessage.ts';
import { ConnectionLost, type StreamItem, type StreamSource } from './source.ts';

export interface HttpStreamOptions {
  /** Routing key patterns; none stands for every message. */
  readonly keys: readonly string[];
  /** Begin behind this message; 0: at the oldest kept; undefined: with what comes from now on. */
  readonly after: number | undefined;
  /** Milliseconds without a byte after which the connection counts as lost; heartbeats come every 15 s (D42). */
  readonly silence?: number;
  /** UTC milliseconds. */
  readonly now: () => number;
}

const SILENCE = 45_000;

/** Longest event, in characters: what cannot be a message must not fill the memory. */
const LONGEST_EVENT = 64 * 1024 * 1024;

/** The stream of the API as Server-Sent Events (D42). Holds no more than what one read of the connection gave. */
export class HttpSource implements StreamSource {
  private readonly client: Pick<ApiClient, 'open' | 'baseUrl'>;
  private readonly question: HttpStreamOptions;
  private position: number | undefined;

  constructor(client: Pick<ApiClient, 'open' | 'baseUrl'>, question: HttpStreamOptions) {
    this.client = client;
    this.question = question;
    this.position = question.after;
  }

  async *connect(signal: AbortSignal): AsyncGenerator<StreamItem, void> {
    const closing = new AbortController();
    const relay = () => closing.abort(signal.reason);
    signal.addEventListener('abort', relay, { once: true });
    try {
      const response = await this.open(closing.signal);
      const told = response.headers[POSITION_HEADER.toLowerCase()] ?? '';
      const start = /^\d{1,16}$/.test(told) ? Number(told) : undefined;
      this.position ??= start;
      yield { kind: 'opened', position: start };
      yield* this.items(response, closing.signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw cause;
    } finally {
      signal.removeEventListener('abort', relay);
      closing.abort(new Error('The connection is no longer needed.'));
    }
  }

  private async open(signal: AbortSignal): Promise<IncomingResponse> {
    const { question, client, position } = this;
    const query = question.keys.map((key) => `routingKey=${encodeURIComponent(key)}`).join('&');
    const headers = {
      accept: EVENT_STREAM_TYPE,
      'cache-control': 'no-cache',
      ...(position !== undefined && { 'last-event-id': String(position) }),
    };
    const path = `${API_PREFIX}${STREAM_PATH}${query === '' ? '' : `?${query}`}`;
    const opening = client.open({ path, headers, signal });
    // When it is given up, what becomes of it later is of no interest.
    opening.catch(() => undefined);
    const response = await this.waitFor(opening, signal).catch((cause: unknown) => {
      throw asUnreachable(cause);
    });
    const reading = (text: Promise<string>) => this.waitFor(text, signal);
    if (response.status !== 200) throw await asRefused(response, client.baseUrl, question.now(), reading);
    if (response.headers['content-type']?.toLowerCase().startsWith(EVENT_STREAM_TYPE)) return response;
    throw localFailure('response.malformed', 'The answer is not an event stream.', {
      requestId: response.headers['x-request-id'] ?? null,
    });
  }

  private async *items({ body }: IncomingResponse, signal: AbortSignal): AsyncGenerator<StreamItem, void> {
    const parsing = new EventReader();
    const chunks = body[Symbol.asyncIterator]();
    for (;;) {
      const next = chunks.next();
      next.catch(() => undefined);
      const { done, value } = await this.waitFor(next, signal).catch((cause: unknown) => {
        throw cause instanceof ConnectionLost ? cause : cutOff(cause);
      });
      if (done) return;
      for (const item of parsing.read(value)) {
        const fresh = this.fresh(item);
        if (fresh !== undefined) yield fresh;
      }
    }
  }

  /** What is new of what came: the server may tell a message twice (D42: at least once). */
  private fresh(item: ReadItem): StreamItem | undefined {
    if ('seen' in item) {
      if (item.seen > (this.position ?? -1)) this.position = item.seen;
      return { kind: 'seen', position: this.position };
    }
    const { message, text } = item;
    // After a resync the numbers may be lower ones: those of a server that was put back to an earlier state.
    const isKnown = this.position !== undefined && message.id <= this.position && message.operation !== RESYNC;
    if (isKnown) return undefined;
    const handled = () => {
      this.position = message.id;
    };
    return { kind: 'message', message, text, handled };
  }

  private waitFor<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    const silence = this.question.silence ?? SILENCE;
    return withTimeout(work, silence, signal).catch((cause: unknown) => {
      if (!(cause instanceof WaitTimeout)) throw cause;
      throw new ConnectionLost(localFailure('network.unreachable', `The server was silent for ${silence / 1000} s.`));
    });
  }
}

type ReadItem = { readonly message: StreamMessage; readonly text: string } | { readonly seen: number };

/** Turns bytes into messages; a heartbeat tells up to where the listener has seen everything, or -1 where it does not. */
class EventReader {
  private readonly decoder = new TextDecoder('utf-8');
  private items: ReadItem[] = [];
  private readonly parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onEvent: ({ data }) => {
      const read = readMessage(data);
      if (read === undefined) throw malformed('an event that is no message');
      this.items.push(read);
    },
    onComment: (comment) => {
      const [heartbeat, position] = /^\s*(?:heartbeat(?: (\d{1,16}))?)?\s*$/.exec(comment) ?? [];
      if (heartbeat !== undefined) this.items.push({ seen: Number(position ?? -1) });
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw malformed('an event that is too long');
    },
  });

  read(bytes: Uint8Array): readonly ReadItem[] {
    this.items = [];
    this.parser.feed(this.decoder.decode(bytes, { stream: true }));
    return this.items;
  }
}

/** Whatever the network says of a connection that stood: it does no more. */
function cutOff(cause: unknown): ConnectionLost {
  return new ConnectionLost(localFailure('network.unreachable', 'The connection was cut.', { cause }));
}

function malformed(what: string) {
  return localFailure('response.malformed', `The stream holds ${what}.`);
}
