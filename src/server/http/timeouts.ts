import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { FAILURES } from '../../catalog/failures.ts';
import { failureText } from './envelope.ts';
import { SECURITY_HEADERS } from './securityheaders.ts';

/** Milliseconds; every one is set, since the framework's own defaults are "never" (D43). */
export interface Timeouts {
  /** Whole request, upload of the body included, and the work on it (`limitWork`). */
  readonly requestMs: number;
}

export function timeoutOptions({ requestMs }: Timeouts) {
  return {
    requestTimeout: requestMs,
    // An idle socket may sit a little longer than a request may take.
    connectionTimeout: requestMs + 5_000,
    keepAliveTimeout: 72_000,
  };
}

/** What only the HTTP server itself takes: how often it looks for requests that are late, 30 s by default. */
export function serverTimeouts({ requestMs }: Timeouts) {
  return {
    headersTimeout: requestMs,
    connectionsCheckingInterval: Math.min(requestMs, 1_000),
    // Refused by the app, in the envelope; the HTTP server would answer nothing but the status.
    requireHostHeader: false,
  };
}

/** Whether a request of HTTP/1.1 lacks the header that it must have (RFC 9112, 3.2). */
export function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion === '1.1';
}

/** Answers an `Expect` of anything but `100-continue` (RFC 9110, 10.1.1): nothing of the request is read. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const description = 'The only expectation that is met is 100-continue.';
  const body = failureText(417, [{ code: 'request.malformed', source: 'Expect', description }]);
  response.writeHead(417, { ...headersFor(body), connection: 'close' }).end(body);
}

/** The latest request of a connection and its answer. */
const exchanges = new WeakMap<Socket, { readonly request: IncomingMessage; readonly response: ServerResponse }>();

/** Remembers which answer a connection waits for; every request of a server goes through it. */
export function noteExchange(request: IncomingMessage, response: ServerResponse): void {
  exchanges.set(request.socket, { request, response });
}

/** Answers what never became a request: too slow (408), too long a header (431), or no HTTP at all (400). */
export function answerTimeouts(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const earlier = exchanges.get(socket);
  if (earlier?.request.complete && !earlier.response.writableEnded) {
    // What a whole request did must be told before the garbage behind it is refused: it may have been a write.
    earlier.response.once('finish', () => answerUnread(error, socket));
    return;
  }
  answerUnread(error, socket);
}

function answerUnread(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) return;
  const slow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const code = slow ? 'request.timeout' : 'request.malformed';
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : FAILURES[code].status;
  const source = slow ? null : status === 431 ? 'headers' : 'request';
  const description = slow ? 'The request did not arrive in time.' : 'This is not a request that can be read.';
  const body = failureText(status, [{ code, source, description }]);
  const headers = Object.entries({ ...headersFor(body), connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
}

function headersFor(body: string): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': randomUUID(),
    ...SECURITY_HEADERS,
  };
}
