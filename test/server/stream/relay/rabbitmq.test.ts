import { type AddressInfo, connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { type ConsumeMessage, connect, type MessageProperties } from 'amqplib';
import sql from 'sql-template-tag';
import { afterAll, describe, expect } from 'vitest';
import type { StreamMessage } from '../../../../src/catalog/stream/messages.ts';
import { appendMessage } from '../../../../src/server/stream/outbox.ts';
import { relayTarget } from '../../../../src/server/stream/relay/broker.ts';
import { Relay } from '../../../../src/server/stream/relay/relay.ts';
import type { Stream } from '../../../../src/server/stream/stream.ts';
import { brokerTest } from '../../../support/broker.ts';
import { sharedService } from '../../../support/service.ts';
import { messageBy } from '../writing.ts';

/** In four parts, each of more than are in flight at once. */
const CHANGES = 2400;
const QUEUE = 'all';

/** Passes bytes on, and cuts every connection when it is told to. */
class Wire {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  constructor(port: number) {
    this.server = createServer((socket) => {
      const other = connectSocket(port, '127.0.0.1');
      for (const each of [socket, other]) {
        this.sockets.add(each);
        each
          .on('error', () => undefined)
          .on('close', () => {
            this.sockets.delete(each);
            socket.destroy();
            other.destroy();
          });
      }
      socket.pipe(other).pipe(socket);
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as AddressInfo).port;
  }

  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  close(): void {
    this.cut();
    this.server.close();
  }
}

describe('Relay to RabbitMQ', () => {
  const service = sharedService();
  let wire: Wire | undefined;

  afterAll(() => wire?.close());

  brokerTest(
    'accounts for each of 2,400 changes over cut connections and a restart of the broker',
    240_000,
    async (broker) => {
      const url = new URL(broker.url);
      const cable = new Wire(Number(url.port));
      wire = cable;
      const target = relayTarget(`amqp://guest:guest@127.0.0.1:${await cable.listen()}/`);
      if (target === undefined) throw new Error('no target');
      await bindQueue(broker.url, target.exchange);
      await broker.settle();
      const failures: string[] = [];
      const events = { connected: () => {}, failed: (_target: string, reason: string) => failures.push(reason) };
      const relay = await Relay.start(service.service, target, events);
      const quarter = CHANGES / 4;
      await write(quarter);
      cable.cut();
      await write(quarter);
      await broker.restart(async () => {
        cable.cut();
        await write(quarter);
      });
      await write(quarter);
      cable.cut();
      const { stream } = service.service;
      await stream.refresh();
      while (relay.lag > 0) await new Promise((resolve) => setTimeout(resolve, 50));
      await relay.stop();
      const expected = await allMessages(stream);
      const received = await drain(broker.url);
      const first = new Map<string, string>();
      for (const { id, text } of received) if (!first.has(id)) first.set(id, text);
      // In order within each organization; they take turns.
      expect(byOrganization([...first].map(([id, text]) => ({ id, text })))).toEqual(byOrganization(expected));
      expect(expected.length).toBeGreaterThanOrEqual(CHANGES);
      expect(failures.length).toBeGreaterThan(0);
      for (const { text, properties } of received) {
        const { organizationId, id, operation } = JSON.parse(text) as StreamMessage;
        expect(properties).toMatchObject({
          ...{ contentType: 'application/json', contentEncoding: 'utf-8', appId: 'molar', type: operation },
          // 2: the broker keeps it over a restart.
          ...{ deliveryMode: 2, messageId: `${organizationId}.${id}` },
        });
      }
    },
  );

  async function write(count: number): Promise<void> {
    const { store } = service.service;
    const org = await store.read.get<{ org: number; id: string }>(sql`SELECT org, id FROM organizations LIMIT 1`);
    if (org === undefined || org === null) throw new Error('no organization');
    for (let left = count; left > 0; left -= 100) {
      await store.write(async (tx) => {
        for (let at = 0; at < 100; at++) {
          const payload = JSON.stringify({ id: at, type: 'PatientV1', lastName: 'Example '.repeat(20) });
          await appendMessage(tx, messageBy(org, { sendTime: service.clock.text(), payload }));
        }
      });
    }
  }
});

/** A durable queue that is bound before anything is relayed. */
async function bindQueue(url: string, exchange: string): Promise<void> {
  const connection = await connect(url);
  const channel = await connection.createChannel();
  await channel.assertExchange(exchange, 'topic', { durable: true });
  await channel.assertQueue(QUEUE, { durable: true });
  await channel.bindQueue(QUEUE, exchange, '#');
  await connection.close();
}

function byOrganization(messages: readonly { id: string; text: string }[]) {
  const organization = ({ id }: { id: string }) => id.split('.')[0] ?? '';
  return messages.toSorted((a, b) => organization(a).localeCompare(organization(b)));
}

/** Every message by the name that the broker has of it: its organization, and its number there. */
async function allMessages(stream: Stream): Promise<{ id: string; text: string }[]> {
  const all: { id: string; text: string }[] = [];
  for (const { org } of stream.heads.values()) {
    for (let after = 0; ; ) {
      const { messages } = await stream.readMessages({ org }, after, 500);
      for (const { text } of messages) {
        const { organizationId, id } = JSON.parse(text) as { organizationId: string; id: number };
        all.push({ id: `${organizationId}.${id}`, text });
      }
      if (messages.length === 0) break;
      after = messages.at(-1)?.number ?? after;
    }
  }
  return all;
}

/** Everything in the queue, in order. */
async function drain(url: string): Promise<{ id: string; text: string; properties: MessageProperties }[]> {
  const connection = await connect(url);
  const channel = await connection.createChannel();
  const received: Awaited<ReturnType<typeof drain>> = [];
  const { messageCount } = await channel.checkQueue(QUEUE);
  await new Promise<void>((drained, failed) => {
    const take = (message: ConsumeMessage | null) => {
      if (message === null) return failed(new Error('The queue is gone.'));
      const { properties, content } = message;
      if (received.push({ id: String(properties.messageId), text: content.toString(), properties }) === messageCount)
        drained();
    };
    if (messageCount === 0) drained();
    else channel.consume(QUEUE, take, { noAck: true }).catch(failed);
  });
  await connection.close();
  return received;
}
