import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

type Fields = Readonly<Record<string, unknown>>;

/** The codec of amqplib, which is no part of what the library promises: it has no types, and no name to import it by. */
interface Codec {
  readonly decodeFrame: (frame: object) => Frame;
  readonly parseFrame: (bytes: Buffer, most: number) => false | { readonly rest: Buffer };
  readonly makeBodyFrame: (channel: number, content: Buffer) => Buffer;
  readonly info: (id: number) => { readonly id: number; readonly name: string };
  readonly encodeMethod: (id: number, channel: number, fields: Fields) => Buffer;
  readonly encodeProperties: (id: number, channel: number, size: number, fields: Fields) => Buffer;
  readonly [method: string]: unknown;
}

interface Frame {
  readonly id?: number;
  readonly channel: number;
  readonly size?: number;
  readonly fields?: Fields;
  readonly content?: Buffer;
}

const require = createRequire(import.meta.url);
const lib = join(dirname(require.resolve('amqplib')), 'lib');
const codec: Codec = { ...require(join(lib, 'defs.js')), ...require(join(lib, 'frame.js')) };

const BASIC = 60;

/** What a client has asked for: the name of a method of AMQP 0-9-1, such as `QueueBind`, and its fields. */
export interface Asked {
  readonly name: string;
  readonly fields: Fields;
}

/** A message that a client has published. */
export interface Published extends Asked {
  readonly properties: Fields;
  readonly text: string;
}

/** What a broker answers in place of what it would; undefined: what it would; null: nothing. */
export type Answer = (
  asked: Asked,
) => readonly [name: string, fields: Fields, channel?: number | undefined] | null | undefined;

const ANSWERS: Readonly<Record<string, readonly [string, Fields]>> = {
  ConnectionStartOk: ['ConnectionTune', { channelMax: 100, frameMax: 131_072, heartbeat: 60 }],
  ConnectionOpen: ['ConnectionOpenOk', {}],
  ConnectionClose: ['ConnectionCloseOk', {}],
  ChannelOpen: ['ChannelOpenOk', {}],
  ChannelClose: ['ChannelCloseOk', {}],
  ConfirmSelect: ['ConfirmSelectOk', {}],
  ExchangeDeclare: ['ExchangeDeclareOk', {}],
  QueueDeclare: ['QueueDeclareOk', { queue: 'made.up', messageCount: 0, consumerCount: 0 }],
  QueueBind: ['QueueBindOk', {}],
  BasicQos: ['BasicQosOk', {}],
  BasicConsume: ['BasicConsumeOk', { consumerTag: 'c' }],
};

/**
 * A broker in this process that does as a test says, on a real socket: what RabbitMQ does in its own time, and what it does
 * only when it is not well. It knows no queues; what it is asked is kept, and what it sends is told.
 */
export class ScriptedBroker {
  readonly asked: Asked[] = [];
  readonly published: Published[] = [];
  connections = 0;
  answer: Answer = () => undefined;
  private socket: Socket | undefined;
  private readonly sockets = new Set<Socket>();
  private coming: Asked | undefined;
  private properties: Fields = {};
  private text: Buffer[] = [];

  private constructor(
    private readonly server: Server,
    encrypted: boolean,
  ) {
    server.on('tlsClientError', () => undefined);
    server.on(encrypted ? 'secureConnection' : 'connection', (socket) => this.serve(socket));
  }

  /** `identity`: its certificate and key in PEM; plain TCP when not given. */
  static async listen(identity?: { readonly cert: string; readonly key: string }): Promise<ScriptedBroker> {
    const server = identity === undefined ? createServer() : createTlsServer(identity);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ScriptedBroker(server, identity !== undefined);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The names of what was asked, in its order. */
  get names(): readonly string[] {
    return this.asked.map(({ name }) => name);
  }

  /** The fields of what was asked by a name. */
  fieldsOf(name: string): readonly Fields[] {
    return this.asked.filter((asked) => asked.name === name).map(({ fields }) => fields);
  }

  /** Sends a method to whoever is connected last. */
  send(name: string, fields: Fields, channel = 1): void {
    this.socket?.write(codec.encodeMethod(codec[name] as number, channel, fields));
  }

  /** Delivers a message to the one consumer. */
  deliver(deliveryTag: number, routingKey: string, text: string): void {
    this.send('BasicDeliver', { consumerTag: 'c', deliveryTag, redelivered: false, exchange: 'x', routingKey });
    const content = Buffer.from(text);
    this.socket?.write(codec.encodeProperties(BASIC, 1, content.length, {}));
    this.socket?.write(codec.makeBodyFrame(1, content));
  }

  cut(): void {
    this.socket?.destroy();
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private serve(socket: Socket): void {
    this.connections++;
    this.socket = socket;
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    let bytes = Buffer.alloc(0);
    let begun = false;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (!begun) {
        begun = true;
        // Its first words are the name of the protocol.
        bytes = bytes.subarray(8);
        const says = { mechanisms: Buffer.from('PLAIN'), locales: Buffer.from('en_US'), serverProperties: {} };
        this.send('ConnectionStart', { versionMajor: 0, versionMinor: 9, ...says }, 0);
      }
      for (let frame = codec.parseFrame(bytes, 0); frame !== false; frame = codec.parseFrame(bytes, 0)) {
        bytes = Buffer.from(frame.rest);
        this.take(codec.decodeFrame(frame));
      }
    });
  }

  private take({ id, channel, size, fields = {}, content }: Frame): void {
    if (content !== undefined) this.text.push(content);
    else if (id === BASIC) this.properties = { ...fields, size };
    else if (id !== undefined) this.takeMethod({ name: codec.info(id).name, fields }, channel);
    const { coming, properties, text } = this;
    const whole = Buffer.concat(text);
    if (coming === undefined || whole.length !== properties.size) return;
    this.published.push({ ...coming, properties, text: whole.toString() });
    [this.coming, this.properties, this.text] = [undefined, {}, []];
  }

  private takeMethod(asked: Asked, channel: number): void {
    this.asked.push(asked);
    if (asked.name === 'BasicPublish') this.coming = asked;
    const own = this.answer(asked);
    const given = own === undefined ? ANSWERS[asked.name] : own;
    if (given) this.send(given[0], given[1], given[2] ?? channel);
  }
}
