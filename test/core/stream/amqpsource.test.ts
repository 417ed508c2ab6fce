import { randomUUID } from 'node:crypto';
import { type AddressInfo, connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { readBroker } from '../../../src/core/stream/amqpaddress.ts';
import { AmqpSource, type AmqpStreamOptions } from '../../../src/core/stream/amqpsource.ts';
import { follow } from '../../../src/core/stream/follow.ts';
import { DEFAULT_RETRY } from '../../../src/core/transport/retry.ts';
import { testBroker } from '../../support/services.ts';
import { messageOf } from './messages.ts';

const address = await testBroker();
const exchange = `molar-test-${randomUUID()}`;
const names: string[] = [];

/** A way to the broker that can be cut. */
let way: Server;
const sockets = new Set<Socket>();
let model: ChannelModel;
let channel: ConfirmChannel;

function nameOf(): string {
  const name = `test-${randomUUID()}`;
  names.push(name);
  return name;
}

async function publish(...ids: number[]) {
  for (const id of ids) publishText(messageOf(id).routingKey, JSON.stringify(messageOf(id)));
  await channel.waitForConfirms();
}

function publishText(key: string, text: string) {
  channel.publish(exchange, key, Buffer.from(text));
}

function cut() {
  for (const socket of sockets) socket.destroy();
}

function question(more: Partial<AmqpStreamOptions> = {}): AmqpStreamOptions {
  const url = new URL(address ?? '');
  url.port = String((way.address() as AddressInfo).port);
  url.hostname = '127.0.0.1';
  const broker = readBroker(url.href, { allowHttp: false, password: undefined });
  return { broker, exchange, keys: [], name: undefined, certificates: [], onForeign: () => undefined, ...more };
}

/** Listens until so many messages are handled, or those that are wanted; `onOpened` after each connection, `onMessage` before one is handled. */
async function listen(
  source: AmqpSource,
  count: number | ((ids: readonly number[]) => boolean),
  more: { onOpened?: () => unknown; onMessage?: (id: number) => unknown; maxRetries?: number } = {},
): Promise<number[]> {
  const ids: number[] = [];
  const following = {
    ...{ clock: systemClock, random: () => 0.1, policy: DEFAULT_RETRY, maxRetries: more.maxRetries ?? 20 },
    signal: new AbortController().signal,
  };
  for await (const item of follow(source, following)) {
    if (item.kind === 'opened') await more.onOpened?.();
    if (item.kind !== 'message') continue;
    await more.onMessage?.(item.message.id);
    item.handled();
    ids.push(item.message.id);
    if (typeof count === 'number' ? ids.length === count : count(ids)) break;
  }
  return ids;
}

describe('listening to a broker', () => {
  beforeEach(({ skip }) => {
    if (address === undefined) skip('no broker answers');
  });

  beforeAll(async () => {
    if (address === undefined) return;
    const { hostname, port } = new URL(address);
    way = createServer((near) => {
      const far = connectSocket(Number(port || 5672), hostname);
      for (const socket of [near, far]) {
        sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => [near, far].map((each) => each.destroy()));
      }
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve));
    model = await connect(address);
    channel = await model.createConfirmChannel();
    await channel.assertExchange(exchange, 'topic', { durable: true });
  });

  afterAll(async () => {
    if (address === undefined) return;
    for (const name of names) await channel.deleteQueue(`molar.${name}`);
    await channel.deleteExchange(exchange);
    await model.close();
    cut();
    await new Promise((resolve) => way.close(resolve));
  });

  it('hears what comes from now on, in order', async () => {
    await publish(1);
    const ids = await listen(new AmqpSource(question()), 3, { onOpened: () => publish(2, 3, 4) });
    expect(ids).toEqual([2, 3, 4]);
  });

  it('hears what fits its keys', async () => {
    const keys = ['*.*.DocumentV1.#', 'org-1.5.PatientV1.DELETE'];
    const onOpened = async () => {
      const fitting = [messageOf(2, { operation: 'DELETE' }), messageOf(3, { domainType: 'DocumentV1' })];
      for (const each of [messageOf(1), ...fitting]) publishText(each.routingKey, JSON.stringify(each));
    };
    expect(await listen(new AmqpSource(question({ keys })), 2, { onOpened })).toEqual([2, 3]);
  });

  it('with a name hears what came while it was away, and nothing twice that it handled', async () => {
    const name = nameOf();
    expect(await listen(new AmqpSource(question({ name })), 2, { onOpened: () => publish(1, 2, 3) })).toEqual([1, 2]);
    await publish(4);
    expect(await listen(new AmqpSource(question({ name })), 2)).toEqual([3, 4]);
  });

  it('with a name and other keys hears what fits the new ones only', async () => {
    const name = nameOf();
    const key = '*.*.PatientV1.*';
    await listen(new AmqpSource(question({ name, keys: [key] })), 1, { onOpened: () => publish(1) });
    const document = messageOf(3, { domainType: 'DocumentV1' });
    const onOpened = async () => {
      await publish(2);
      publishText(document.routingKey, JSON.stringify(document));
    };
    expect(await listen(new AmqpSource(question({ name, keys: ['*.*.DocumentV1.*'] })), 1, { onOpened })).toEqual([3]);
  });

  it('connects again, and hears once more what it had not handled by then', async () => {
    let connections = 0;
    const onOpened = () => (connections++ === 0 ? publish(1, 2, 3) : undefined);
    const onMessage = (id: number) => {
      if (id === 2 && connections === 1) cut();
    };
    const source = new AmqpSource(question({ name: nameOf() }));
    const ids = await listen(source, (seen) => connections === 2 && seen.at(-1) === 3, { onOpened, onMessage });
    expect(connections).toBe(2);
    expect([...new Set(ids)]).toEqual([1, 2, 3]);
    // The second was handled while the connection was down, so the broker cannot know.
    expect(ids.filter((id) => id === 2)).toEqual([2, 2]);
  });

  it('takes no more than a hundred messages that it has not handled', async () => {
    const name = nameOf();
    const queue = `molar.${name}`;
    await listen(new AmqpSource(question({ name })), 1, { onOpened: () => publish(1) });
    const ids = Array.from({ length: 130 }, (_, at) => at + 2);
    await publish(...ids);
    const left: number[] = [];
    const onMessage = async (id: number) => {
      if (id > 4) return;
      // As many as were handled and acknowledged come in their place.
      const expected = 30 - (id - 2);
      await expect.poll(async () => (await channel.checkQueue(queue)).messageCount).toBe(expected);
      left.push(expected);
    };
    expect(await listen(new AmqpSource(question({ name })), 130, { onMessage })).toEqual(ids);
    expect([left, (await channel.checkQueue(queue)).messageCount]).toEqual([[30, 29, 28], 0]);
  });

  it('drops what is no message, and says so', async () => {
    const foreign: string[] = [];
    const onOpened = async () => {
      publishText('org-1.5.PatientV1.ODD', 'no JSON');
      await publish(2);
    };
    const source = new AmqpSource(question({ onForeign: (key) => foreign.push(key) }));
    expect(await listen(source, 1, { onOpened })).toEqual([2]);
    expect(foreign).toEqual(['org-1.5.PatientV1.ODD']);
  });

  it('refuses a second listener of the same name', async () => {
    const name = nameOf();
    const second = () => listen(new AmqpSource(question({ name })), 1);
    const onOpened = async () => {
      await expect(second()).rejects.toMatchObject({ code: 'stream.broker', exitCode: 9 });
      await publish(1);
    };
    expect(await listen(new AmqpSource(question({ name })), 1, { onOpened })).toEqual([1]);
  });

  it.each<[string, () => Partial<AmqpStreamOptions>, number]>([
    ['an exchange that is not there', () => ({ exchange: 'molar-test-none' }), 4],
    [
      'a wrong password',
      () => ({ broker: { ...question().broker, url: question().broker.url.replace(/:[^:@/]*@/, ':wrong-one@') } }),
      3,
    ],
  ])('ends for good on %s', async (_name, more, exitCode) => {
    const failure = await listen(new AmqpSource(question(more())), 1).catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ code: 'stream.broker', exitCode });
    expect(String(failure)).not.toContain('wrong-one');
  });

  it('fails after its retries where no broker is', async () => {
    const broker = readBroker('amqp://u:hidden@127.0.0.1:1/', { allowHttp: false, password: undefined });
    const failure = await listen(new AmqpSource(question({ broker })), 1, { maxRetries: 1 }).catch(
      (cause: unknown) => cause,
    );
    expect(failure).toMatchObject({
      code: 'stream.broker',
      exitCode: 8,
      message: '127.0.0.1:1: connection refused.',
    });
  });
});
