import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { EXIT } from '../../catalog/failures.ts';
import { matchPatterns } from '../../catalog/stream/patterns.ts';
import { withTimeout } from '../abort.ts';
import { codeOf, Failure, LOCAL_FAILURES, localFailure } from '../failure.ts';
import type { Broker } from './amqpaddress.ts';
import { ConnectionLost, readMessage, type StreamItem, type StreamSource } from './source.ts';

/** Options of a stream from a broker. */
export interface AmqpStreamOptions {
  readonly broker: Broker;
  readonly exchange: string;
  /** Routing key patterns; none for every message. */
  readonly keys: readonly string[];
  /** The listener's name: its queue `molar.NAME` outlives it and buffers messages meanwhile. */
  readonly name: string | undefined;
  /** Certificates in PEM that are trusted besides Node's own. */
  readonly certificates: readonly string[];
  /** Called for a message in the exchange that is not one of the stream; it is dropped. */
  readonly onForeign: (routingKey: string) => void;
}

/** Maximum unacknowledged messages. */
const PREFETCH = 100;

/** Milliseconds for each response of the broker. */
const TIMEOUT = 30_000;

/** Milliseconds for the broker to confirm a close. */
const CLOSE_TIMEOUT = 2000;

/** The stream as a broker has it, from a topic exchange. A message is acknowledged once it is handled. */
export class AmqpSource implements StreamSource {
  /** This listener was connected before: what blocks it may be its own broken connection. */
  private wasConnected = false;

  constructor(private readonly options: AmqpStreamOptions) {}

  async *connect(signal: AbortSignal): AsyncGenerator<StreamItem, void> {
    const queue = new AsyncQueue<ConsumeMessage>();
    const model = await this.attempt(() => this.openModel(signal));
    let channel: Channel | undefined;
    let lost: unknown;
    const lose = (cause: unknown) => {
      lost ??= this.failure(cause);
      queue.end(lost);
    };
    model.on('error', lose);
    model.on('close', lose);
    // What is asked of a broker that closes the connection fails first; the connection then says why.
    const setUp = <T>(work: () => Promise<T>) =>
      this.attempt(() => withTimeout(work(), TIMEOUT, signal)).catch((cause: unknown) => {
        throw lost ?? cause;
      });
    try {
      const opened = await setUp(() => model.createChannel());
      channel = opened;
      // It ends with an error, or with its connection, which says why.
      opened.on('error', (cause) => queue.end(this.failure(cause)));
      await setUp(() => this.consume(opened, queue));
      this.wasConnected = true;
      yield { kind: 'opened', position: undefined };
      yield* this.items(opened, queue, signal);
    } finally {
      await closeBoth(channel, model);
    }
  }

  private async openModel(signal: AbortSignal): Promise<ChannelModel> {
    const { connect } = (await import('amqplib')).default;
    const { certificates, broker } = this.options;
    const ca = certificates.length > 0 ? [...(await import('node:tls')).rootCertificates, ...certificates] : undefined;
    const opening = connect(broker.url, { timeout: TIMEOUT, ...(ca && { ca }) });
    return withTimeout(opening, TIMEOUT, signal).catch((cause: unknown) => {
      // If it succeeds after all it is not left open.
      opening.then((model) => model.close()).catch(() => undefined);
      throw cause;
    });
  }

  private async consume(channel: Channel, queue: AsyncQueue<ConsumeMessage>): Promise<void> {
    const { exchange, keys, name } = this.options;
    await channel.checkExchange(exchange);
    const { queue: queueName } = await channel.assertQueue(
      name === undefined ? '' : `molar.${name}`,
      name === undefined ? { exclusive: true, autoDelete: true } : { durable: true },
    );
    for (const key of keys.length === 0 ? ['#'] : keys) await channel.bindQueue(queueName, exchange, key);
    await channel.prefetch(PREFETCH);
    const onMessage = (message: ConsumeMessage | null) => {
      if (message === null) queue.end(this.failure(new Error('The queue was deleted.')));
      else queue.put(message);
    };
    // Two listeners of one name would each get a part of the messages.
    await channel.consume(queueName, onMessage, { exclusive: true });
  }

  private async *items(
    channel: Channel,
    queue: AsyncQueue<ConsumeMessage>,
    signal: AbortSignal,
  ): AsyncGenerator<StreamItem, void> {
    const { keys, onForeign } = this.options;
    // An older queue may be bound to keys that are no longer requested.
    const isRequested = matchPatterns(keys);
    for (;;) {
      const delivery = await queue.take(signal);
      const { routingKey } = delivery.fields;
      const read = readMessage(delivery.content.toString('utf8'));
      const handled = () => acknowledge(channel, delivery);
      if (read !== undefined && isRequested(routingKey)) {
        yield { kind: 'message', ...read, position: String(read.message.id), handled };
      } else {
        if (read === undefined) onForeign(routingKey);
        handled();
      }
    }
  }

  private async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw this.failure(cause);
    }
  }

  private failure(cause: unknown): unknown {
    return brokerFailure(cause, this.options, this.wasConnected);
  }
}

/** The channel first: what was acknowledged on it is sent before. */
async function closeBoth(channel: Channel | undefined, model: ChannelModel): Promise<void> {
  for (const end of [() => channel?.close(), () => model.close()]) {
    // Closing what is closed throws synchronously.
    const closing = (async () => end())();
    await withTimeout(closing, CLOSE_TIMEOUT).catch(() => undefined);
  }
}

/** On a channel that is closed by now this fails, and the broker delivers the message again. */
function acknowledge(channel: Channel, delivery: ConsumeMessage): void {
  try {
    channel.ack(delivery);
  } catch {
    return;
  }
}

/**
 * Why a broker does not serve, from what amqplib throws: a Failure for a refusal (login: exit 3, no such exchange: 4, a
 * queue in use: 9), `ConnectionLost` for everything else. It never has the text of the address.
 */
function brokerFailure(
  cause: unknown,
  { broker: { shown }, exchange, name }: AmqpStreamOptions,
  wasConnected: boolean,
): unknown {
  if (cause instanceof Failure) return cause;
  const text = cause instanceof Error ? cause.message : '';
  const refused = (message: string, exitCode: number) =>
    new Failure(message, { code: 'stream.broker', exitCode, hint: LOCAL_FAILURES['stream.broker'].next, cause });
  if (/in exclusive use/.test(text) && !wasConnected) {
    return refused(`Another listener named ${name} is running: its queue on ${shown} is in use.`, EXIT.file);
  }
  if (/\b403\b.*Login was refused/.test(text)) return refused(`${shown} rejected user and password.`, EXIT.auth);
  if (/\b404\b.*no exchange/.test(text)) return refused(`There is no exchange ${exchange} on ${shown}.`, EXIT.notFound);
  if (/\b403\b/.test(text) && !/in exclusive use/.test(text)) {
    return refused(`${shown} refused access: ${text}`, EXIT.auth);
  }
  if (/\b406\b/.test(text))
    return refused(`The queue of ${name} on ${shown} has other properties: ${text}`, EXIT.refused);
  return new ConnectionLost(localFailure('stream.broker', `${shown}: ${reasonOf(text, codeOf(cause))}`, { cause }));
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused.',
  ENOTFOUND: 'unknown host.',
  ECONNRESET: 'connection lost.',
  ETIMEDOUT: 'connection timed out.',
};

function reasonOf(text: string, code: string | undefined): string {
  return REASONS[code ?? ''] ?? (text === '' ? 'connection closed.' : text);
}

/** A queue in order, until its end: what is left then is dropped. */
export class AsyncQueue<T> {
  private readonly values: T[] = [];
  private ended: { readonly cause: unknown } | undefined;
  private waiting: (() => void) | undefined;

  put(value: T): void {
    this.values.push(value);
    this.waiting?.();
  }

  /** The first end counts. */
  end(cause: unknown): void {
    this.ended ??= { cause };
    this.waiting?.();
  }

  /** The next value; rejects with the cause of the end, or the signal's reason. One taker at a time. */
  async take(signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      if (this.ended !== undefined) throw this.ended.cause;
      const value = this.values.shift();
      if (value !== undefined) return value;
      await new Promise<void>((resolve) => {
        const done = () => {
          signal.removeEventListener('abort', done);
          this.waiting = undefined;
          resolve();
        };
        this.waiting = done;
        signal.addEventListener('abort', done);
      });
    }
  }
}
