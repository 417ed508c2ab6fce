import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server as TlsServer } from 'node:tls';
import { openResponses } from './refusals.ts';

/** Milliseconds between two looks at which connections have become idle. */
const LOOK_MS = 50;

/**
 * How a server takes leave of its callers. From `begin` on it is not ready, and every response ends its connection: the
 * next request comes on a new one, which a proxy opens to another server.
 */
export class Draining {
  hasBegun = false;
  private readonly sockets = new Set<Socket>();

  constructor(private readonly server: Server) {
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    for (const socket of this.sockets) {
      const last = openResponses(socket).at(-1);
      if (last?.headersSent === false) last.setHeader('connection', 'close');
    }
    this.server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      // Of several responses on a connection only the last one may end it.
      for (const earlier of openResponses(socket)) if (!earlier.headersSent) earlier.removeHeader('connection');
      response.setHeader('connection', 'close');
    });
  }

  /** Resolves when no connection is open. */
  async emptied(): Promise<void> {
    while (this.sockets.size > 0) await sleep(LOOK_MS);
  }

  /**
   * Closes connections on which nobody waits for a response, now and as they become so, until the server has closed: Node
   * itself leaves those open that became idle after its `close`, and those that never had a request.
   */
  closeIdle(): void {
    const looking = setInterval(() => {
      this.server.closeIdleConnections();
      for (const socket of this.sockets) if (socket.bytesRead === 0) socket.destroy();
    }, LOOK_MS);
    this.server.once('close', () => clearInterval(looking));
  }
}
