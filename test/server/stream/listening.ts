import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import type { StreamMessage } from '../../../src/catalog/stream/messages.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';
import type { TestService } from '../../support/service.ts';

interface ListenOptions {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string;
  readonly organization?: string;
}

/** One event as a standard parser reads it. */
export interface HeardEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly message: StreamMessage;
}

/** A listener over a real socket; `close` is an abrupt end, as of a process that is killed. */
export interface Listener {
  readonly response: IncomingMessage;
  /** `X-Stream-Position` of the answer: all of it, and the number in it. */
  readonly begin: string;
  readonly position: number;
  readonly events: HeardEvent[];
  readonly comments: string[];
  /** Resolves when so many events have come. */
  heard(count: number): Promise<HeardEvent[]>;
  /** Resolves when the server has ended the answer. */
  readonly ended: Promise<void>;
  close(): void;
}

/** The address of a service that listens, for as long as it is open. */
export async function address({ app }: Pick<TestService, 'app'>): Promise<string> {
  return app.listen({ host: '127.0.0.1', port: 0 });
}

/** Opens the stream; rejects when the answer is not 200. */
export async function listen(url: string, options: ListenOptions = {}): Promise<Listener> {
  const request = open(url, options);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${await textOf(response)}`);
  const events: HeardEvent[] = [];
  const comments: string[] = [];
  const arrival = new EventTarget();
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      events.push({ id, event, message: JSON.parse(data) as StreamMessage });
      arrival.dispatchEvent(new Event('event'));
    },
    onComment: (comment) => {
      comments.push(comment.trim());
      arrival.dispatchEvent(new Event('event'));
    },
  });
  response.setEncoding('utf8').on('data', (chunk: string) => parser.feed(chunk));
  const ended = new Promise<void>((resolve) => response.once('close', resolve));
  // A cut connection is told by `ended` alone.
  response.on('error', () => {});
  return {
    response,
    begin: String(response.headers['x-stream-position']),
    position: numberIn(String(response.headers['x-stream-position'])),
    events,
    comments,
    async heard(count) {
      while (events.length < count) await once(arrival, 'event');
      return events;
    },
    ended,
    close: () => request.destroy(),
  };
}

/** The number in a position, behind the epoch; NaN where there is none. */
export function numberIn(position: string | undefined): number {
  return Number(/^[0-9a-f]{8}-(\d+)$/.exec(position ?? '')?.[1]);
}

/** A request of the stream whose answer nobody reads yet. */
export function open(url: string, { query = '', headers, token, organization }: ListenOptions = {}): ClientRequest {
  const request = get(`${url}/api/v1/stream${query}`, {
    agent: false,
    headers: {
      authorization: `Bearer ${token ?? TOKENS.full}`,
      'organization-id': organization ?? ORGANIZATION,
      ...headers,
    },
  });
  return request.on('error', () => {});
}

export async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return text;
}
