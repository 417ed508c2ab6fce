import type { IncomingMessage } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { removeFile } from '../../filesystem/durable.ts';
import { nowOf } from '../clock.ts';
import type { App } from '../http/app.ts';
import type { Service } from '../service.ts';
import type { Presented } from '../signin/certificates.ts';
import type { SignIn } from '../signin/signin.ts';
import type { LogRow } from '../store/store.ts';
import { saveUses, type Uses } from '../tokens/uses.ts';
import { Link, linePort } from './link.ts';
import type { Caller, Introduction } from './writerlink.ts';

/** The side of the writer: what readers ask of it, and the connections that they hand on. */
export class Readers {
  private readonly server: Server;
  private readonly links = new Set<Socket>();
  /** HTTP versions in which the requests of connections came, by connection that was handed on. */
  private readonly handedOn = new WeakMap<Socket, string>();

  constructor(
    private readonly app: App,
    private readonly service: Service,
    private readonly signIn: Pick<SignIn, 'certificates'>,
  ) {
    this.server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => socket.destroy());
      readLine(socket, (line) => this.meet(socket, JSON.parse(line) as Introduction));
    });
    app.server.prependListener('request', (request: IncomingMessage) => {
      request.httpVersion = this.handedOn.get(request.socket) ?? request.httpVersion;
    });
  }

  /** Whether a connection was accepted, and is counted, by a reader. */
  has(socket: Socket): boolean {
    return this.handedOn.has(socket);
  }

  async listen(path: string): Promise<void> {
    // Of a writer that was killed.
    await removeFile(path);
    await new Promise<void>((resolve, reject) => this.server.once('error', reject).listen(path, resolve));
  }

  /** Resolves when all readers have ended. */
  async close(): Promise<void> {
    await Promise.all([...this.links].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    this.server.close();
  }

  private meet(socket: Socket, introduction: Introduction): void {
    if ('link' in introduction) this.answer(socket);
    else this.serve(socket, introduction.connection);
  }

  private answer(socket: Socket): void {
    const { app, service } = this;
    this.links.add(socket);
    socket.once('close', () => this.links.delete(socket));
    socket.once('end', () => socket.end());
    new Link(linePort(socket))
      .on('append', (rows: LogRow[]) => service.reads.record(rows, nowOf(service)))
      .on('uses', (uses: Uses) => saveUses(service.store, uses))
      .on('rate', (caller: string) => app.limit.takeShare?.(caller));
  }

  private serve(socket: Socket, { address, port, encrypted, certificate, httpVersion }: Caller): void {
    for (const [name, value] of Object.entries({ remoteAddress: address, remotePort: port, encrypted })) {
      Object.defineProperty(socket, name, { value });
    }
    this.handedOn.set(socket, httpVersion);
    const { server } = this.app;
    // Behind the handshake, which is done.
    server.emit(server instanceof TlsServer ? 'secureConnection' : 'connection', socket);
    if (certificate !== undefined) this.signIn.certificates?.accept(socket, certificate as Presented);
  }
}

/** Reads the first line of a connection; what comes behind it is left to whoever reads next. */
function readLine(socket: Socket, read: (line: string) => void): void {
  let begun = Buffer.alloc(0);
  const take = (chunk: Buffer) => {
    begun = Buffer.concat([begun, chunk]);
    const end = begun.indexOf('\n');
    if (end < 0) return;
    socket.off('data', take);
    socket.pause();
    if (begun.length > end + 1) socket.unshift(begun.subarray(end + 1));
    read(begun.toString('utf8', 0, end));
    process.nextTick(() => socket.resume());
  };
  socket.on('data', take);
}
