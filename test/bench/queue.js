// A queue of a broker that takes everything that comes to an exchange, and how fast it fills.
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'amqplib';

const BROKER = process.env.MOLAR_TEST_AMQP ?? 'amqp://guest:guest@127.0.0.1:5672';
const LOOK_MILLISECONDS = 10;
/** A broker that takes nothing for so long is given up. */
const STALLED_MILLISECONDS = 30_000;

/** Connects to the broker, undefined where none answers; `name` is that of a person's words for it. */
export async function openBroker() {
  const name = new URL(BROKER).host;
  try {
    const connection = await connect(BROKER, { timeout: 5000 });
    return { name, connection, close: () => connection.close() };
  } catch (error) {
    return { name, connection: undefined, why: error.code ?? error.message, close: async () => {} };
  }
}

/**
 * Does the work with a durable topic exchange of its own and a durable queue that gets all of it; both go after it.
 * The work gets the address of the exchange as `--amqp` takes it, and the queue.
 */
export async function withQueue({ connection }, work) {
  const exchange = `molar-bench-${randomUUID()}`;
  const channel = await connection.createChannel();
  await channel.assertExchange(exchange, 'topic', { durable: true });
  const { queue } = await channel.assertQueue(exchange, { durable: true });
  await channel.bindQueue(queue, exchange, '#');
  const address = new URL(BROKER);
  address.searchParams.set('exchange', exchange);
  try {
    return await work({ address: address.href, exchange, channel, queue });
  } finally {
    await channel.deleteQueue(queue);
    await channel.deleteExchange(exchange);
    await channel.close();
  }
}

/** Messages a second with which a queue fills up to `total`, from its first message on. */
export async function fillingRate({ channel, queue }, total, signal) {
  const depth = async () => (await channel.checkQueue(queue)).messageCount;
  let began = performance.now();
  let changed = began;
  for (let held = 0; held < total; ) {
    await sleep(LOOK_MILLISECONDS, undefined, { signal });
    const looked = performance.now();
    const now = await depth();
    if (held === 0 && now === 0) began = looked;
    if (now !== held) changed = looked;
    if (looked - changed > STALLED_MILLISECONDS) throw new Error(`The queue stays at ${now} of ${total} messages.`);
    held = now;
    if (held > total) throw new Error(`The queue has ${held} messages instead of ${total}.`);
  }
  return total / ((performance.now() - began) / 1000);
}

/** Empties a queue of `total` messages: `take` gets each; answers a digest of keys, properties and bytes in their order. */
export async function drained({ channel, queue }, total, take = () => {}) {
  const hash = createHash('sha256');
  let left = total;
  const done = new AbortController();
  const { consumerTag } = await channel.consume(
    queue,
    (message) => {
      const { key, properties } = sentOf(message);
      hash.update(JSON.stringify([key, properties])).update(message.content);
      take(message);
      if (--left === 0) done.abort();
    },
    { noAck: true },
  );
  if (!done.signal.aborted) await once(done.signal, 'abort');
  await channel.cancel(consumerTag);
  return hash.digest('hex');
}

/** What a message was published with. */
export function sentOf({ fields, properties }) {
  const given = Object.entries(properties).filter(([name, value]) => value !== undefined && name !== 'headers');
  return { key: fields.routingKey, properties: Object.fromEntries(given) };
}
