import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { matchPatterns } from '../../catalog/stream/patterns.ts';
import { withTimeout } from '../abort.ts';
import type { Broker } from './amqpaddress.ts';
import { brokerFailure } from './amqprefusals.ts';
import { AsyncQueue } from './inbox.ts';
import { readMessage } from './readmessage.ts';
import type { StreamItem, StreamSource } from './source.ts';

export interface AmqpStreamOptions {
  readonly broker: Broker;
  readonly exchange: string;
  /** Routing key patterns; none stands for every message. */
  readonly keys: readonly string[];
  /** The listener's name: its queue `molar.NAME` outlives it and holds what comes meanwhile. */
  readonly name: string | undefined;
  /** Certificates in PEM that are trusted besides the usual ones. */
  readonly certificates: readonly string[];
  /** Told of a message in the exchange that is none of the stream; it is dropped. */
  readonly onForeign: (routingKey: string) => void;
}

/** Messages that the broker hands over before they are acknowledged: what is held at most. */
const PREFETCH = 100;

/** Milliseconds for each answer of the broker. */
const PATIENCE = 30_000;

/** Milliseconds for the broker to answer that it has let go. */
const CLOSING = 2000;

/** The stream as a broker has it, from a topic exchange. A message is acknowledged once it is handled. */
export class AmqpSource implements StreamSource {
  private readonly question: AmqpStreamOptions;
  private stoodBefore = false;

  constructor(question: AmqpStreamOptions) {
    this.question = question;
  }

  async *connect(signal: AbortSignal): AsyncGenerator<StreamItem, void> {
    const inbox = new AsyncQueue<ConsumeMessage>();
    const model = await this.attempt(() => this.openModel(signal));
    let channel: Channel | undefined;
    model.on('error', (cause) => inbox.end(this.failure(cause)));
    model.on('close', (cause) => inbox.end(this.failure(cause)));
    try {
      const opened = await this.attempt(() => withTimeout(model.createChannel(), PATIENCE, signal));
      channel = opened;
      opened.on('error', (cause) => inbox.end(this.failure(cause)));
      opened.on('close', () => inbox.end(this.failure(undefined)));
      await this.attempt(() => withTimeout(this.consume(opened, inbox), PATIENCE, signal));
      this.stoodBefore = true;
      yield { kind: 'opened', position: undefined };
      yield* this.items(opened, inbox, signal);
    } finally {
      await closeBoth(channel, model);
    }
  }

  private async openModel(signal: AbortSignal): Promise<ChannelModel> {
    const { connect } = (await import('amqplib')).default;
    const { certificates, broker } = this.question;
    const ca = certificates.length > 0 ? [...(await import('node:tls')).rootCertificates, ...certificates] : undefined;
    const opening = connect(broker.url, { timeout: PATIENCE, ...(ca && { ca }) });
    return withTimeout(opening, PATIENCE, signal).catch((cause: unknown) => {
      // One that stands after all is not left open.
      opening.then((model) => model.close()).catch(() => undefined);
      throw cause;
    });
  }

  private async consume(channel: Channel, inbox: AsyncQueue<ConsumeMessage>): Promise<void> {
    const { exchange, keys, name } = this.question;
    await channel.checkExchange(exchange);
    const kept = name !== undefined;
    const { queue } = await channel.assertQueue(
      kept ? `molar.${name}` : '',
      kept ? { durable: true } : { exclusive: true, autoDelete: true },
    );
    for (const key of keys.length === 0 ? ['#'] : keys) await channel.bindQueue(queue, exchange, key);
    await channel.prefetch(PREFETCH);
    const onMessage = (message: ConsumeMessage | null) => {
      if (message === null) inbox.end(this.failure(new Error('The queue was deleted.')));
      else inbox.put(message);
    };
    // Two listeners of one name would each get a part of the messages.
    await channel.consume(queue, onMessage, { exclusive: true });
  }

  private async *items(
    channel: Channel,
    inbox: AsyncQueue<ConsumeMessage>,
    signal: AbortSignal,
  ): AsyncGenerator<StreamItem, void> {
    const { keys, onForeign } = this.question;
    // A queue that was there before may be bound to keys that are no longer asked for.
    const isAskedFor = matchPatterns(keys);
    for (;;) {
      const delivery = await inbox.take(signal);
      const { routingKey } = delivery.fields;
      const read = readMessage(delivery.content.toString('utf8'));
      const handled = () => acknowledge(channel, delivery);
      if (read !== undefined && isAskedFor(routingKey)) {
        yield { kind: 'message', ...read, handled };
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
    const { broker, exchange, name } = this.question;
    return brokerFailure(cause, { shown: broker.shown, exchange, name, stoodBefore: this.stoodBefore });
  }
}

/** The channel first: what was acknowledged on it goes out before. A broker that is gone is not waited for. */
async function closeBoth(channel: Channel | undefined, model: ChannelModel): Promise<void> {
  const { signal } = new AbortController();
  // Closing what is closed throws at once.
  const closing = async (end: () => Promise<void> | undefined) => end();
  await withTimeout(
    closing(() => channel?.close()),
    CLOSING,
    signal,
  ).catch(() => undefined);
  await withTimeout(
    closing(() => model.close()),
    CLOSING,
    signal,
  ).catch(() => undefined);
}

/** On a channel that is closed by now it cannot be said; the broker hands the message over again. */
function acknowledge(channel: Channel, delivery: ConsumeMessage): void {
  try {
    channel.ack(delivery);
  } catch {
    return;
  }
}
