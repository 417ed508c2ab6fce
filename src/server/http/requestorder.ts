import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of a connection that have arrived behind one that is not answered. */
const waiting = new WeakMap<Socket, (() => void)[]>();

/**
 * How many may wait before no more is read from the connection until they are served: a stream that they wait for may never
 * end. Then it is not noticed either when the other side closes.
 */
const MAX_WAITING = 32;

/**
 * Serves the requests of a connection one after another: each begins when the system has taken the response before it.
 * Whoever sends many at once and reads nothing occupies one response, and what follows a response that ends the connection
 * is never done.
 */
export function serveInOrder(server: Server): void {
  const listeners = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const { socket } = request;
    const serve = () => {
      response.once('finish', () => next(socket));
      for (const listener of listeners) listener.call(server, request, response);
    };
    // Node gives the connection to one response at a time.
    if (response.socket !== null) return serve();
    const behind = waiting.get(socket);
    if (behind === undefined) waiting.set(socket, [serve]);
    else behind.push(serve);
    // Not at once: the parser reads on after each request.
    if ((behind?.length ?? 0) > MAX_WAITING) setImmediate(() => waiting.get(socket)?.length && socket.pause());
  });
}

function next(socket: Socket): void {
  if (!socket.writable) return;
  const behind = waiting.get(socket);
  behind?.shift()?.();
  if (behind?.length === 0) socket.resume();
}
