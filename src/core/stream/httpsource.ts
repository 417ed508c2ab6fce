import { createParser } from 'eventsource-parser';
import { API_PREFIX } from '../../catalog/catalog.ts';
import { RESYNC } from '../../catalog/stream/domains.ts';
import { EVENT_STREAM_TYPE, POSITION_HEADER, STREAM_PATH, type StreamMessage } from '../../catalog/stream/messages.ts';
import { LinkedAbort, WaitTimeout, withTimeout } from '../abort.ts';
import { Failure, localFailure, reworded } from '../failure.ts';
import { ApiFailure, WITHOUT_ROUTE } from '../transport/apifailure.ts';
import { type ApiClient, redirectTarget } from '../transport/client.ts';
import { readEnvelope } from '../transport/envelope.ts';
import { RETRYABLE_STATUSES, retryAfterOf } from '../transport/retry.ts';
import { ConnectionFailure, type IncomingResponse, isCertificateProblem } from '../transport/send.ts';
import { isPosition } from './positions.ts';
import { ConnectionLost, ConnectionSilent, readMessage, type StreamItem, type StreamSource } from './source.ts';

/** Options of a stream over HTTP. */
export interface HttpStreamOptions {
  /** Routing key patterns; none for every message. */
  readonly keys: readonly string[];
  /** Begin at this position, or behind the message with this id; 0: with the oldest stored; undefined: with new ones. */
  readonly after: string | undefined;
  /** Milliseconds without a byte after which the connection counts as lost; heartbeats come every 15 s (D42). */
  readonly silence?: number;
  /** UTC milliseconds. */
  readonly now: () => number;
}

const SILENCE = 45_000;

/** Maximum characters of an event: what cannot be a message must not fill the memory. */
const MAX_EVENT_LENGTH = 64 * 1024 * 1024;

/** The stream of the API as Server-Sent Events (D42). Buffers no more than one chunk of the connection. */
export class HttpSource implements StreamSource {
  /** As the server gave it, which alone knows what it means. */
  private position: string | undefined;
  /** Id of the last handled message, -1 where it is not known. */
  private lastId: number;

  constructor(
    private readonly client: Pick<ApiClient, 'open' | 'baseUrl'>,
    private readonly options: HttpStreamOptions,
  ) {
    this.position = options.after;
    this.lastId = /^\d+$/.test(options.after ?? '') ? Number(options.after) : -1;
  }

  async *connect(signal: AbortSignal): AsyncGenerator<StreamItem, void> {
    const link = new LinkedAbort(signal);
    try {
      const response = await this.open(link.signal);
      const header = response.headers[POSITION_HEADER.toLowerCase()] ?? '';
      const start = isPosition(header) ? header : undefined;
      this.position ??= start;
      yield { kind: 'opened', position: start };
      yield* this.items(response, link.signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw cause;
    } finally {
      link.abort();
    }
  }

  private async open(signal: AbortSignal): Promise<IncomingResponse> {
    const { options, client, position } = this;
    const query = options.keys.map((key) => `routingKey=${encodeURIComponent(key)}`).join('&');
    const headers = {
      accept: EVENT_STREAM_TYPE,
      'cache-control': 'no-cache',
      ...(position !== undefined && { 'last-event-id': position }),
    };
    const path = `${API_PREFIX}${STREAM_PATH}${query === '' ? '' : `?${query}`}`;
    const opening = client.open({ path, headers, signal });
    // After a timeout its failure is of no interest.
    opening.catch(() => undefined);
    const response = await this.waitFor(opening, signal).catch((cause: unknown) => {
      throw connectError(cause);
    });
    if (response.status !== 200)
      throw await refusal(response, client.baseUrl, options.now(), (text) => this.waitFor(text, signal));
    if (response.headers['content-type']?.toLowerCase().startsWith(EVENT_STREAM_TYPE)) return response;
    throw localFailure('response.malformed', 'The response is not an event stream.', {
      requestId: response.headers['x-request-id'] ?? null,
    });
  }

  private async *items({ body }: IncomingResponse, signal: AbortSignal): AsyncGenerator<StreamItem, void> {
    const read = eventReader();
    const chunks = body[Symbol.asyncIterator]();
    for (;;) {
      const next = chunks.next();
      next.catch(() => undefined);
      const { done, value } = await this.waitFor(next, signal).catch((cause: unknown) => {
        if (cause instanceof ConnectionLost) throw cause;
        throw new ConnectionLost(localFailure('network.unreachable', 'The connection was lost.', { cause }));
      });
      if (done) return;
      for (const item of read(value)) {
        const fresh = this.fresh(item);
        if (fresh !== undefined) yield fresh;
      }
    }
  }

  /** An item unless it is a duplicate: the server may send a message twice (D42: at least once). */
  private fresh(item: ReadItem): StreamItem | undefined {
    if ('seen' in item) {
      this.position = item.seen ?? this.position;
      return { kind: 'seen', position: this.position };
    }
    const { message, text, position } = item;
    // After a resync the ids may be lower: those of a server restored to an earlier state.
    if (message.id <= this.lastId && message.operation !== RESYNC) return undefined;
    const handled = () => {
      this.position = position;
      this.lastId = message.id;
    };
    return { kind: 'message', message, text, position, handled };
  }

  private waitFor<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    const silence = this.options.silence ?? SILENCE;
    return withTimeout(work, silence, signal).catch((cause: unknown) => {
      if (!(cause instanceof WaitTimeout)) throw cause;
      throw new ConnectionSilent(localFailure('network.unreachable', `The server was silent for ${silence / 1000} s.`));
    });
  }
}

type ReadItem =
  | { readonly message: StreamMessage; readonly text: string; readonly position: string }
  | { readonly seen: string | undefined };

/** Parses messages and heartbeats; a heartbeat may have the position up to which everything was sent. */
function eventReader(): (bytes: Uint8Array) => readonly ReadItem[] {
  const decoder = new TextDecoder('utf-8');
  let items: ReadItem[] = [];
  const parser = createParser({
    maxBufferSize: MAX_EVENT_LENGTH,
    onEvent: ({ id, data }) => {
      const read = readMessage(data);
      if (read === undefined) throw malformed('an event that is not a message');
      items.push({ ...read, position: id !== undefined && isPosition(id) ? id : String(read.message.id) });
    },
    onComment: (comment) => {
      const [heartbeat, position] = /^\s*(?:heartbeat(?: (\S+))?)?\s*$/.exec(comment) ?? [];
      if (heartbeat !== undefined)
        items.push({ seen: position !== undefined && isPosition(position) ? position : undefined });
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw malformed('an event that is too long');
    },
  });
  return (bytes) => {
    items = [];
    parser.feed(decoder.decode(bytes, { stream: true }));
    return items;
  };
}

function malformed(what: string) {
  return localFailure('response.malformed', `The stream holds ${what}.`);
}

/** Maximum characters of an error response that are read. */
const MAX_ERROR_LENGTH = 64 * 1024;

/** Why a connection was not made: final for an untrusted certificate, or a token refused for good. */
function connectError(cause: unknown): unknown {
  if (cause instanceof Failure) {
    const { code, status } = cause;
    const isTemporary = code === 'network.unreachable' || (status !== null && RETRYABLE_STATUSES.includes(status));
    return isTemporary ? new ConnectionLost(cause) : cause;
  }
  if (!(cause instanceof ConnectionFailure)) return cause;
  const { message } = cause;
  if (isCertificateProblem(cause.cause)) return localFailure('network.certificate', message, { cause });
  return new ConnectionLost(localFailure('network.unreachable', message, { cause }));
}

/** A response that is not a stream: `ConnectionLost` where another attempt may help (408, 429, 5xx), else a Failure. */
async function refusal(
  response: IncomingResponse,
  baseUrl: string,
  now: number,
  waitFor: (text: Promise<string>) => Promise<string>,
): Promise<ConnectionLost | Failure> {
  const { status, headers } = response;
  const requestId = headers['x-request-id'] ?? null;
  if (status >= 300 && status < 400) {
    const where = redirectTarget(headers.location, baseUrl);
    return localFailure('response.redirect', `The server redirects to ${where} (HTTP ${status}).`, { requestId });
  }
  if (status < 300)
    return localFailure('response.malformed', `The response is not a stream (HTTP ${status}).`, { requestId });
  const text = await waitFor(beginningOf(response)).catch(() => '');
  const failure = new ApiFailure(status, readEnvelope(text)?.errors ?? [], requestId);
  if (WITHOUT_ROUTE.includes(status))
    return reworded(failure, { message: `${failure.message} ${NO_STREAM}`, hint: SEE });
  return RETRYABLE_STATUSES.includes(status) ? new ConnectionLost(failure, retryAfterOf(headers, now)) : failure;
}

const NO_STREAM = `There is no stream at GET ${API_PREFIX}${STREAM_PATH}: the specification leaves the transport of its channel open.`;
const SEE = 'Check the address (MOLAR_URL, --url); where the service publishes to a message broker, --amqp reads that.';

async function beginningOf({ body }: IncomingResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_ERROR_LENGTH) break;
  }
  return text;
}
