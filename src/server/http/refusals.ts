import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { API_PREFIX } from '../../catalog/catalog.ts';
import { FAILURES, type Problem, refusal } from '../../catalog/failures.ts';
import { failureText, JSON_TYPE, SECURITY_HEADERS } from './envelope.ts';
import { type AuthContext, identify } from './identity.ts';

/** The mounted routes of an app, to refuse requests that match none. */
export class Routes {
  private readonly methods = new Map<string, Set<string>>();

  /** Collects the routes that are mounted from now on. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      const known = this.methods.get(url) ?? new Set();
      // HEAD comes with GET.
      for (const one of [method].flat()) if (one !== 'HEAD') known.add(one);
      this.methods.set(url, known);
    });
  }

  /** Refuses an unknown route or method; below the API only to those who may use the API at all (D2). */
  async refuseUnknown(auth: AuthContext, request: FastifyRequest, reply: FastifyReply): Promise<never> {
    const path = request.url.split('?')[0] ?? '';
    if (path === API_PREFIX || path.startsWith(`${API_PREFIX}/`)) await identify(auth, request);
    const methods = this.methodsAt(path).join(', ');
    if (methods === '') throw refusal('route.unknown', null, 'There is no such route.');
    reply.header('allow', methods);
    throw refusal('route.method', null, `This route takes ${methods}, not ${request.method}.`);
  }

  private methodsAt(path: string): string[] {
    const segments = path.split('/');
    const found = [...this.methods].filter(([url]) => {
      const pattern = url.split('/');
      return (
        pattern.length === segments.length && pattern.every((part, at) => part.startsWith(':') || part === segments[at])
      );
    });
    return [...new Set(found.flatMap(([, methods]) => [...methods]))];
  }
}

/** Refuses an `Expect` of anything but `100-continue` (RFC 9110, 10.1.1): nothing of the request is read. */
export function refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
  trackExchange(request, response);
  const description = 'The only supported expectation is 100-continue.';
  const body = failureText(417, [{ code: 'request.malformed', source: 'Expect', description }]);
  response.writeHead(417, headersFor(body)).end(body);
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What a connection was asked and has not answered completely, in order, and the latest request in any case. */
const exchanges = new WeakMap<Duplex, readonly Exchange[]>();

/** Connections on which nothing more is read: what arrives after it was found to be no HTTP is reported again and again. */
const refused = new WeakSet<Duplex>();

/** Records which responses a connection waits for; every request of a server passes through it. */
export function trackExchange(request: IncomingMessage, response: ServerResponse): void {
  const open = (exchanges.get(request.socket) ?? []).filter((earlier) => !earlier.response.writableFinished);
  open.push({ request, response });
  exchanges.set(request.socket, open);
}

/** The responses that a connection waits for, in the order in which they are sent. */
export function openResponses(socket: Duplex): ServerResponse[] {
  const responses = (exchanges.get(socket) ?? []).map(({ response }) => response);
  return responses.filter((response) => !response.writableFinished);
}

/** Refuses CONNECT (400), which no parser hands on as a request: nobody tunnels through this server. */
export function refuseConnect(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  refuseUnparsed(new Error('CONNECT'), socket);
}

/** Refuses what never became a request: too slow (408), headers too long (431), or not HTTP at all (400). */
export function refuseUnparsed(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) {
    socket.destroy();
    return;
  }
  if (refused.has(socket)) return;
  refused.add(socket);
  const open = exchanges.get(socket) ?? [];
  const last = open.at(-1);
  // Part of a request, or behind all of them.
  const broken = last?.request.complete === false ? last.response : undefined;
  // What came complete before has its own outcome, which must be sent first: it may have been a write.
  const before = openResponses(socket).filter((each) => each !== broken);
  afterwards(before.at(-1), () => {
    // A request that was answered before its end gets no second answer.
    if (broken?.headersSent) afterwards(broken, () => socket.end());
    else writeRefusal(error, socket);
  });
}

/** Runs something once a response has been sent: those of a connection are sent in order. */
function afterwards(response: ServerResponse | undefined, then: () => void): void {
  if (response === undefined || response.writableFinished) then();
  else response.once('finish', then);
}

function writeRefusal(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable) return;
  const slow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const code = slow ? 'request.timeout' : 'request.malformed';
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : FAILURES[code].status;
  const source = slow ? null : status === 431 ? 'headers' : 'request';
  const description = slow ? 'The request did not arrive in time.' : 'The request could not be parsed.';
  writeAndEnd(socket, status, { code, source, description });
}

/** Tells a connection for which there is no room so, whatever it wants (503), and ends it. */
export function refuseConnection(socket: Duplex): void {
  const description = 'This server has as many connections as it takes. Try again in a moment.';
  writeAndEnd(socket, 503, { code: 'server.unavailable', source: 'connections', description }, { 'retry-after': '1' });
}

/** Writes a refusal to a connection without a request to answer. */
function writeAndEnd(socket: Duplex, status: number, problem: Problem, more: Record<string, string> = {}): void {
  const body = failureText(status, [problem]);
  const headers = Object.entries({ ...headersFor(body), ...more }).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
}

function headersFor(body: string): Record<string, string> {
  return {
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': randomUUID(),
    ...SECURITY_HEADERS,
    connection: 'close',
  };
}
