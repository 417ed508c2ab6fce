import type { Server, Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { isLoopback } from '../../postgres/loopback.ts';
import { networkOf } from '../http/attempts.ts';
import { Tally } from './tally.ts';

/** Refused connections that are told so at once; more are closed without a word. */
const MAX_TOLD = 64;

/** Milliseconds that a refused connection may take to read why. */
const TELLING_MS = 2000;

/** How a server guards its connections. */
interface Guarding {
  /** Whether one address may have all connections, as the proxy in front of a server does. */
  readonly oneAddress: boolean;
  /** Writes to a refused connection why it is refused, and ends it. */
  readonly tell: (socket: Socket) => void;
  /** Called for each refused connection. */
  readonly refused: () => void;
}

/** `serve`: another process counts it, so that this one need not. */
export type Decision = 'count' | 'serve' | 'refuse';

/** Connections that are open, and whose they are: a quarter at most are of one address, other than this machine's. */
export class ConnectionBudget {
  /** By network of the caller. */
  readonly open = new Tally<string>();
  /** Refused connections of a server with TLS whose handshake is not done: only after it can they be told. */
  private readonly shakingHands = new Set<string>();
  private told = 0;

  /** `decide`: what to do about a connection that another process of the server has accepted. */
  constructor(
    readonly limit: number,
    private readonly decide: (socket: Socket) => Decision = () => 'count',
  ) {}

  /** Counts a connection of an address, until `leave`; false when there is no room for it. `oneAddress` as in `guard`. */
  take(address: string, oneAddress: boolean): boolean {
    const network = networkOf(address);
    const mayHaveAll = oneAddress || isLoopback(address);
    const most = mayHaveAll ? this.limit : Math.max(1, Math.floor(this.limit / 4));
    if (this.open.total >= this.limit || this.open.of(network) >= most) return false;
    this.open.add(network, 1);
    return true;
  }

  leave(address: string): void {
    this.open.add(networkOf(address), -1);
  }

  /** Refuses connections of a server that go over the budget, before anything of them is read as HTTP. */
  guard(server: Server, guarding: Guarding): void {
    const withTls = server instanceof TlsServer;
    intercept(server, 'connection', (socket, serve) => {
      if (this.admit(socket, guarding)) return serve();
      guarding.refused();
      if (this.told >= MAX_TOLD) return socket.destroy();
      const name = nameOf(socket);
      this.told++;
      socket.once('close', () => {
        this.told--;
        this.shakingHands.delete(name);
      });
      if (!withTls) return refuse(socket, guarding);
      this.shakingHands.add(name);
      return serve();
    });
    // A server without TLS has no listener of this, and nothing is put before it.
    intercept(server, 'secureConnection', (socket, serve) =>
      this.shakingHands.has(nameOf(socket)) ? refuse(socket, guarding) : serve(),
    );
  }

  private admit(socket: Socket, { oneAddress }: Guarding): boolean {
    const decision = this.decide(socket);
    if (decision === 'serve') return true;
    // A connection that is closed has no address any more.
    const { remoteAddress: address = '' } = socket;
    if (decision === 'refuse' || !this.take(address, oneAddress)) return false;
    socket.once('close', () => this.leave(address));
    return true;
  }
}

/** Puts `meet` before the listener by which a server serves a connection, and which it calls to do so. */
function intercept(
  server: Server,
  event: 'connection' | 'secureConnection',
  meet: (socket: Socket, serve: () => void) => unknown,
): void {
  for (const serve of server.listeners(event)) {
    server.removeListener(event, serve as () => void);
    server.on(event, (socket: Socket) => meet(socket, () => serve.call(server, socket)));
  }
}

/** Names a connection as long as it is open, before its handshake and after. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function refuse(socket: Socket, { tell }: Guarding): void {
  socket.on('error', () => socket.destroy());
  tell(socket);
  // What it sends is read and dropped: a connection closed with unread bytes is reset, and the refusal lost.
  socket.resume();
  setTimeout(() => socket.destroy(), TELLING_MS).unref();
}
