import { randomUUID } from 'node:crypto';
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net';
import { connect } from 'amqplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testBroker } from '../support/services.ts';
import { molarIn } from './inprocess.ts';
import { connection, PATIENT, serve, workplace, writeFixture } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, 3);
});

afterAll(() => place?.remove());

describe('molar serve --amqp', () => {
  it('brings what changed to the exchange, before and after the server was down', {
    timeout: 60_000,
  }, async (context) => {
    const broker = await testBroker();
    if (broker === undefined) return context.skip('needs a broker');
    const exchange = `molar-test-${randomUUID()}`;
    const address = new URL(broker);
    const args = ['--data', 'data', '--log-level', 'silent', '--amqp', `${address.href}?exchange=${exchange}`];
    const model = await connect(broker);
    const channel = await model.createChannel();
    await channel.assertExchange(exchange, 'topic', { durable: true });
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, exchange, '*.*.PatientV1.*');
    const received: Record<string, unknown>[] = [];
    await channel.consume(queue, (message) => received.push(JSON.parse(message?.content.toString() ?? '{}')), {
      noAck: true,
    });
    const until = async (count: number) => {
      while (received.length < count) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    try {
      const first = await serve(place.path, ['--import', 'fixture.ndjson', ...args]);
      await until(3);
      const env = connection(first.url);
      await molarIn(place.path, ['patients', 'update', String(PATIENT), '--city', 'Denver'], env);
      await until(4);
      await first.stop();
      const second = await serve(place.path, args);
      await molarIn(place.path, ['patients', 'update', String(PATIENT), '--city', 'Provo'], connection(second.url));
      await until(5);
      const metrics = await (await fetch(`${second.url}/metrics`)).text();
      await second.stop();
      expect(received.map(({ operation }) => operation)).toEqual(['CREATE', 'CREATE', 'CREATE', 'UPDATE', 'UPDATE']);
      expect(received.slice(3).map(({ payload }) => payload)).toEqual([
        { id: PATIENT, city: 'Denver', lastModified: expect.any(String) },
        { id: PATIENT, city: 'Provo', lastModified: expect.any(String) },
      ]);
      const ids = received.map(({ id }) => Number(id));
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      expect(metrics).toMatch(/^molar_relay_connected 1$/m);
      expect(metrics).toMatch(/^molar_relay_lag_messages \d+$/m);
    } finally {
      await channel.deleteExchange(exchange);
      await model.close();
    }
  });

  it('stops although the broker has fallen silent', async (context) => {
    const broker = await testBroker();
    if (broker === undefined) return context.skip('needs a broker');
    const exchange = `molar-test-${randomUUID()}`;
    let silent = false;
    const wire = createServer((near) => {
      const far = connectSocket(Number(new URL(broker).port || 5672), new URL(broker).hostname);
      for (const [from, to] of [[near, far] as const, [far, near] as const]) {
        from.on('error', () => {}).on('close', () => to.destroy());
        from.on('data', (bytes) => !silent && to.write(bytes));
      }
    });
    await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve));
    const address = new URL(broker);
    address.host = `127.0.0.1:${(wire.address() as AddressInfo).port}`;
    const relayed = async (url: string) =>
      /^molar_relay_messages_total (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
    try {
      const args = ['--data', 'silent', '--log-level', 'silent', '--amqp', `${address.href}?exchange=${exchange}`];
      const served = await serve(place.path, ['--import', 'fixture.ndjson', ...args]);
      while ((await relayed(served.url)) === '0') await new Promise((resolve) => setTimeout(resolve, 20));
      silent = true;
      await molarIn(place.path, ['patients', 'update', String(PATIENT), '--city', 'Salem'], connection(served.url));
      expect(await served.stop()).toBe(0);
    } finally {
      wire.close();
      const model = await connect(broker);
      await (await model.createChannel()).deleteExchange(exchange);
      await model.close();
    }
  });

  it('starts while the broker is away, and refuses what is no broker', async () => {
    const served = await serve(place.path, ['--data', 'away', '--log-level', 'silent', '--amqp', 'amqp://127.0.0.1:9']);
    const metrics = await (await fetch(`${served.url}/metrics`)).text();
    expect(await served.stop()).toBe(0);
    expect(metrics).toMatch(/^molar_relay_connected 0$/m);
    for (const bad of ['http://user:secret@127.0.0.1/', 'amqp://user:secret@127.0.0.1/%zz', 'secret', '']) {
      const refused = await molarIn(place.path, ['serve', '--data', 'other', '--amqp', bad]);
      expect([bad, refused.code]).toEqual([bad, 2]);
      expect(refused.stderr).toContain('--amqp takes amqp://');
      expect(refused.stderr).not.toContain('secret');
    }
  });
});
