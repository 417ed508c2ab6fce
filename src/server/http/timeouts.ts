import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { FAILURES } from '../../catalog/failures.ts';
import { failureText } from './envelope.ts';
import { SECURITY_HEADERS } from './securityheaders.ts';

/** Milliseconds; every one is set, since the framework's own defaults are "never" (D43). */
export interface Timeouts {
  /** Whole request, upload of the body included, and the work on it. */
  readonly requestMs: number;
}

export function timeoutOptions({ requestMs }: Timeouts) {
  return {
    requestTimeout: requestMs,
    handlerTimeout: requestMs,
    // An idle socket may sit a little longer than a request may take.
    connectionTimeout: requestMs + 5_000,
    keepAliveTimeout: 72_000,
  };
}

/** What only the HTTP server itself takes: how often it looks for requests that are late, 30 s by default. */
export function serverTimeouts({ requestMs }: Timeouts) {
  return { headersTimeout: requestMs, connectionsCheckingInterval: Math.min(requestMs, 1_000) };
}

/** Answers what never became a request: too slow (408), too long a header (431), or no HTTP at all (400). */
export function answerTimeouts(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const slow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const code = slow ? 'request.timeout' : 'request.malformed';
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : FAILURES[code].status;
  const description = slow ? 'The request did not arrive in time.' : 'This is not a request that can be read.';
  const body = failureText(status, [{ code, source: null, description }]);
  const head = `HTTP/1.1 ${status} ${slow ? 'Request Timeout' : 'Bad Request'}`;
  const headers = [
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${randomUUID()}`,
    ...Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ].join('\r\n');
  socket.end(`${head}\r\n${headers}\r\n\r\n${body}`);
}
