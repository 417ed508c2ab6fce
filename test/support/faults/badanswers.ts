import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Fault } from './faultplan.ts';

/** An answer of the service, whole. */
export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const GARBAGE = ['<!doctype html><title>Please sign in</title>', '{"data":[{"id":', 'null', '[]', '\u0000\u0001', '{}'];

/** Sends an answer of the service on with what the fault does to it. */
export async function playAnswer(fault: Fault, answered: Answered, outgoing: ServerResponse): Promise<void> {
  const { body } = answered;
  const part = body.subarray(0, Math.floor(fault.part * body.length));
  switch (fault.kind) {
    case 'reset-after':
      return reset(outgoing);
    case 'reset-in-head':
      return reset(outgoing, headText(answered).subarray(0, 12));
    case 'reset-in-body':
      return reset(outgoing, headText(answered, { 'content-length': body.length }), part);
    case 'reset-after-body':
      return reset(outgoing, headText(answered, CHUNKED), chunk(body));
    case 'cut':
      return end(outgoing, headText(answered, { 'content-length': body.length }), part);
    case 'cut-in-chunks':
      return end(outgoing, headText(answered, CHUNKED), chunk(part));
    case 'more-than-announced':
      return end(outgoing, headText(answered, { 'content-length': body.length, connection: 'close' }), body, body);
    case 'cut-to-fit':
      return send(outgoing, answered, part);
    case 'duplicated':
      return send(outgoing, answered, Buffer.concat([body, body]));
    case 'empty':
      return send(outgoing, { ...answered, status: 200 }, Buffer.alloc(0));
    case 'garbage':
      return send(
        outgoing,
        { ...answered, status: 200 },
        Buffer.from(GARBAGE[Math.floor(fault.part * GARBAGE.length)] ?? ''),
      );
    case 'failed-after':
      return refuse(outgoing, fault);
    default:
      return send(outgoing, answered, body);
  }
}

/** Answers with the fault's status without anything of the service. */
export function refuse(outgoing: ServerResponse, { status, retryAfter, html }: Fault): void {
  const error = { code: 'proxy.fault', title: 'Fault', description: 'Made by the fault proxy.', source: null };
  const text = html
    ? `<html><body><h1>${status}</h1></body></html>`
    : JSON.stringify({ statusCode: status, data: null, warnings: [], errors: [error] });
  outgoing.writeHead(status, {
    'content-type': html ? 'text/html' : 'application/json',
    ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
  });
  outgoing.end(text);
}

function send(outgoing: ServerResponse, { status, headers }: Answered, body: Buffer): void {
  const { connection: _, 'transfer-encoding': __, ...kept } = headers;
  outgoing.writeHead(status, { ...kept, 'content-length': body.length });
  outgoing.end(body);
}

const CHUNKED = { 'transfer-encoding': 'chunked' };

function headText({ status, headers }: Answered, own: Readonly<Record<string, string | number>> = {}): Buffer {
  const { connection: _, 'content-length': __, 'transfer-encoding': ___, ...kept } = headers;
  const lines = Object.entries({ ...kept, ...own }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} Answer\r\n${lines.join('')}\r\n`);
}

/** A chunk of the chunked encoding; the empty one that would end the body never follows. */
function chunk(bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

async function reset({ socket }: ServerResponse, ...bytes: readonly Buffer[]): Promise<void> {
  // The reset must not overtake what was written before.
  if (bytes.length > 0) await new Promise((done) => (socket ? socket.write(Buffer.concat(bytes), done) : done(null)));
  await new Promise((done) => setImmediate(done));
  socket?.resetAndDestroy();
}

function end({ socket }: ServerResponse, ...bytes: readonly Buffer[]): void {
  socket?.end(Buffer.concat(bytes));
}
