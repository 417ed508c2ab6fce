import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The way to a database, on which everything that clients send is read. */
export interface SqlGate {
  readonly url: string;
  /** Each text that was sent, once, in the order of its first use. */
  readonly statements: ReadonlySet<string>;
  /** Those among them that did not come through. */
  readonly refused: ReadonlySet<string>;
  close(): Promise<void>;
}

/** What comes through in place of a command that is refused: the database fails it, and stays in step with its client. */
const REFUSAL = `DO $$ BEGIN RAISE feature_not_supported USING MESSAGE = 'not supported yet'; END $$`;

/** Opens a way to a database that does not know some commands, as another database that speaks its protocol may not. */
export async function sqlGate(address: string, refuses: RegExp): Promise<SqlGate> {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  const statements = new Set<string>();
  const refused = new Set<string>();
  const passed = (command: string): string => {
    if (!refuses.test(command)) return command;
    refused.add(command.trim());
    return REFUSAL;
  };
  const read = (text: string, isSimple: boolean): string => {
    statements.add(text);
    return isSimple ? text.split(';').map(passed).join(';') : passed(text);
  };
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    const messages = new Messages(read);
    near.on('data', (bytes) => far.write(messages.take(bytes)));
    near.on('end', () => far.end());
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(address);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    statements,
    refused,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** What a client of PostgreSQL sends: a first message without a type, then a type, a length and a body each. */
class Messages {
  private waiting = Buffer.alloc(0);
  private isFirst = true;

  constructor(private readonly read: (text: string, isSimple: boolean) => string) {}

  /** The messages that are complete by now, as they are to be sent on. */
  take(bytes: Buffer): Buffer {
    this.waiting = Buffer.concat([this.waiting, bytes]);
    const out: Buffer[] = [];
    for (;;) {
      const head = this.isFirst ? 0 : 1;
      if (this.waiting.length < head + 4) break;
      const end = head + this.waiting.readInt32BE(head);
      if (this.waiting.length < end) break;
      const message = this.waiting.subarray(0, end);
      out.push(this.isFirst ? message : this.readMessage(message));
      this.waiting = this.waiting.subarray(end);
      this.isFirst = false;
    }
    return Buffer.concat(out);
  }

  private readMessage(message: Buffer): Buffer {
    const type = String.fromCharCode(message[0] ?? 0);
    if (type !== 'Q' && type !== 'P') return message;
    // The text of a statement that is prepared stands after its name, and before the types of its values.
    const from = type === 'Q' ? 5 : message.indexOf(0, 5) + 1;
    const to = message.indexOf(0, from);
    const text = message.toString('utf8', from, to);
    const passed = this.read(text, type === 'Q');
    if (passed === text) return message;
    const body = Buffer.concat([message.subarray(5, from), Buffer.from(passed), message.subarray(to)]);
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  }
}
