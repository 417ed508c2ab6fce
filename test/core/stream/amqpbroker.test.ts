import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { localFailure } from '../../../src/core/failure.ts';
import { readBroker } from '../../../src/core/stream/amqpaddress.ts';
import { AmqpSource, type AmqpStreamOptions } from '../../../src/core/stream/amqpsource.ts';
import { ConnectionLost, type StreamItem } from '../../../src/core/stream/source.ts';
import { AUTHORITY, CertificateFolder, hasOpenssl, SERVER } from '../../support/certificates.ts';
import { ScriptedBroker } from '../../support/scriptedbroker.ts';
import { messageOf } from './messages.ts';

let broker: ScriptedBroker;
let stop: AbortController;
let foreign: string[];
beforeEach(async () => {
  broker = await ScriptedBroker.listen();
  stop = new AbortController();
  foreign = [];
});
afterEach(() => broker.close());

function sourceOf(more: Partial<AmqpStreamOptions> = {}, protocol = 'amqp', query = ''): AmqpSource {
  const text = `${protocol}://user:hidden@127.0.0.1:${broker.port}/${query}`;
  return new AmqpSource({
    ...{ broker: readBroker(text, { allowHttp: false, password: undefined }), exchange: 'practice', keys: [] },
    ...{ name: undefined, certificates: [], onForeign: (key: string) => foreign.push(key), ...more },
  });
}

const acks = () => broker.fieldsOf('BasicAck').map(({ deliveryTag }) => deliveryTag);
const reply = (replyCode: number, replyText: string) => ({ replyCode, replyText, classId: 0, methodId: 0 });

/** One connection: what it gives goes to `take`; resolves with what it ends with. */
async function connect(source: AmqpSource, take: (item: StreamItem) => unknown = () => undefined): Promise<unknown> {
  try {
    for await (const item of source.connect(stop.signal)) if ((await take(item)) === 'enough') return undefined;
    return undefined;
  } catch (cause) {
    return cause;
  }
}

describe('a listener at a broker', () => {
  const mine = { exclusive: true, autoDelete: true, durable: true };
  const lasting = { exclusive: false, autoDelete: false, durable: true };
  it.each([
    [undefined, [], { ...mine, queue: '' }, ['#']],
    ['mirror', ['a.#', '*.*.PatientV1.*'], { ...lasting, queue: 'molar.mirror' }, ['a.#', '*.*.PatientV1.*']],
  ])(
    'named %s with the keys %j asks for what it needs, and closes what it has opened',
    async (name, keys, queue, bound) => {
      expect(await connect(sourceOf({ name, keys }), () => 'enough')).toBeUndefined();
      expect(broker.names.slice(broker.names.indexOf('ChannelOpen'))).toEqual([
        ...[
          'ChannelOpen',
          'ExchangeDeclare',
          'QueueDeclare',
          ...bound.map(() => 'QueueBind'),
          'BasicQos',
          'BasicConsume',
        ],
        ...['ChannelClose', 'ConnectionClose'],
      ]);
      expect(broker.fieldsOf('ExchangeDeclare')).toMatchObject([{ exchange: 'practice', passive: true }]);
      expect(broker.fieldsOf('QueueDeclare')).toMatchObject([queue]);
      const binding = { queue: 'made.up', exchange: 'practice' };
      expect(broker.fieldsOf('QueueBind')).toMatchObject(bound.map((routingKey) => ({ ...binding, routingKey })));
      expect(broker.fieldsOf('BasicQos')).toMatchObject([{ prefetchCount: 100 }]);
      expect(broker.fieldsOf('BasicConsume')).toMatchObject([{ queue: 'made.up', exclusive: true, noAck: false }]);
    },
  );

  it('acknowledges what is handled, and drops what is no message or was not asked for', async () => {
    const document = messageOf(3, { domainType: 'DocumentV1' });
    const [first, last] = [messageOf(1), messageOf(4)];
    const heard: unknown[] = [];
    const ended = await connect(sourceOf({ keys: ['*.*.PatientV1.*'] }), async (item) => {
      if (item.kind === 'opened') {
        for (const [at, each] of [first, first, document, last].entries())
          broker.deliver(at + 1, each.routingKey, at === 1 ? 'no JSON' : JSON.stringify(each));
        return heard.push(item);
      }
      if (item.kind !== 'message') return undefined;
      heard.push([item.message, item.position]);
      if (item.message.id === 4) return 'enough';
      expect(acks()).toEqual([]);
      return item.handled();
    });
    expect(ended).toBeUndefined();
    expect(heard).toEqual([{ kind: 'opened', position: undefined }, [first, '1'], [last, '4']]);
    // The last one was not handled.
    await expect.poll(acks).toEqual([1, 2, 3]);
    expect(foreign).toEqual([first.routingKey]);
  });

  it('acknowledges nothing on a connection that is gone', async () => {
    let late: () => void = () => undefined;
    const ended = await connect(sourceOf(), async (item) => {
      if (item.kind === 'opened') broker.deliver(1, messageOf(1).routingKey, JSON.stringify(messageOf(1)));
      if (item.kind !== 'message') return;
      late = item.handled;
      broker.cut();
    });
    expect(ended).toBeInstanceOf(ConnectionLost);
    late();
    expect(acks()).toEqual([]);
  });

  it.each<[string, string, readonly [string, object, number?], number, RegExp]>([
    [
      'a wrong password',
      'ConnectionStartOk',
      ['ConnectionClose', reply(403, 'ACCESS_REFUSED - Login was refused'), 0],
      3,
      /rejected user and password\.$/,
    ],
    [
      'an exchange that is not there',
      'ExchangeDeclare',
      ['ChannelClose', reply(404, 'NOT_FOUND - no exchange')],
      4,
      /no exchange practice on/,
    ],
    [
      'an exchange that is not for it',
      'ExchangeDeclare',
      ['ChannelClose', reply(403, 'ACCESS_REFUSED - access')],
      3,
      /refused access: .*403/,
    ],
    [
      'a queue that is another one',
      'QueueDeclare',
      ['ChannelClose', reply(406, 'PRECONDITION_FAILED')],
      5,
      /queue of mirror on .* other properties: .*406/,
    ],
    [
      'a queue in use',
      'BasicConsume',
      ['ChannelClose', reply(403, 'ACCESS_REFUSED - in exclusive use')],
      9,
      /named mirror is running/,
    ],
  ])('ends for good on %s', async (_name, on, [name, fields, channel], exitCode, message) => {
    broker.answer = (asked) => (asked.name === on ? [name, { ...fields }, channel] : undefined);
    const ended = await connect(sourceOf({ name: 'mirror' }));
    expect(ended).toMatchObject({ code: 'stream.broker', exitCode, message: expect.stringMatching(message) });
    expect(String(ended)).not.toContain('hidden');
  });

  it('takes its own queue for that of its broken connection', async () => {
    const source = sourceOf({ name: 'mirror' });
    expect(await connect(source, () => broker.cut())).toBeInstanceOf(ConnectionLost);
    const inUse = ['ChannelClose', reply(403, 'ACCESS_REFUSED - in exclusive use')] as const;
    broker.answer = ({ name }) => (name === 'BasicConsume' ? inUse : undefined);
    expect(await connect(source)).toBeInstanceOf(ConnectionLost);
  });

  it.each<[string, () => void, RegExp]>([
    ['closes the connection', () => broker.send('ConnectionClose', reply(320, 'FORCED'), 0), /: .*320.*FORCED/],
    ['closes the channel', () => broker.send('ChannelClose', reply(541, 'ODD')), /: .*541.*ODD/],
    [
      'deletes the queue',
      () => broker.send('BasicCancel', { consumerTag: 'c', nowait: true }),
      /: The queue was deleted\.$/,
    ],
    ['is cut off', () => broker.cut(), /: Unexpected close$/],
  ])('may connect again when the broker %s', async (_name, end, message) => {
    const ended = await connect(sourceOf(), end);
    expect(ended).toBeInstanceOf(ConnectionLost);
    expect(ended).toMatchObject({ message: expect.stringMatching(message), failure: { exitCode: 8 } });
    expect(String(ended)).toContain(`127.0.0.1:${broker.port}: `);
  });

  it.each(['ChannelOpen', 'QueueDeclare', 'BasicConsume'])(
    'says why the broker closes the connection when it is asked for %s',
    async (on) => {
      broker.answer = ({ name }) => (name === on ? ['ConnectionClose', reply(320, 'FORCED'), 0] : undefined);
      const ended = await connect(sourceOf());
      expect(ended).toBeInstanceOf(ConnectionLost);
      expect(String(ended)).toMatch(/320.*FORCED/);
    },
  );

  it('waits two seconds for each end that the broker does not confirm', async () => {
    broker.answer = ({ name }) => (name.endsWith('Close') ? null : undefined);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const ended = connect(sourceOf(), () => 'enough');
      for (const name of ['ChannelClose', 'ConnectionClose']) {
        await expect.poll(() => broker.names).toContain(name);
        await vi.advanceTimersByTimeAsync(2000);
      }
      expect(await ended).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it('leaves a connection that comes too late', async () => {
    let open = () => {};
    broker.answer = ({ name }) => {
      if (name !== 'ConnectionOpen') return undefined;
      open = () => broker.send('ConnectionOpenOk', {}, 0);
      return null;
    };
    const ended = connect(sourceOf());
    await expect.poll(() => broker.names).toContain('ConnectionOpen');
    const reason = localFailure('run.interrupted', 'Interrupted.');
    stop.abort(reason);
    expect(await ended).toBe(reason);
    open();
    await expect.poll(() => broker.names).toContain('ConnectionClose');
  });
});

describe('a listener at a broker with TLS', () => {
  let folder: string;
  beforeEach(async ({ skip }) => {
    if (!hasOpenssl) skip('needs openssl');
    folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('trusts the certificates that it is given', async () => {
    const made = new CertificateFolder(folder);
    made.make('ca', '/CN=ca', AUTHORITY);
    made.make('broker', '/CN=broker', SERVER, 'ca');
    await broker.close();
    broker = await ScriptedBroker.listen(made.pem('broker'));
    const certificates = [made.pem('ca').cert];
    expect(await connect(sourceOf({ certificates }, 'amqps'), () => 'enough')).toBeUndefined();
    expect(await connect(sourceOf({}, 'amqps'))).toBeInstanceOf(ConnectionLost);
    expect(broker.connections).toBe(1);
  });
});
