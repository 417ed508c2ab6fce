import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBroker, relayTarget } from '../../../../src/server/stream/relay/broker.ts';
import { type Published, ScriptedBroker } from '../../../support/scriptedbroker.ts';

describe('relayTarget', () => {
  it.each([
    ['amqp://127.0.0.1', 'amqp://127.0.0.1', 'molar.stream', '127.0.0.1:5672 /'],
    [
      'amqp://u:p@mq.example.com:5673/prod',
      'amqp://u:p@mq.example.com:5673/prod',
      'molar.stream',
      'mq.example.com:5673 prod',
    ],
    ['amqps://mq.example.com/a%2Fb', 'amqps://mq.example.com/a%2Fb', 'molar.stream', 'mq.example.com:5671 a/b'],
    ['amqp://h/?exchange=practice&heartbeat=5', 'amqp://h/?heartbeat=5', 'practice', 'h:5672 /'],
  ])('reads %s', (text, url, exchange, name) => {
    expect(relayTarget(text)).toEqual({ url, exchange, name });
  });

  it.each([
    'http://127.0.0.1',
    'amqp:',
    'rabbit',
    '',
    'amqp://h/?exchange=amq.topic',
    'amqp://h/?exchange=',
    'amqp://h/?exchange=a%20b',
    'amqp://h/%zz',
    'amqp://h/%ff',
    `amqp://h/${'x'.repeat(256)}`,
    'amqp://a%20b/',
    'amqp:///vhost',
    'amqp://h:99999/',
    'amqp://h/?heartbeat=soon',
    'amqp://h/?frameMax=-1',
    'amqp://h/?channelMax=',
  ])('takes no %j', (text) => {
    expect(relayTarget(text)).toBeUndefined();
  });
});

describe('openBroker', () => {
  let broker: ScriptedBroker;
  let cut: AbortController;
  beforeEach(async () => {
    broker = await ScriptedBroker.listen();
    cut = new AbortController();
  });
  afterEach(async () => {
    cut.abort();
    await broker.close();
  });

  const open = (query = '') => {
    const url = `amqp://127.0.0.1:${broker.port}/${query}`;
    return openBroker({ url, exchange: 'molar.stream', name: 'scripted' }, cut.signal);
  };
  const message = (number: number, text = '{"é":1}') => ({
    ...{ number, text, operation: 'CREATE', routingKey: 'org-1.5.PatientV1.CREATE' },
  });
  const asked = (name: string) => expect.poll(() => broker.names).toContain(name);

  it('publishes to an exchange that lasts what lasts, and tells what the broker has', async () => {
    const { publish, broken, close } = await open();
    expect(broker.fieldsOf('ExchangeDeclare')).toMatchObject([
      { exchange: 'molar.stream', type: 'topic', durable: true, autoDelete: false, passive: false },
    ]);
    const settled: (string | boolean)[] = [];
    for (const number of [7, 8, 9]) publish(message(number), (taken) => settled.push(`${number} ${taken}`));
    await expect.poll(() => broker.published.length).toBe(3);
    const { fields, properties, text } = broker.published[0] as Published;
    expect([fields.exchange, fields.routingKey, text]).toEqual(['molar.stream', 'org-1.5.PatientV1.CREATE', '{"é":1}']);
    expect(properties).toMatchObject({
      // 2: the broker keeps it over a restart.
      ...{ deliveryMode: 2, contentType: 'application/json', contentEncoding: 'utf-8' },
      ...{ messageId: 'org-1.7', type: 'CREATE', appId: 'molar' },
    });
    broker.send('BasicNack', { deliveryTag: 2, multiple: false, requeue: false });
    broker.send('BasicAck', { deliveryTag: 3, multiple: false });
    broker.send('BasicAck', { deliveryTag: 1, multiple: false });
    await expect.poll(() => settled).toEqual(['8 false', '9 true', '7 true']);
    expect(broken.aborted).toBe(false);
    await close();
    await asked('ConnectionClose');
  });

  it.each([
    ['', 10],
    ['?heartbeat=5', 5],
  ])('asks for a heartbeat that tells when the broker is gone: %j', async (query, heartbeat) => {
    await open(query);
    expect(broker.fieldsOf('ConnectionTuneOk')).toMatchObject([{ heartbeat }]);
  });

  const reply = { replyText: 'GONE', classId: 0, methodId: 0 };
  it.each<[string, () => void, RegExp]>([
    ['closes the channel', () => broker.send('ChannelClose', { ...reply, replyCode: 404 }), /404.*GONE/],
    ['closes the connection', () => broker.send('ConnectionClose', { ...reply, replyCode: 320 }, 0), /320.*GONE/],
    ['is cut off', () => broker.cut(), /close/],
  ])('is broken when the broker %s', async (_name, end, why) => {
    const { broken, close } = await open();
    end();
    await expect.poll(() => broken.aborted).toBe(true);
    expect(broken.reason).toBeInstanceOf(Error);
    expect(String(broken.reason)).toMatch(why);
    await close();
  });

  it('says why it is closed in the turn in which it gives up what is unconfirmed', async () => {
    const { publish, broken, close } = await open();
    broker.answer = ({ name }) => (name === 'BasicPublish' ? null : undefined);
    const given = new Promise<[boolean, string]>((resolve) => {
      publish(message(7), (taken) => queueMicrotask(() => resolve([taken, String(broken.reason)])));
    });
    await expect.poll(() => broker.published.length).toBe(1);
    broker.send('ConnectionClose', { ...reply, replyCode: 320 }, 0);
    expect(await given).toEqual([false, expect.stringMatching(/320.*GONE/)]);
    await close();
  });

  it('has no room for more than a little at once, until that is sent, or the connection is gone', async () => {
    const { publish, drained, broken } = await open();
    const before = getEventListeners(broken, 'abort');
    const waiting = () => {
      while (publish(message(1, 'x'.repeat(10_000)), () => undefined));
      const state = { over: false };
      void drained().then(() => {
        state.over = true;
      });
      return state;
    };
    const [first, turn] = [waiting(), new Promise(process.nextTick)];
    await turn;
    expect(first.over).toBe(false);
    await expect.poll(() => first.over).toBe(true);
    // There may be many such waits on one connection.
    expect(getEventListeners(broken, 'abort')).toEqual(before);
    const second = waiting();
    cut.abort();
    await new Promise(process.nextTick);
    expect(second.over).toBe(true);
    // Whoever asks later does not wait, either.
    await drained();
  });

  it('leaves no connection behind when the exchange is another one', async () => {
    const refusal = { replyCode: 406, replyText: 'PRECONDITION_FAILED', classId: 40, methodId: 10 };
    broker.answer = ({ name }) => (name === 'ExchangeDeclare' ? ['ChannelClose', refusal] : undefined);
    await expect(open()).rejects.toThrow('406');
    await asked('ConnectionClose');
  });

  it.each(['ChannelOpen', 'ExchangeDeclare', 'ConnectionClose'])(
    'is cut off from what does not answer %s',
    async (name) => {
      broker.answer = (given) => (given.name === name ? null : undefined);
      const opening = open().then(({ close }) => close());
      opening.catch(() => undefined);
      await asked(name);
      cut.abort();
      if (name === 'ConnectionClose') await opening;
      else await expect(opening).rejects.toThrow();
    },
  );

  it.each(['amqp', 'amqps'])('is cut off from what never answers (%s)', async (protocol) => {
    const silent = createServer((socket) => socket.on('error', () => {}).resume());
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const url = `${protocol}://127.0.0.1:${port}`;
    const opening = openBroker({ url, exchange: 'molar.stream', name: 'silent' }, cut.signal);
    const [socket] = await once(silent, 'connection');
    const closed = once(socket, 'close');
    cut.abort();
    await expect(opening).rejects.toThrow();
    await closed;
    silent.close();
  });
});
