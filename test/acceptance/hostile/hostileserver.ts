import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net';

/** What a case answers to a request; `url` has the path behind the name of the case, `/api/v1/patients`. */
export type Answering = (asked: Asked, response: ServerResponse) => unknown;

/** A request as it came. */
export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly socket: Socket;
  /** How many requests of the case came before this one. */
  readonly turn: number;
}

/** A server that answers each case in its own way: the first part of a path names the case, so that cases run at the same time. */
export class HostileServer {
  private readonly cases = new Map<string, Answering>();
  private readonly asked = new Map<string, Asked[]>();
  private readonly server = createServer((request, response) => this.answer(request, response));

  async listen(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Takes a case in and gives its address, for `MOLAR_URL`. */
  open(answering: Answering): string {
    const name = `case-${this.cases.size + 1}`;
    this.cases.set(name, answering);
    return `${this.origin}/${name}`;
  }

  /** What was asked at an address that `open` gave. */
  requestsTo(address: string): readonly Asked[] {
    return this.asked.get(address.slice(this.origin.length + 1)) ?? [];
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const whole = new URL(request.url ?? '/', this.origin);
    const [, name = '', ...rest] = whole.pathname.split('/');
    const before = this.asked.get(name) ?? [];
    const url = new URL(`/${rest.join('/')}${whole.search}`, this.origin);
    const { method = 'GET', headers, socket } = request;
    const asked = { method, url, headers, socket, turn: before.length };
    this.asked.set(name, [...before, asked]);
    // A client that gives up is what many cases are about.
    socket.on('error', () => undefined);
    request.resume();
    this.cases.get(name)?.(asked, response);
  }
}

const TYPE = { 'content-type': 'application/json' };

/** Answers with the bytes of a body as they are. */
export function body(bytes: string | Buffer, headers: Readonly<Record<string, string | string[]>> = {}, status = 200) {
  return (_: Asked, response: ServerResponse) => void response.writeHead(status, { ...TYPE, ...headers }).end(bytes);
}

/** Answers with an envelope around `data`. */
export function data(value: unknown): Answering {
  return body(JSON.stringify({ data: value, warnings: [], errors: [] }));
}

/** Answers with these pages in turn, each a list of records; with an empty one behind the last. */
export function pages(...lists: readonly (readonly unknown[])[]): Answering {
  return (asked, response) => data(lists[asked.turn] ?? [])(asked, response);
}

/** Writes bytes to the connection, past everything that makes an answer valid. */
export function raw(...parts: readonly (string | Buffer)[]): Answering {
  return ({ socket }) => {
    for (const part of parts) socket.write(part);
  };
}

/** As `raw`, and cuts the connection when all of it is on its way. */
export function rawThenReset(...parts: readonly (string | Buffer)[]): Answering {
  return ({ socket }) =>
    void socket.write(Buffer.concat(parts.map((part) => Buffer.from(part))), () => socket.resetAndDestroy());
}

/** Repeats a piece of a body for as long as somebody takes it. */
export function endless(
  start: string,
  piece: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Answering {
  return (_, response) => {
    response.writeHead(200, { ...TYPE, ...headers });
    response.write(start);
    const more = () => {
      while (response.writable && response.write(piece));
      if (response.writable) response.once('drain', more);
    };
    more();
  };
}

/** As `raw`, and ends the connection in good order. */
export function rawThenEnd(...parts: readonly string[]): Answering {
  return ({ socket }) => void socket.end(parts.join(''));
}

/** Takes connections, and never says a word on them. */
export async function muteServer(connected: () => void): Promise<Server> {
  const server = createSocketServer((socket) => {
    socket.on('error', () => undefined);
    connected();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return server;
}
