import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openBroker, relayTarget } from '../../../../src/server/stream/relay/broker.ts';

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
  it.each(['amqp', 'amqps'])('is cut off from what never answers (%s)', async (protocol) => {
    const silent = createServer((socket) => socket.on('error', () => {}).resume());
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const cut = new AbortController();
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
