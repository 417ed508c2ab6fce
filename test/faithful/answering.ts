import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Fault } from './faults.ts';
import type { Moods } from './moods.ts';

/** An answer before it is put on the wire. */
export interface Outgoing {
  readonly status: number;
  readonly body: unknown;
}

const HTML =
  '<!doctype html><html><head><title>Gateway</title></head><body><h1>Something went wrong</h1></body></html>';

/** Sends an answer in the moods of the service: encoding by what the client takes, chunked or with its length. */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body }: Outgoing,
  moods: Moods,
): void {
  const { bytes, encoding } = encoded(JSON.stringify(body), request, moods);
  response.statusCode = status;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  if (encoding) response.setHeader('content-encoding', encoding);
  if (!moods.chunked) {
    response.setHeader('content-length', bytes.length);
    response.end(bytes);
    return;
  }
  const half = Math.floor(bytes.length / 2);
  response.write(bytes.subarray(0, half));
  response.end(bytes.subarray(half));
}

/** Sends what goes wrong in place of an answer; gives the status that was sent, or 0 for none. */
export function sendFault(
  request: IncomingMessage,
  response: ServerResponse,
  { kind }: Fault,
  answer: Outgoing,
): number {
  const text = JSON.stringify(answer.body);
  const half = Math.max(1, Math.floor(text.length / 2));
  switch (kind) {
    case 'html502':
      return whole(response, 502, HTML, 'text/html');
    case 'html200':
      return whole(response, 200, HTML, 'text/html; charset=utf-8');
    case 'empty504':
      return whole(response, 504, '', undefined);
    case 'unavailable503':
      return whole(response, 503, 'Service Unavailable', 'text/plain');
    case 'limited429':
      return whole(response, 429, problem('Rate limit exceeded.'), 'application/json');
    case 'timeout408':
      return whole(response, 408, problem('The request took too long.'), 'application/json');
    case 'error500':
      return whole(response, 500, problem('Unexpected error.'), 'application/json');
    case 'cutBeforeBytes':
      response.socket?.destroy();
      return 0;
    case 'cutInBody':
      return cut(response, answer.status, text.length, Buffer.from(text.slice(0, half)));
    case 'truncatedJson':
      return whole(response, answer.status, text.slice(0, -1 - Math.min(half, 20)), 'application/json');
    case 'truncatedGzip':
      // Only where gzip was asked for; otherwise the plain bytes are cut.
      if (!takes(request, 'gzip')) return cut(response, answer.status, text.length, Buffer.from(text.slice(0, half)));
      return truncatedGzip(response, answer.status, text);
  }
}

function encoded(text: string, request: IncomingMessage, { encoding }: Moods) {
  const bytes = Buffer.from(text);
  if (encoding === 'identity' || !takes(request, encoding)) return { bytes, encoding: undefined };
  if (encoding === 'gzip') return { bytes: gzipSync(bytes, { level: 1 }), encoding };
  return { bytes: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }), encoding };
}

function takes({ headers }: IncomingMessage, encoding: string): boolean {
  return new RegExp(`\\b${encoding}\\b`).test(String(headers['accept-encoding'] ?? ''));
}

function whole(response: ServerResponse, status: number, text: string, type: string | undefined): number {
  response.statusCode = status;
  if (type) response.setHeader('content-type', type);
  response.setHeader('content-length', Buffer.byteLength(text));
  response.end(text);
  return status;
}

/** Promises more bytes than come before the connection is cut. */
function cut(response: ServerResponse, status: number, length: number, bytes: Buffer): number {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', length + bytes.length);
  response.write(bytes, () => response.socket?.destroy());
  return status;
}

function truncatedGzip(response: ServerResponse, status: number, text: string): number {
  const bytes = gzipSync(Buffer.from(text));
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-encoding', 'gzip');
  response.end(bytes.subarray(0, Math.floor(bytes.length / 2)));
  return status;
}

function problem(description: string): string {
  return JSON.stringify({ data: null, warnings: [], errors: [{ description }] });
}
