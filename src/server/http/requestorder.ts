import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of a connection that have arrived behind one that is not answered. */
const waiting = new WeakMap<Socket, (() => void)[]>();

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
  });
}

function next(socket: Socket): void {
  if (socket.writable) waiting.get(socket)?.shift()?.();
}
