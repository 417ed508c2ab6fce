import type { FastifyInstance, FastifyReply } from 'fastify';

/** Milliseconds; every timeout is set, since the framework's own defaults are "never" (D43). */
export interface Timeouts {
  /** A complete request, upload of the body included, and the work on it (`limitWork`). */
  readonly requestMs: number;
}

/** Milliseconds in which the headers of a request arrive, and before it the handshake of TLS (contract §8). */
const HEADERS_MS = 10_000;

/** Milliseconds that a connection may stay open without a request (contract §8). */
const IDLE_MS = 65_000;

/** Timeouts that the framework takes. */
export function frameworkTimeouts({ requestMs }: Timeouts) {
  return {
    requestTimeout: requestMs,
    keepAliveTimeout: IDLE_MS,
  };
}

/** Timeouts that only the HTTP server takes: how often it looks for late requests, by default every 30 s. */
export function serverTimeouts({ requestMs }: Timeouts) {
  return {
    headersTimeout: Math.min(requestMs, HEADERS_MS),
    handshakeTimeout: HEADERS_MS,
    connectionsCheckingInterval: Math.min(requestMs, 1_000),
  };
}

/** The work on a request took too long. */
export class WorkTimeout extends Error {
  readonly code = 'WORK_TIMEOUT';

  constructor() {
    super('The work on a request took too long.');
  }
}

/**
 * Limits the work on each request of an app, the arrival of its body included. All have the same limit, so they expire in
 * the order in which they arrived and share one timer: a timer each would cost a request more than its look-up.
 */
export function limitWork(app: FastifyInstance, milliseconds: number): void {
  /** Requests in progress, and when they expire. */
  const open = new Map<FastifyReply, number>();
  let scheduled = false;
  const schedule = (delay: number) => {
    scheduled = true;
    setTimeout(expire, delay).unref();
  };
  const expire = () => {
    scheduled = false;
    for (const [reply, expiry] of open) {
      const left = expiry - performance.now();
      if (left > 0) return schedule(Math.ceil(left));
      open.delete(reply);
      refuseLate(reply);
    }
  };
  app.addHook('onRequest', (_request, reply, done) => {
    open.set(reply, performance.now() + milliseconds);
    if (!scheduled) schedule(milliseconds);
    reply.raw.on('close', () => open.delete(reply));
    done();
  });
}

function refuseLate(reply: FastifyReply): void {
  // What a complete request asks for may be committed at this moment: it is answered when the outcome is known.
  if (reply.sent || reply.request.raw.closed) return;
  // Part of the response is on its way: nothing can be sent in its place.
  if (reply.raw.headersSent) reply.raw.destroy(new WorkTimeout());
  else reply.send(new WorkTimeout());
}
