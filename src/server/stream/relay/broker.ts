import type { ConfirmChannel } from 'amqplib';
import { DEFAULT_EXCHANGE } from '../../../catalog/stream/messages.ts';
import type { SentMessage } from '../outbox.ts';

/** Where a relay publishes messages: a topic exchange of a broker. */
export interface RelayTarget {
  /** As given: it may contain a password, so it is never logged. */
  readonly url: string;
  readonly exchange: string;
  /** The broker in logs and in the saved position: host, port and virtual host. */
  readonly name: string;
}

/** A connection to a broker that accepts messages. */
export interface Broker {
  /** Aborted when the connection is gone; the reason is an Error. */
  readonly broken: AbortSignal;
  /** Sends a message; `settled` is called once with whether the broker has it. False: wait for `drained`. */
  publish(message: SentMessage, settled: (taken: boolean) => void): boolean;
  /** Resolves when there is room again, or the connection is gone. */
  drained(): Promise<void>;
  /** Never throws. */
  close(): Promise<void>;
}

/** Connects. Aborting `cut` destroys the connection at once, whatever it is doing: a broker may never respond. */
export type OpenBroker = (target: RelayTarget, cut: AbortSignal) => Promise<Broker>;

/** Seconds between heartbeats, which detect a broker that has silently gone. */
const HEARTBEAT = 10;
const CONNECT_MS = 10_000;

/**
 * The target of `--amqp URL`: `amqp://` or `amqps://`, with the exchange as `?exchange=NAME`. Undefined for anything
 * else.
 */
export function relayTarget(text: string): RelayTarget | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!['amqp:', 'amqps:'].includes(url.protocol) || !/^(?:[\w.-]+|\[[\da-f:.]+\])$/i.test(url.hostname))
    return undefined;
  // What the library reads from the rest of the address, and would send or leave out without a word.
  for (const name of ['heartbeat', 'channelMax', 'frameMax']) {
    if (url.searchParams.getAll(name).some((value) => !/^\d{1,9}$/.test(value))) return undefined;
  }
  const exchange = url.searchParams.get('exchange') ?? DEFAULT_EXCHANGE;
  if (!/^[\w.:-]{1,127}$/.test(exchange) || exchange.startsWith('amq.')) return undefined;
  url.searchParams.delete('exchange');
  const port = url.port || (url.protocol === 'amqps:' ? '5671' : '5672');
  const vhost = url.pathname.length > 1 ? decoded(url.pathname.slice(1)) : '/';
  if (vhost === undefined || Buffer.byteLength(vhost) > MAX_VHOST_BYTES) return undefined;
  return { url: url.href, exchange, name: `${url.hostname}:${port} ${vhost}` };
}

/** The bytes that the protocol has for the name of a virtual host. */
const MAX_VHOST_BYTES = 255;

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Connects, and declares the exchange: durable, of type topic (D42). amqplib is loaded here. */
export async function openBroker({ url, exchange }: RelayTarget, cut: AbortSignal): Promise<Broker> {
  const { connect } = (await import('amqplib')).default;
  const address = new URL(url);
  if (!address.searchParams.has('heartbeat')) address.searchParams.set('heartbeat', String(HEARTBEAT));
  // The signal is an option of the socket, which it destroys; the library passes it on.
  const options = { timeout: CONNECT_MS, signal: cut, clientProperties: { connection_name: 'molar relay' } };
  const connection = await connect(address.href, options);
  const ended = new AbortController();
  const end = (cause?: unknown) => ended.abort(cause instanceof Error ? cause : new Error('The broker closed.'));
  connection.on('error', end);
  connection.on('close', end);
  cut.addEventListener('abort', end, { signal: ended.signal });
  const close = () => before(ended.signal, connection.close()).catch(() => undefined);
  try {
    const channel = await before(ended.signal, connection.createConfirmChannel());
    const failed = new AbortController();
    // It ends with an error, or with its connection, which says why.
    channel.on('error', (cause: unknown) => failed.abort(cause));
    const broken = AbortSignal.any([ended.signal, failed.signal]);
    await before(broken, channel.assertExchange(exchange, 'topic', { durable: true }));
    return {
      broken,
      publish: (message, settled) => publish(channel, exchange, message, settled),
      drained: () => drained(channel, broken),
      close,
    };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/** The result of `work`, or a rejection when `ended` is aborted first: calls on a dead socket never settle. */
function before<T>(ended: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(ended.reason);
    ended.addEventListener('abort', stop, { once: true });
    if (ended.aborted) stop();
    work.then(resolve, reject).finally(() => ended.removeEventListener('abort', stop));
  });
}

function publish(
  channel: ConfirmChannel,
  exchange: string,
  message: SentMessage,
  settled: (taken: boolean) => void,
): boolean {
  const options = {
    persistent: true,
    contentType: 'application/json',
    contentEncoding: 'utf-8',
    // Numbers are those of an organization, and whoever drops what it has seen by this id may listen to several.
    messageId: `${message.routingKey.split('.', 1)[0]}.${message.number}`,
    type: message.operation,
    appId: 'molar',
  };
  return channel.publish(exchange, message.routingKey, Buffer.from(message.text), options, (problem) =>
    settled(problem === null || problem === undefined),
  );
}

function drained(channel: ConfirmChannel, broken: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      channel.removeListener('drain', done);
      broken.removeEventListener('abort', done);
      resolve();
    };
    channel.once('drain', done);
    broken.addEventListener('abort', done, { once: true });
    if (broken.aborted) done();
  });
}
