import { randomUUID } from 'node:crypto';
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Problem } from '../../catalog/failures.ts';
import { failureText, JSON_TYPE, SECURITY_HEADERS } from '../http/envelope.ts';
import type { HandOver } from '../http/handover.ts';
import type { SignIn } from '../signin/signin.ts';
import { connectWriter } from './writerlink.ts';

/** Milliseconds for which a connection to the writer is kept without a request: less than the writer keeps it. */
const IDLE_MS = 30_000;

/** Headers that concern one connection (RFC 9110, 7.6.1), and what this process has answered itself. */
const OF_CONNECTION = new Set(
  'connection keep-alive proxy-connection transfer-encoding te trailer upgrade expect'.split(' '),
);

/** Methods whose requests Node sends without a body unless they have a length. */
const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/**
 * Hands requests on to the writer, whose answers are passed back as they are. Each connection of a caller has one to the
 * writer, which is told once whose it is: nothing in a request can say otherwise.
 */
export class HandOverToWriter implements HandOver {
  /** By HTTP version of the requests, which the writer is told with the connection. */
  private readonly agents = new WeakMap<Socket, Map<string, Agent>>();
  private readonly given = new WeakSet<IncomingMessage>();

  constructor(
    private readonly path: string,
    private readonly signIn: Pick<SignIn, 'certificates'>,
    private readonly isDraining: () => boolean,
  ) {}

  has(request: IncomingMessage): boolean {
    return this.given.has(request);
  }

  give(request: IncomingMessage, response: ServerResponse): void {
    this.given.add(request);
    const { method = '', url, socket } = request;
    const headers = passedOn(request.rawHeaders);
    // A body without a length is sent in chunks as it came; without either there is none, which Node would send in chunks.
    if (request.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
    else if (request.headers['content-length'] === undefined && !BODILESS.has(method))
      headers.push('Content-Length', '0');
    const asked = trySend({ agent: this.agentOf(request), method, path: url, headers: headers as never });
    if (asked === undefined) return void refuse(response, 400, UNSENDABLE);
    asked.once('response', (answer) => {
      // What the writer ends for the sake of its caller ends here, too. Which response is the last one is known here alone.
      if (answer.headers.connection === 'close' && !this.isDraining()) response.setHeader('connection', 'close');
      passBack(answer, response);
    });
    asked.once('error', ({ syscall }: NodeJS.ErrnoException) => {
      if (response.headersSent || response.destroyed) return response.destroy();
      // A write may have been done: like a server that was killed, this one says nothing about it.
      const isSafe = method === 'GET' || method === 'HEAD' || syscall === 'connect';
      return isSafe ? refuse(response, 503, AWAY, { 'retry-after': '1' }) : socket.destroy();
    });
    response.once('close', () => asked.destroy());
    // The rest of a body that was answered before its end is read and dropped: the next request comes behind it.
    asked.once('close', () => request.unpipe(asked).resume());
    request.pipe(asked);
  }

  private agentOf({ socket, httpVersion }: IncomingMessage): Agent {
    const known = this.agents.get(socket) ?? new Map<string, Agent>();
    this.agents.set(socket, known);
    const agent = known.get(httpVersion) ?? this.newAgent(socket, httpVersion);
    known.set(httpVersion, agent);
    return agent;
  }

  private newAgent(socket: Socket, httpVersion: string): Agent {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, timeout: IDLE_MS });
    const caller = {
      address: socket.remoteAddress ?? '',
      port: socket.remotePort ?? 0,
      encrypted: 'encrypted' in socket,
      certificate: this.signIn.certificates?.of(socket),
      httpVersion,
    };
    agent.createConnection = () => connectWriter(this.path, { connection: caller });
    socket.once('close', () => agent.destroy());
    return agent;
  }
}

/** Undefined where Node does not send what it has received: a caller must not end this process. */
function trySend(options: RequestOptions): ClientRequest | undefined {
  try {
    return send(options);
  } catch {
    return undefined;
  }
}

/** Headers as they came, in pairs, without those of the connection. */
function passedOn(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !OF_CONNECTION.has((raw[at - (at % 2)] ?? '').toLowerCase()));
}

function passBack(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 500, answer.statusMessage, passedOn(answer.rawHeaders));
  if (answer.headers['content-length'] === undefined) response.flushHeaders();
  answer.once('error', () => response.destroy());
  answer.pipe(response);
}

/** While there is no writer. */
const AWAY: Problem = {
  code: 'server.unavailable',
  source: null,
  description: 'The server is starting again. Try again in a moment.',
};

const UNSENDABLE: Problem = { code: 'request.malformed', source: null, description: 'The request is not valid HTTP.' };

function refuse(
  response: ServerResponse,
  status: number,
  problem: Problem,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = failureText(status, [problem]);
  response.writeHead(status, {
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    'x-request-id': randomUUID(),
    ...SECURITY_HEADERS,
    ...headers,
  });
  response.end(body);
}
