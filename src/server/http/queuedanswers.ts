import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Answers of a connection that wait behind another one. */
const queued = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Closes answers that wait behind another one when their connection ends: Node tells that to the first one alone, and
 * whatever counts or holds the others would do so for ever. Every request of a server passes through it.
 */
export function closeQueued({ socket }: IncomingMessage, response: ServerResponse): void {
  if (response.socket !== null) return;
  const waiting = queued.get(socket) ?? waitingOn(socket);
  waiting.add(response);
  response.once('close', () => waiting.delete(response));
}

function waitingOn(socket: Socket): Set<ServerResponse> {
  const waiting = new Set<ServerResponse>();
  queued.set(socket, waiting);
  socket.once('close', () => {
    for (const response of waiting) if (response.socket === null) response.emit('close');
  });
  return waiting;
}
